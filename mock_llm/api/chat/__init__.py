"""Chat completions: `validation` refuses requests as the real API does, and `completion` writes plain or streamed
answers.
"""

from .completion import error_events, http_response
from .validation import validate

__all__ = ["error_events", "http_response", "validate"]
