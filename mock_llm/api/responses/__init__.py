"""The Responses API: a second format for the same conversation.

`conversion` reads its requests as chat completion requests, so scenes work with both endpoints. `validation` refuses
requests as the API does, `response` and `events` write the answer, and `store` saves it for later requests that refer
to it. `conversations` keeps conversations.
"""

from .conversion import read, without_reasoning
from .events import error_events, http_response
from .store import ResponseStore
from .token_count import token_count
from .validation import validate

__all__ = ["ResponseStore", "error_events", "http_response", "read", "token_count", "validate", "without_reasoning"]
