"""The in-process transport: genuine clients, no network.

The OpenAI client speaks HTTP through `httpx2` (its older versions through `httpx`), and both take a
transport of one's own. Nothing is patched: another client in the same process still reaches the world.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

from .wire import HttpRequest, HttpResponse

BASE_URL = "https://mock-llm.invalid/v1"  # a name that never resolves: were the transport lost, the call would fail
API_KEY = "mock-llm-needs-no-key"

Handle = Callable[[HttpRequest], HttpResponse]


def http_library() -> Any:
    """The HTTP library that the installed OpenAI client runs on: httpx2, or httpx before version 3."""
    try:
        return importlib.import_module("httpx2")
    except ModuleNotFoundError:
        return importlib.import_module("httpx")


def transport(handle: Handle, library: Any = None) -> Any:
    """A transport for sync and async clients of httpx2, or of the library given (`httpx`).

    Args:
        handle: from request to response; called on the caller's thread.
        library: the module `httpx2` or `httpx`; by default the one that the OpenAI client uses.
    """
    http = library or http_library()

    def carry(request: Any) -> Any:
        asked = HttpRequest(request.method, request.url.path, dict(request.headers), request.content)
        said = handle(asked)
        patience = (request.extensions.get("timeout") or {}).get("read")
        if said.late > (math.inf if patience is None else patience) or said.late == math.inf:
            raise http.ReadTimeout("the answer did not come in time (a scripted fault; nobody waited)", request=request)
        if said.ending == "refused":
            raise http.ConnectError("the connection was refused (a scripted fault)", request=request)
        headers = dict(said.headers)
        if said.ending == "whole":
            headers["content-length"] = str(sum(map(len, said.pieces)))
        return http.Response(said.status, headers=headers, stream=_stream(http, said, request), request=request)

    return http.MockTransport(carry)


def _stream(http: Any, said: HttpResponse, request: Any) -> Any:
    """The body piece by piece, for sync and async clients; a dropped one fails after the last piece."""

    def check() -> None:
        if said.ending == "dropped":
            text = "peer closed connection without sending complete message body (a scripted fault)"
            raise http.RemoteProtocolError(text, request=request)

    class Pieces(http.SyncByteStream, http.AsyncByteStream):  # type: ignore[misc]
        def __iter__(self) -> Iterator[bytes]:
            yield from said.pieces
            check()

        async def __aiter__(self) -> AsyncIterator[bytes]:
            for piece in said.pieces:
                yield piece
            check()

    return Pieces()


def client(handle: Handle, kind: str, http_kind: str, options: dict[str, Any]) -> Any:
    """A genuine client of the openai package over the transport.

    Args:
        kind: "OpenAI" or "AsyncOpenAI".
        http_kind: "Client" or "AsyncClient", to go with it.
        options: passed on to the client (`max_retries`, `timeout`, …).

    Raises:
        TypeError: `http_client` is among the options; it is what makes the client a scripted one.
    """
    if "http_client" in options:
        raise TypeError("client() brings its own http_client; for another one use llm.transport(httpx)")
    http = http_library()
    http_client = getattr(http, http_kind)(transport=transport(handle, http), trust_env=False)
    openai = importlib.import_module("openai")
    return getattr(openai, kind)(**{"api_key": API_KEY, "base_url": BASE_URL, **options, "http_client": http_client})
