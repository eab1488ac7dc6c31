"""Intercepts clients that other code creates: their requests to OpenAI and Anthropic are answered here and never leave the process.

This is for tests. Only the target of a request matters, not the client's settings (a key, or a base URL from before the
test). Requests to other hosts pass through.
"""

from __future__ import annotations

import contextlib
import importlib
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

from .in_process import BASE_URL, Handle, http_library, transport

PROVIDERS = re.compile(r"([a-z]{2}\.)?api\.openai\.com|api\.anthropic\.com")  # eu.api.openai.com has a region


@contextlib.contextmanager
def intercepted(handle: Handle, *base_urls: str) -> Iterator[None]:
    """Inside the block, answer every request of httpx2 and httpx to OpenAI's and Anthropic's APIs, to `BASE_URL`, and to
    these addresses.

    Args:
        handle: a function from request to response, called on the caller's thread.
        base_urls: further addresses, such as that of a server.
    """
    hosts = {base_url.split("/")[2].encode() for base_url in (BASE_URL, *base_urls)}

    def is_caught(url: Any) -> bool:
        return url.netloc in hosts or PROVIDERS.fullmatch(url.host) is not None

    def patched(here: Callable[[Any], Any], there: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        # Works for sync and async transports: a coroutine is returned unchanged.
        return lambda own, request: here(request) if is_caught(request.url) else there(own, request)

    with contextlib.ExitStack() as changes:
        for library in _libraries():
            here = transport(handle, library)
            for kind, name in (("HTTPTransport", "handle_request"), ("AsyncHTTPTransport", "handle_async_request")):
                there = getattr(library, kind)
                method = patched(getattr(here, name), getattr(there, name))
                changes.enter_context(mock.patch.object(there, name, method))
        yield


def _libraries() -> list[Any]:
    """Return the HTTP libraries that clients in this process could use: OpenAI's own, and httpx if it is loaded."""
    libraries = [sys.modules[name] for name in ("httpx2", "httpx") if name in sys.modules]
    with contextlib.suppress(ModuleNotFoundError):
        importlib.import_module("openai")
        libraries.append(http_library())
    return list({id(library): library for library in libraries}.values())
