"""A plain call waits for an ``async def`` tool on one event loop, which runs in its own thread for the whole process.

A step runs on a thread of its worker, perhaps on a thread where a loop already runs (a notebook's), so the tool runs on
another thread. All async tools share one loop: they wait side by side, and can share a client that keeps connections open.
MCP servers have another loop, so no tool can block them. The tool runs in the context of its step, so its costs count for
that step.

A tool can block the loop, for example because it runs a whole plan, or ignore its cancellation. A call that has not begun within
`GRACE` seconds gets a new loop. A call that has begun cannot move to another thread: it waits until the blocking tool returns, or
until its own timeout.

Other code can close the loop's handles, for example before it goes to the background. Then the calls that have begun fail, and
later ones get a new loop.
"""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Coroutine, Iterator
from contextlib import contextmanager
from functools import partial
from selectors import DefaultSelector
from threading import Event, Lock, Thread, current_thread
from typing import Any, Literal

from planexec_lite.meter import job_meter
from planexec_lite.tools.handles import number_of

GRACE = 0.5
"""Seconds that the loop has to begin a call, and that a call has beyond its own time to end after its cancellation."""


def awaited(value: Awaitable[Any], *, loop: Literal["tools", "servers"] = "tools") -> Any:
    """Return the result of `value`, or raise its error. An interrupt cancels it, and so does the end of its step's time.

    The tool receives a `CancelledError` where it awaits, and then has `GRACE` seconds to clean up.

    Raises `TimeoutError` when the call exceeds its time, and `RuntimeError` if other code breaks the loop, or in a browser tab,
    where there are no threads.
    """
    if sys.platform == "emscripten":
        if isinstance(value, Coroutine):
            value.close()
        raise RuntimeError(
            "async tools need a thread, and a browser tab has none; use a plain def"
        )
    # loaded when the first async tool is called: asyncio takes a third of this package's import time
    from asyncio import run_coroutine_threadsafe
    from concurrent.futures import wait

    while True:
        begun = Lock()  # taken by the loop when it begins the call, or by this thread to leave it
        with _place(loop) as place:
            call = run_coroutine_threadsafe(_begin(value, begun), place.loop)
            late = False
            try:
                while not wait([call], GRACE).done:
                    if begun.acquire(blocking=False):
                        if _shared.get(loop) is place:
                            del _shared[loop]
                        break
                    if place.is_cut_off():
                        raise RuntimeError(
                            "other code of this process, perhaps a tool, closed the files of the loop of async tools"
                        )
                    if late:
                        raise TimeoutError(f"it was cancelled, and did not end within {GRACE:g} s")
                    late = _left() == 0
                else:
                    result, problem = call.result()
                    if problem is not None:
                        raise problem
                    return result
            finally:
                if not place.is_cut_off():  # it would write to a handle that is no longer its own
                    call.cancel()


async def _begin(value: Awaitable[Any], begun: Lock) -> tuple[Any, Exception | None]:
    """Return the result of `value` or its error, unless its thread has left this loop.

    The error is returned, because a future would raise a copy of a `TimeoutError`, without its attributes.
    """
    from asyncio import wait_for

    if begun.acquire(blocking=False):
        left = _left()
        # a little later than the workers' clock, so that both report the same timeout
        try:
            return await wait_for(value, None if left is None else left + 0.001), None
        except Exception as problem:
            return None, problem
    return None, None


def _left() -> float | None:
    """Return the seconds that the current job has left on the real clock; None: it has no timeout."""
    meter = job_meter()
    return meter.left if meter.at is None else None


class _Loop:
    """An event loop in its own thread. `users` is the number of calls that wait for it."""

    def __init__(self, name: str) -> None:
        import asyncio

        self.users = 0
        self.over = False
        selector = DefaultSelector()
        windows = sys.platform == "win32"  # whose loop waits in another way
        make = asyncio.new_event_loop if windows else partial(asyncio.SelectorEventLoop, selector)
        self.runner = asyncio.Runner(loop_factory=make)
        self.loop = self.runner.get_loop()
        self.handles = {key.fd: number_of(key.fd) for key in selector.get_map().values()}
        self.thread = Thread(target=self._run, name=f"planexec_lite async {name}", daemon=True)
        self.thread.start()

    def is_cut_off(self) -> bool:
        """Whether other code has closed the handles."""
        return any(number_of(handle) != number for handle, number in self.handles.items())

    def _run(self) -> None:
        while (
            not self.over
        ):  # a tool can stop its loop, or exit in a background task; other tools use the loop
            try:
                self.loop.run_forever()
            except OSError:
                # its handles were closed; this thread keeps the loop, whose end would close them for their new owner
                Event().wait()
            except BaseException:
                continue
        self.runner.close()


_shared: dict[str, _Loop] = {}
_one_at_a_time = Lock()


@contextmanager
def _place(name: str) -> Iterator[_Loop]:
    """Give the loop for a call. The last call stops a loop that no later call will use."""
    with _one_at_a_time:
        place = _shared.get(name)
        # its thread is dead in a forked process, and runs this call if an async tool runs a whole plan
        if (
            place is None
            or place.thread is current_thread()
            or not place.thread.is_alive()
            or place.is_cut_off()
        ):
            place = _shared[name] = _Loop(name)
        place.users += 1
    try:
        yield place
    finally:
        with _one_at_a_time:
            place.users -= 1
            left = place is not _shared.get(name)
            if left and not place.users and not place.is_cut_off():
                place.over = True
                place.loop.call_soon_threadsafe(place.loop.stop)
