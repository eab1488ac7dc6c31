"""HTTP as values, so that the whole mock is one function from a request to a response, over any transport."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """An HTTP request, as any transport or server passes it on; header names are in lower case."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """An HTTP response, for any transport or server to send.

    Args:
        chunks: the body, in the chunks in which a stream sends it.
        ending: "whole"; "dropped": the connection is lost after the chunks; "refused": nothing comes at all.
        delay: seconds until the first byte would come. Nobody waits, but a client whose own limit is
            shorter sees its timeout.
    """

    status: int
    headers: dict[str, str]
    chunks: tuple[bytes, ...]
    ending: Literal["whole", "dropped", "refused"] = "whole"
    delay: float = 0.0

    @property
    def body(self) -> bytes:
        """All chunks together."""
        return b"".join(self.chunks)
