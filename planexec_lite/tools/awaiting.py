"""A plain call waits for an ``async def`` tool on one event loop, which runs in its own thread for the whole process.

A step runs on a thread of its worker, perhaps on a thread where a loop already runs (a notebook's), so the tool runs on
another thread. All async tools share one loop: they wait side by side, and can share a client that keeps connections open.
MCP servers have another loop, so no tool can block them. The tool runs in the context of its step, so its costs count for
that step.

A tool can block the loop, or ignore its cancellation. A call that has not begun within `GRACE` seconds gets a new loop, and so do
the calls of a plan that an async tool runs: that tool blocks the loop until the plan has ended. A call
that has begun cannot move to another thread: it waits until the blocking tool returns, or until its own timeout.

Other code can close the loop's handles, for example before it goes to the background. Then the calls that have begun fail, and
later ones get a new loop.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Awaitable, Coroutine
from errno import EBADF
from functools import partial
from selectors import DefaultSelector, SelectorKey
from threading import Lock, Thread, current_thread
from time import monotonic
from typing import TYPE_CHECKING, Any, Literal

from planexec_lite.meter import current
from planexec_lite.tools.handles import FileNumber, keep, number_of

if TYPE_CHECKING:
    from concurrent.futures import Future

GRACE = 0.5
"""Seconds that the loop has to begin a call, and that a call has beyond its own time to end after its cancellation."""


Outcome = tuple[Any, BaseException | None]
"""The result of a call and None, or None and its error."""


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
    import asyncio  # loaded when the first async tool is called: it takes a third of this package's import time

    while True:
        begun = (
            Lock()
        )  # taken by the loop when it begins the call, or by this thread when it leaves the loop
        place = _place(loop)
        try:
            call = asyncio.run_coroutine_threadsafe(_begin(value, begun), place.loop)
            if not _ended(call, place, GRACE) and begun.acquire(blocking=False):
                call.cancel()
                leave_loop(place.thread)
                continue
            left = _left()
            seconds = math.inf if left is None else left + GRACE
            if not _ended(call, place, seconds):
                call.cancel()
                raise TimeoutError(f"it was cancelled, and did not end within {GRACE:g} s")
            result, problem = call.result()
        finally:
            _give_back(place)
        if left is not None and isinstance(problem, asyncio.CancelledError):
            raise TimeoutError("it was cancelled") from None
        if problem is not None:
            raise problem
        return result


async def _begin(value: Awaitable[Any], begun: Lock) -> Outcome:
    """Return the result of `value` and None, or None and its error, unless its thread has left this loop."""
    import asyncio

    if not begun.acquire(blocking=False):
        return None, None
    left = _left()
    if left is None:
        return await _to_its_end(value)
    # a little later than the workers' clock, so that both report the same timeout
    return await asyncio.wait_for(_to_its_end(value), left + 0.001)


async def _to_its_end(value: Awaitable[Any]) -> Outcome:
    try:
        return await value, None
    except BaseException as problem:  # returned, because a SystemExit would end the loop unnoticed
        return None, problem


def _left() -> float | None:
    """Return the seconds that the current job has left on the real clock; None: it has no timeout."""
    meter = current.get()
    return None if meter is None or meter.at is not None else meter.left


class _Selector(DefaultSelector):
    """A selector that raises `OSError` when other code has closed the handles of its loop."""

    def __init__(self) -> None:
        super().__init__()
        self.handles: dict[int, FileNumber] = {}

    def is_cut_off(self) -> bool:
        """Whether other code has closed a handle."""
        return any(number_of(handle) != number for handle, number in self.handles.items())

    def select(self, timeout: float | None = None) -> list[tuple[SelectorKey, int]]:
        """Wait as long as the loop wants to, but look at the handles often."""
        if self.is_cut_off():
            raise OSError(EBADF, "the handles of this loop were closed")
        seconds = GRACE if timeout is None else min(timeout, GRACE)
        return super().select(seconds)


class _Loop:
    """An event loop in its own thread. `users` is the number of calls that wait for it."""

    def __init__(self, name: str) -> None:
        import asyncio

        self.users = 0
        self.process = os.getpid()
        self.selector = _Selector()
        windows = sys.platform == "win32"  # whose loop waits in another way
        make = (
            asyncio.new_event_loop
            if windows
            else partial(asyncio.SelectorEventLoop, self.selector)
        )
        self.runner = asyncio.Runner(loop_factory=make)
        self.loop = self.runner.get_loop()
        opened = [key.fd for key in self.selector.get_map().values()]
        self.selector.handles = {handle: number_of(handle) for handle in opened}
        self.thread = Thread(target=self._run, name=f"planexec_lite async {name}", daemon=True)
        self.over = False
        self.thread.start()

    def _run(self) -> None:
        while (
            not self.over
        ):  # a tool can stop its loop, or exit in a background task; other tools use the loop
            try:
                self.loop.run_forever()
            except OSError:  # of the selector: the loop catches all others
                keep(self)
                return
            except BaseException:
                continue
        self.runner.close()


_shared: dict[str, _Loop] = {}
_one_at_a_time = Lock()


def leave_loop(thread: Thread | None = None) -> None:
    """Later calls get a new loop instead of the one of `thread` (None: this thread), which is blocked.

    That loop stops when its calls have ended.
    """
    with _one_at_a_time:
        left = thread or current_thread()
        for name, place in list(_shared.items()):
            if place.thread is left:
                del _shared[name]


def _place(name: str) -> _Loop:
    """Return the loop for a call, which gives it back in the end."""
    with _one_at_a_time:
        known = _shared.get(name)
        if known is None or known.process != os.getpid() or known.selector.is_cut_off():
            _shared[name] = _Loop(name)
        place = _shared[name]
        if (
            place.thread is current_thread()
        ):  # an async tool that runs a whole plan occupies its loop
            place = _Loop(name)
        place.users += 1
        return place


def _give_back(place: _Loop) -> None:
    """A call no longer needs the loop. The last call stops a loop that no later call will use."""
    with _one_at_a_time:
        place.users -= 1
        if not place.users and place not in _shared.values() and not place.selector.is_cut_off():
            place.over = True
            place.loop.call_soon_threadsafe(place.loop.stop)


def _ended(call: Future[Any], place: _Loop, seconds: float) -> bool:
    """Wait for the end of `call`, at most `seconds`, and return whether it has ended. An interrupt cancels it.

    Raises `RuntimeError` if its loop has broken.
    """
    from concurrent.futures import wait

    until = monotonic() + seconds
    try:
        while not wait([call], max(0.0, min(GRACE, until - monotonic()))).done:
            if not place.thread.is_alive():
                raise RuntimeError(
                    "other code of this process, perhaps a tool, closed the files of the loop of async tools"
                )
            if monotonic() >= until:
                return False
    except BaseException:
        call.cancel()
        raise
    return True
