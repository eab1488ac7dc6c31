"""A plain call waits for an ``async def`` tool on one event loop, which runs in its own thread for the whole process.

A step runs on a thread of its worker, perhaps on a thread where a loop already runs (a notebook's), so the tool runs on
another thread. All async tools share one loop: they wait side by side, and can share a client that keeps connections open.
MCP servers have another loop, so no tool can block them. The tool runs in the context of its step, so its costs count for
that step.

A tool can block the loop, or ignore its cancellation: it has `GRACE` seconds beyond its own time to end, and then later calls get
a new loop. So do the calls of a plan that an async tool runs, because that tool blocks the loop until the plan has ended.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Awaitable, Coroutine
from threading import Lock, Thread, current_thread
from typing import Any, Literal

from planexec_lite.meter import current

GRACE = 0.5
"""Seconds that a call has beyond its own time to end after its cancellation."""


def awaited(value: Awaitable[Any], *, loop: Literal["tools", "servers"] = "tools") -> Any:
    """Return the result of `value`, or raise its error. An interrupt cancels it, and so does the end of its step's time.

    The tool receives a `CancelledError` where it awaits, and then has `GRACE` seconds to clean up.

    Raises `TimeoutError` when the call exceeds its time, and `RuntimeError` in a browser tab, where there are no threads.
    """
    if sys.platform == "emscripten":
        if isinstance(value, Coroutine):
            value.close()
        raise RuntimeError("async tools need a thread, and a browser tab has none; use a plain def")
    import asyncio  # loaded when the first async tool is called: it takes a third of this package's import time
    from concurrent.futures import wait

    meter = current.get()
    timed = meter is not None and meter.at is None and meter.context.limit is not None

    def left() -> float | None:
        return meter.left if timed and meter is not None else None

    async def to_its_end() -> tuple[Any, BaseException | None]:
        try:
            return await value, None
        except BaseException as problem:  # returned, because a SystemExit would end the loop unnoticed
            return None, problem

    async def in_time() -> tuple[Any, BaseException | None]:
        seconds = left()
        # a little later than the workers' clock, so that both report the same timeout
        return await (to_its_end() if seconds is None else asyncio.wait_for(to_its_end(), seconds + 0.001))

    leave_loop()  # a call on the loop's own thread blocks it
    with _one_at_a_time:
        place = _place(loop)
        place.calls += 1
        call = asyncio.run_coroutine_threadsafe(in_time(), place.loop)
    seconds = left()
    try:
        wait([call], None if seconds is None else seconds + GRACE)
    finally:
        if not call.done():
            call.cancel()
            leave_loop(place.thread)
        else:
            with _one_at_a_time:
                place.calls -= 1
                if not place.calls and _shared.get(loop) is not place:
                    place.loop.call_soon_threadsafe(place.loop.stop)
    if call.cancelled():
        raise TimeoutError(f"it was cancelled, and did not end within {GRACE:g} s")
    result, problem = call.result()
    if timed and isinstance(problem, asyncio.CancelledError):
        raise TimeoutError("it was cancelled") from None
    if problem is not None:
        raise problem
    return result


class _Loop:
    """An event loop in its own thread, and the number of its calls."""

    def __init__(self, name: str) -> None:
        import asyncio

        self.calls = 0
        self.process = os.getpid()
        self.loop = asyncio.new_event_loop()
        self.thread = Thread(target=self._run, name=f"planexec_lite async {name}", daemon=True)
        self.thread.start()

    def _run(self) -> None:
        import asyncio

        with asyncio.Runner(loop_factory=lambda: self.loop) as runner:
            runner.get_loop().run_forever()


_shared: dict[str, _Loop] = {}
_one_at_a_time = Lock()


def leave_loop(thread: Thread | None = None) -> None:
    """Later calls get a new loop instead of the one of `thread` (None: this thread), which is blocked.

    That loop stops when its calls have ended.
    """
    with _one_at_a_time:
        for name in [name for name, place in _shared.items() if place.thread is (thread or current_thread())]:
            del _shared[name]


def _place(name: str) -> _Loop:
    """Return the loop that calls share. The caller holds the lock."""
    if name not in _shared or _shared[name].process != os.getpid():
        _shared[name] = _Loop(name)
    return _shared[name]
