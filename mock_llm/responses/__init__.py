"""The Responses API: another dialect for the same conversation.

A request for a response is read as a request for a chat completion (`reading`), so that scenes need not know
which of the two was used; `police` refuses what the API refuses, `wire` and `events` say the answer, and
`memory` keeps it for requests that refer to it.
"""

from .events import answered, error_event
from .memory import Memory
from .police import police
from .reading import read

__all__ = ["Memory", "answered", "error_event", "police", "read"]
