"""Keeps requests to a local server away from the proxies that the environment names (HTTP_PROXY, ALL_PROXY, …)."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator

NAMES = ("NO_PROXY", "no_proxy")
_hosts: list[str] = []  # a host for each open block
_before: dict[str, str | None] = {}  # the environment before the first open block
_lock = threading.Lock()


@contextlib.contextmanager
def without_proxy(host: str) -> Iterator[None]:
    """Inside the block, name the host in NO_PROXY, which httpx, requests, urllib, curl and child processes read. Blocks
    can overlap.
    """
    with _lock:
        if not _hosts:
            _before.update({name: os.environ.get(name) for name in NAMES})
        _hosts.append(host)
        _write()
    try:
        yield
    finally:
        with _lock:
            _hosts.remove(host)
            _write()


def _write() -> None:
    # Programs differ in which spelling they prefer, so both name all hosts.
    named = [host.strip() for value in _before.values() for host in (value or "").split(",")]
    for name, value in _before.items():
        if _hosts:
            os.environ[name] = ",".join(dict.fromkeys(filter(None, [*named, *_hosts])))
        elif value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
