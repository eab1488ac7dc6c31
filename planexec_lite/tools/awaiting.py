"""How a plain call waits for an ``async def`` tool: on one event loop, in a thread of its own, for the whole process.

A step runs on whatever thread its worker has, perhaps on one where a loop runs already (a notebook's), so the awaiting
happens elsewhere. One loop for all async tools means that they wait side by side, and that a client which keeps its
connections open may be shared by them. What the tool charges goes to its step's meter: the context goes along.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Awaitable, Coroutine, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from functools import cache
from threading import Lock, Thread, current_thread
from typing import Any

from planexec_lite.meter import current

_one_at_a_time = Lock()
_at_rest: list[Thread] = []


def awaited(value: Awaitable[Any]) -> Any:
    """Return what `value` comes to, or raise what it raises. An interrupt cancels it, and so does the end of its step's time.

    It hears of that by a `CancelledError` where it awaits, and is waited for until it has put things in order.

    Raises `TimeoutError` when it was cancelled for its time, and `RuntimeError` in a browser tab, where there are no threads.
    """
    if sys.platform == "emscripten":
        if isinstance(value, Coroutine):
            value.close()
        raise RuntimeError("async tools need a thread, and threads are not to be had in a browser tab; use a plain def")
    import asyncio  # loaded when the first async tool is called: it takes a third of this package's import time

    async def to_its_end() -> tuple[Any, BaseException | None]:
        try:
            return await value, None
        except BaseException as problem:  # handed over: a SystemExit would end the loop, and nobody would hear of it
            return None, problem

    meter = current.get()
    left = meter.left if meter is not None and meter.at is None else None
    # a little later than the workers' clock, so that they say the same of it
    ending = to_its_end() if left is None else asyncio.wait_for(to_its_end(), left + 0.001)
    with _one_at_a_time:
        loop, thread = _loop(os.getpid())
    if _at_rest or thread is current_thread():
        result, problem = _in_a_thread(asyncio.run, ending)
    else:
        future = asyncio.run_coroutine_threadsafe(ending, loop)
        try:
            result, problem = future.result()
        except BaseException:
            future.cancel()
            raise
    if left is not None and isinstance(problem, asyncio.CancelledError):
        raise TimeoutError("it was cancelled") from None
    if problem is not None:
        raise problem
    return result


def on_shared_loop() -> bool:
    """Whether this runs on the loop that async tools share: what keeps a connection open has to."""
    return current_thread().name == _NAME


@contextmanager
def loop_at_rest() -> Iterator[None]:
    """While an async tool runs a whole plan, the shared loop stands still: what that plan awaits gets loops of its own."""
    if current_thread().name != _NAME:
        yield
        return
    _at_rest.append(current_thread())
    try:
        yield
    finally:
        _at_rest.pop()


_NAME = "planexec_lite async tools"


@cache
def _loop(process: int) -> tuple[Any, Thread]:
    import asyncio

    loop = asyncio.new_event_loop()
    thread = Thread(target=_run_on, args=(loop,), name=_NAME, daemon=True)
    thread.start()
    return loop, thread


def _run_on(loop: Any) -> None:
    """A tool may stop the loop that it runs on; it is everybody's loop, so it goes on."""
    while True:
        loop.run_forever()


def _in_a_thread(call: Any, *args: Any) -> Any:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(copy_context().run, call, *args).result()
