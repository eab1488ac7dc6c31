"""Clients that somebody else has made: their requests to OpenAI are answered here, and never leave the process.

It is for tests. What a client was made with does not matter (a key, a base URL of before the test), only where its
requests go; requests to other hosts pass.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Callable, Iterator
from typing import Any, Final
from unittest import mock

from .in_process import BASE_URL, Handle, http_library, transport

HOSTS: Final = frozenset({"api.openai.com", BASE_URL.split("/")[2]})


@contextlib.contextmanager
def caught(handle: Handle) -> Iterator[None]:
    """Answer, while the block runs, every request of httpx2 and httpx to api.openai.com and to `BASE_URL`.

    Args:
        handle: from request to response; called on the caller's thread.
    """
    with contextlib.ExitStack() as changes:
        for library in _libraries():
            here = transport(handle, library)
            for kind, name in (("HTTPTransport", "handle_request"), ("AsyncHTTPTransport", "handle_async_request")):
                there = getattr(library, kind)
                carry = _either(getattr(here, name), getattr(there, name))
                changes.enter_context(mock.patch.object(there, name, carry))
        yield


def _either(here: Callable[[Any], Any], there: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    # Sync or async, as what it chooses from is: a coroutine is passed on as it is.
    return lambda own, request: here(request) if request.url.host in HOSTS else there(own, request)


def _libraries() -> list[Any]:
    """What clients of this process may run on: OpenAI's own HTTP library, and httpx where it is in use."""
    libraries = [sys.modules[name] for name in ("httpx2", "httpx") if name in sys.modules]
    with contextlib.suppress(ModuleNotFoundError):
        importlib.import_module("openai")
        libraries.append(http_library())
    return list({id(library): library for library in libraries}.values())
