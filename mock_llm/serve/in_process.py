"""The in-process transport: genuine clients without a network.

The OpenAI client uses `httpx2` for HTTP (older versions use `httpx`), and both accept a custom transport. Nothing is
patched: other clients in the same process still reach the network.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

from mock_llm.types import HttpRequest, HttpResponse

BASE_URL = "https://mock-llm.invalid/v1"  # a host name that never resolves, so that a call without the transport fails
API_KEY = "mock-llm-needs-no-key"

Handle = Callable[[HttpRequest], HttpResponse]


def http_library() -> Any:
    """Return the HTTP library of the installed OpenAI client: httpx2, or httpx before version 3."""
    try:
        return importlib.import_module("httpx2")
    except ModuleNotFoundError:
        return importlib.import_module("httpx")


def transport(handle: Handle, library: Any = None) -> Any:
    """Return a transport for sync and async clients of httpx2, or of the given library (`httpx`).

    Args:
        handle: a function from request to response, called on the caller's thread.
        library: the module `httpx2` or `httpx`; by default the one that the OpenAI client uses.
    """
    http = library or http_library()

    def carry(request: Any) -> Any:
        response = handle(HttpRequest(request.method, request.url.path, dict(request.headers), request.content))
        read_timeout = (request.extensions.get("timeout") or {}).get("read")
        if response.delay > (math.inf if read_timeout is None else read_timeout) or response.delay == math.inf:
            raise http.ReadTimeout("the answer timed out (a scripted fault; no time passed)", request=request)
        if response.ending == "refused":
            raise http.ConnectError("the connection was refused (a scripted fault)", request=request)
        headers = dict(response.headers)
        # Only a complete body states its length, because a dropped one ends early.
        if response.ending == "whole":
            headers["content-length"] = str(sum(map(len, response.chunks)))
        return http.Response(response.status, headers=headers, stream=_stream(http, response, request), request=request)

    return http.MockTransport(carry)


def _stream(http: Any, response: HttpResponse, request: Any) -> Any:
    """Return the body chunk by chunk, for sync and async clients. A dropped body fails after the last chunk."""

    def check() -> None:
        if response.ending == "dropped":
            text = "peer closed connection without sending complete message body (a scripted fault)"
            raise http.RemoteProtocolError(text, request=request)

    class Body(http.SyncByteStream, http.AsyncByteStream):  # type: ignore[misc]
        def __iter__(self) -> Iterator[bytes]:
            yield from response.chunks
            check()

        async def __aiter__(self) -> AsyncIterator[bytes]:
            for chunk in response.chunks:
                yield chunk
            check()

    return Body()


def client(handle: Handle, package: str, kind: str, options: dict[str, Any]) -> Any:
    """Return a genuine client of a package that uses the transport.

    Args:
        package: "openai" or "anthropic".
        kind: its class, such as "OpenAI" or "AsyncOpenAI".
        options: the client's options (`max_retries`, `timeout`, …).

    Raises:
        TypeError: the options contain `http_client`, which is needed to connect the client to the script.
    """
    if "http_client" in options:
        raise TypeError("client() creates the http_client itself; to use your own client, give it llm.transport(httpx)")
    http = http_library()
    http_kind = http.AsyncClient if kind.startswith("Async") else http.Client
    base_url = BASE_URL if package == "openai" else BASE_URL.removesuffix("/v1")  # the anthropic client adds it itself
    options = {"api_key": API_KEY, "base_url": base_url, **options}
    http_client = http_kind(transport=transport(handle, http), trust_env=False)
    return getattr(importlib.import_module(package), kind)(**options, http_client=http_client)
