"""The Responses API: another dialect for the same conversation.

A request for a response is read as a request for a chat completion (`conversion`), so that scenes need not know
which of the two was used; `validation` refuses what the API refuses, `response` and `events` write the answer, and
`store` keeps it for requests that refer to it.
"""

from .conversion import read
from .events import error_event, http_response
from .store import ResponseStore
from .token_count import token_count
from .validation import validate

__all__ = ["ResponseStore", "error_event", "http_response", "read", "token_count", "validate"]
