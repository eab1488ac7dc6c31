"""How a plain call waits for an ``async def`` tool: on one event loop, in a thread of its own, for the whole process.

A step runs on whatever thread its worker has, perhaps on one where a loop runs already (a notebook's), so the awaiting
happens elsewhere. One loop for all async tools means that they wait side by side, and that a client which keeps its
connections open may be shared by them. What the tool charges goes to its step's meter: the context goes along.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable
from contextvars import copy_context
from functools import cache
from threading import Thread, current_thread
from typing import Any


def awaited(value: Awaitable[Any]) -> Any:
    """Return what `value` comes to, or raise what it raises. An interrupt cancels it."""
    import asyncio  # loaded when the first async tool is called: it takes a third of this package's import time

    async def to_its_end() -> Any:
        return await value

    loop, thread = _loop(os.getpid())
    if thread is current_thread():  # an async tool that runs a plan, in which async tools are called
        return _in_a_thread(asyncio.run, to_its_end())
    future = asyncio.run_coroutine_threadsafe(to_its_end(), loop)
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise


@cache
def _loop(process: int) -> tuple[Any, Thread]:
    import asyncio

    loop = asyncio.new_event_loop()
    thread = Thread(target=loop.run_forever, name="async tools", daemon=True)
    thread.start()
    return loop, thread


def _in_a_thread(call: Any, *args: Any) -> Any:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(copy_context().run, call, *args).result()
