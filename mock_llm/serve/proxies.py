"""Keeps requests to a local server away from the proxies that the environment names (HTTP_PROXY, ALL_PROXY, …)."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator

NAMES = ("NO_PROXY", "no_proxy")  # programs differ in which spelling they prefer
_lock = threading.Lock()


@contextlib.contextmanager
def without_proxy(host: str) -> Iterator[None]:
    """Inside the block, name the host in NO_PROXY, which httpx, requests, urllib, curl and child processes read. Blocks
    can overlap.
    """
    with _lock:
        for name in NAMES:
            os.environ[name] = ",".join([*_hosts(name), host])
    try:
        yield
    finally:
        with _lock:
            for name in NAMES:
                hosts = _hosts(name)
                if host in hosts:
                    hosts.remove(host)
                os.environ[name] = ",".join(hosts)
                if not hosts:
                    del os.environ[name]


def _hosts(name: str) -> list[str]:
    return [host.strip() for host in os.environ.get(name, "").split(",") if host.strip()]
