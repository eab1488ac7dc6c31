"""The in-process transport: genuine clients without a network.

The OpenAI client uses `httpx2` for HTTP (older versions use `httpx`), and both accept a custom transport. Nothing is
patched: other clients in the same process still reach the network.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import math
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

from mock_llm.types import HttpRequest, HttpResponse

BASE_URL = "https://mock-llm.invalid/v1"  # a host name that never resolves, so that a call without the transport fails
API_KEY = "mock-llm-needs-no-key"
LONGEST_DEADLINE = 1.0  # seconds

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
    return _transport(handle, library or http_library())


def _transport(handle: Handle, http: Any) -> Any:
    def answer(request: Any) -> HttpResponse:
        url = request.url
        return handle(HttpRequest(request.method, url.path, dict(request.headers), request.content, url.query.decode()))

    def deliver(request: Any, response: HttpResponse) -> Any:
        if _times_out(request, response):
            raise http.ReadTimeout("the answer timed out (a scripted fault; no time passed)", request=request)
        if response.ending == "refused":
            raise http.ConnectError("the connection was refused (a scripted fault)", request=request)
        headers = dict(response.headers)
        # Only a complete body states its length, because a dropped one ends early.
        if response.ending == "whole":
            headers["content-length"] = str(sum(map(len, response.chunks)))
        return http.Response(response.status, headers=headers, stream=_stream(http, response, request), request=request)

    class Transport(http.BaseTransport, http.AsyncBaseTransport):  # type: ignore[misc]
        def handle_request(self, request: Any) -> Any:
            request.read()
            return deliver(request, answer(request))

        async def handle_async_request(self, request: Any) -> Any:
            await request.aread()
            response = answer(request)
            if _times_out(request, response):
                await _wait_for_earlier_deadline(_read_timeout(request))
            return deliver(request, response)

    return Transport()


def _read_timeout(request: Any) -> float:
    """Return the client's timeout in seconds."""
    seconds = (request.extensions.get("timeout") or {}).get("read")
    return math.inf if seconds is None else float(seconds)


def _times_out(request: Any, response: HttpResponse) -> bool:
    return response.delay > _read_timeout(request) or response.delay == math.inf


async def _wait_for_earlier_deadline(timeout: float) -> None:
    """Wait until a short deadline of the caller (`asyncio.timeout`, `asyncio.wait_for`) has passed, if it is earlier
    than the client's timeout. Without such a deadline, return at once.
    """
    # A real client with a timeout of ten minutes would still wait when `asyncio.timeout(0.2)` ends the call. asyncio has
    # no public list of deadlines; a loop without this attribute (uvloop) gets the client's timeout.
    with contextlib.suppress(RuntimeError):  # trio
        loop = asyncio.get_running_loop()
        latest = loop.time() + min(timeout, LONGEST_DEADLINE)
        timers = [timer for timer in getattr(loop, "_scheduled", ()) if not timer.cancelled() and timer.when() < latest]
        if timers:
            await asyncio.sleep(max(timer.when() for timer in timers) - loop.time() + 0.01)


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
