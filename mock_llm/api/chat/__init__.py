"""Chat completions: `validation` refuses what the real API refuses, `completion` writes the answer, plain or streamed."""

from .completion import error_event, http_response
from .validation import validate

__all__ = ["error_event", "http_response", "validate"]
