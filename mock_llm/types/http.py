"""HTTP messages as values, so that the whole mock is a function from request to response that works with any
transport.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """An HTTP request from any transport or server; header names are lower case, and `query` follows `?` in the address."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    query: str = ""


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """An HTTP response for any transport or server.

    Args:
        chunks: the body, in the chunks that a stream sends.
        ending: "whole"; "dropped": the connection is lost after the chunks; "refused": nothing is sent.
        delay: the reported seconds until the first byte. No time passes, but a client with a shorter timeout gets a
            timeout error.
        whole: the number of chunks that the stream had before a fault.
    """

    status: int
    headers: dict[str, str]
    chunks: tuple[bytes, ...]
    ending: Literal["whole", "dropped", "refused"] = "whole"
    delay: float = 0.0
    whole: int = 1

    @property
    def body(self) -> bytes:
        """All chunks together."""
        return b"".join(self.chunks)
