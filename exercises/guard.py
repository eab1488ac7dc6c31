"""Run code that may do anything: loop for ever, leave Python, print a megabyte, or change the checker itself.

The limit counts the seconds of CPU that the code uses, so that a slow or busy machine stops no right answer; code that
waits instead of working is stopped after a longer time on the wall. An import counts for nothing and is not interrupted:
half a module would stay behind in the kernel.

An alarm signal looks at the clocks where there is one and this is the main thread (a notebook on Linux or macOS): it
also ends a wait. Elsewhere, Windows among it, the code runs on a thread that is told to stop between two of its
instructions: that ends `while True`, and not a wait inside C code, which is then left behind. A browser tab has neither
alarms nor threads: there the clocks are looked at where the code jumps back or calls something.
"""

from __future__ import annotations

import contextvars
import copy
import ctypes
import gc
import io
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

MOST_PRINTED = 600
AGAIN = 0.02  # seconds between two looks at the clocks: code that catches the first alarm meets the next
PATIENCE = 30.0  # seconds on the wall for an answer that waits; ten times the limit of CPU where that is more
IMPORTING = 120.0  # seconds on the wall for imports: a module that never ends is no import
SLOWER = 6.0  # times that a browser tab takes for the same
OFTEN = 500  # jumps and calls in a tab between two looks at the clocks
PACKAGES = ("exercises", "planexec_lite", "planexec_lab", "builtins")
_GONE = object()


class Stop(KeyboardInterrupt):
    """Ends the code at once: an interrupt is what neither an answer nor the kit's workers keep for themselves."""


class TimeUp(Stop):
    """The code was stopped because its time was up; the text says which: "after 3 s of CPU time"."""


class Clock:
    """How much time the code has left: seconds of CPU (of this process), and seconds on the wall."""

    def __init__(self, cpu: float, wall: float) -> None:
        self.cpu, self.wall, self.imports = cpu, wall, IMPORTING
        self.used = self.passed = 0.0
        self._last = time.process_time(), time.monotonic()

    def look(self, frames: Iterable[FrameType]) -> str:
        """Count the time since the last look, unless one of the frames is an import; say whose time is up, "" if none's."""
        now = time.process_time(), time.monotonic()
        used, passed = (new - old for new, old in zip(now, self._last, strict=True))
        self._last = now
        if self.imports > 0 and any(map(_imports, frames)):
            self.imports -= passed
            return ""
        self.used += used
        self.passed += passed
        if self.used >= self.cpu:
            return f"after {self.cpu:g} s of CPU time"
        return f"after {self.wall:g} s of waiting" if self.passed >= self.wall else ""


@dataclass(frozen=True)
class Ended:
    """How the code ended: its value or what it raised, what it printed, and the names that it changed (put back)."""

    value: Any
    error: BaseException | None
    printed: str
    changed: tuple[str, ...]


class Printed(io.TextIOBase):
    """Takes what is printed and keeps the first characters."""

    def __init__(self) -> None:
        self.kept, self.length = "", 0

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self.kept += text[: max(0, MOST_PRINTED - len(self.kept))]
        self.length += len(text)
        return len(text)

    def __str__(self) -> str:
        more = self.length - len(self.kept)
        return self.kept.rstrip("\n") + (f" … and {more:,} characters more" if more else "")


class Kept:
    """The names of some packages as they are now, to be put back later: modules, and the classes in them."""

    def __init__(self, packages: tuple[str, ...] = PACKAGES) -> None:
        self.names = [
            (owner, name, value, _data(owner, name, value))
            for owner in _owners(packages)
            for name, value in _names(owner)
        ]

    def restore(self) -> tuple[str, ...]:
        """Put back what has changed, and return its names."""
        changed = []
        for owner, name, value, data in self.names:
            now = vars(owner).get(name, _GONE)
            if now is not value or (data is not None and now != data):
                setattr(owner, name, value if data is None else data)
                changed.append(f"{owner.__name__}.{name}")
        return tuple(changed)


def _owners(packages: tuple[str, ...]) -> Iterator[Any]:
    for name, module in sorted(sys.modules.items()) if packages else ():
        if isinstance(module, ModuleType) and name.split(".")[0] in packages:
            yield module
            if name != "builtins":
                yield from (one for one in vars(module).values() if isinstance(one, type) and one.__module__ == name)


def _names(owner: Any) -> list[tuple[str, Any]]:
    hidden = "_" if isinstance(owner, type) and not owner.__module__.startswith("exercises") else "__"
    return [(name, value) for name, value in vars(owner).items() if not name.startswith(hidden)]


def _data(owner: Any, name: str, value: Any) -> Any:
    """A copy of the checker's public data, which could be changed in place; None for anything else."""
    if name.startswith("_") or not (isinstance(owner, ModuleType) and owner.__name__.startswith("exercises")):
        return None
    try:
        return copy.deepcopy(value) if type(value) in (list, dict, set) and len(value) < 1000 else None
    except Exception:
        return None


def guarded(
    work: Callable[[], Any], seconds: float, packages: tuple[str, ...] = PACKAGES, patience: float | None = None
) -> Ended:
    """Carry out `work` for at most `seconds` of CPU time, and say how it ended. Raises nothing.

    What the work changes in `packages` is put back; none are named for code of our own. `patience` is how many seconds
    on the wall it may take, for work that waits.
    """
    printed, kept, folder = Printed(), Kept(packages), Path.cwd()
    value, error = None, None
    limited = _in_a_tab if sys.platform == "emscripten" else _by_alarm if _alarm_rings() else _on_a_thread
    try:
        with redirect_stdout(printed), redirect_stderr(printed):
            value = limited(work, Clock(seconds, patience or max(PATIENCE, 10 * seconds)))
    except BaseException as raised:
        error = raised
    changed = kept.restore()
    with suppress(OSError):
        os.chdir(folder)
    return Ended(value, error, str(printed), changed)


def _alarm_rings() -> bool:
    return hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()


def _inside(work: Callable[[], Any]) -> Any:
    """The alarm rings only while this frame stands: never in the midst of tidying up."""
    return work()


def _imports(frame: FrameType) -> bool:
    """Whether the frame belongs to Python's import system."""
    return frame.f_code.co_filename.startswith("<frozen importlib")


def _swallows(frame: FrameType) -> bool:
    """Whether Python would drop an exception raised here: in a finalizer, around a fork, in a callback of the collector, or
    in its report.
    """
    code = frame.f_code
    if code.co_name == "__del__" or code.co_filename.endswith(
        ("weakref.py", "_weakrefset.py", "unraisableexception.py")
    ):
        return True
    if code.co_name in ("_acquireLock", "_releaseLock", "_after_fork", "_after_at_fork_child_reinit_locks"):
        return True
    return any(getattr(callback, "__code__", None) is code for callback in gc.callbacks)


@contextmanager
def _alarm(clock: Clock) -> Iterator[None]:
    rings, traced, at_it = 0, sys.gettrace(), False

    def ring(_: int, frame: FrameType | None) -> None:
        nonlocal at_it
        if at_it:  # this machine is slower than the alarm: one look at a time
            return
        at_it = True
        try:
            look(frame)
        finally:
            at_it = False

    def look(frame: FrameType | None) -> None:
        nonlocal rings
        frames = []
        while frame is not None and frame.f_code is not _inside.__code__:
            frames.append(frame)
            frame = frame.f_back
        over = clock.look(frames)
        if not over or any(map(_swallows, frames)):  # the alarm rings again soon
            return
        rings += 1

        def stop_at_a_line(_: FrameType, event: str, __: Any) -> Any:
            if event == "line":
                raise TimeUp(over)
            return stop_at_a_line

        if frame is not None and rings % 3 == 1:
            raise TimeUp(over)
        if frame is not None:  # it caught the last one: stop it at a line, which may be one outside its `try`
            for one in frames[rings % 3 // 2 :]:  # of its callers first
                one.f_trace = stop_at_a_line
            sys.settrace(lambda *_: None)

    before = signal.signal(signal.SIGALRM, ring)
    timer = signal.setitimer(signal.ITIMER_REAL, AGAIN, AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        signal.setitimer(signal.ITIMER_REAL, *timer)
        if rings:
            sys.settrace(traced)


def _by_alarm(work: Callable[[], Any], clock: Clock) -> Any:
    with _alarm(clock):
        return contextvars.copy_context().run(_inside, work)  # what an alarm leaves open ends with the copy


def raise_in(thread: threading.Thread, error: type[BaseException]) -> None:
    """Raise an error in another thread, between two of its instructions; `take_back` it where the thread comes to none."""
    _send(thread.ident, error)


def take_back(thread: threading.Thread) -> None:
    """Take back what was to be raised in a thread that waits inside C code.

    Until somebody has got what was sent, Python 3.11 and 3.12 let every thread look for it after each instruction, and with
    a profile or trace function 3.11 then never comes to the next one. So this thread gets something, and drops it.
    """
    _send(thread.ident, None)
    with suppress(_TakenBack):
        _send(threading.get_ident(), _TakenBack)
        while True:
            pass


class _TakenBack(BaseException):
    """What the thread gets that takes back."""


def _send(ident: int | None, error: type[BaseException] | None) -> None:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(ident or 0), ctypes.py_object(error) if error else None)


def _on_a_thread(work: Callable[[], Any], clock: Clock) -> Any:
    came: list[Any] = []
    raised: list[BaseException] = []
    over = ""

    def carry_out() -> None:
        try:
            try:
                came.append(_inside(work))
            except BaseException as problem:
                raised.append(problem)
        except TimeUp:  # asked once more while the first was being taken down
            pass

    thread = threading.Thread(target=contextvars.copy_context().run, args=(carry_out,), daemon=True)
    thread.start()
    asked = 0
    while thread.is_alive() and asked < 50:
        thread.join(AGAIN)
        frames = list(_frames_of(thread))
        over = clock.look(frames) or over
        at_work = any(frame.f_code is _inside.__code__ for frame in frames)
        if over and at_work and not any(map(_swallows, frames)):
            asked += 1
            raise_in(thread, TimeUp)
    if thread.is_alive():
        take_back(thread)
    if thread.is_alive() or not (came or raised):
        raise TimeUp(over)
    for problem in raised:
        if isinstance(problem, TimeUp):
            problem.args = (over,)
        raise problem
    return came[0]


def _in_a_tab(work: Callable[[], Any], clock: Clock) -> Any:
    monitoring, events = sys.monitoring, sys.monitoring.events
    tool = next(number for number in (3, 4) if monitoring.get_tool(number) is None)
    clock.cpu *= SLOWER
    seen, over = 0, ""

    def look(*_: Any) -> None:
        nonlocal seen, over
        seen += 1
        if not over and seen % OFTEN:
            return
        frames = []
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_code is not _inside.__code__:
            frames.append(frame)
            frame = frame.f_back
        over = clock.look(frames) or over
        if over and frame is not None and not any(map(_swallows, frames)):
            raise TimeUp(over)

    monitoring.use_tool_id(tool, "exercises")
    for event in (events.PY_START, events.JUMP):
        monitoring.register_callback(tool, event, look)
    monitoring.set_events(tool, events.PY_START | events.JUMP)
    try:
        return contextvars.copy_context().run(_inside, work)
    finally:
        monitoring.set_events(tool, 0)
        monitoring.free_tool_id(tool)


def _frames_of(thread: threading.Thread) -> Iterator[FrameType]:
    """The frames that the thread is in now, the innermost first."""
    frame = sys._current_frames().get(thread.ident or 0)
    while frame is not None:
        yield frame
        frame = frame.f_back
