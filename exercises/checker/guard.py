"""Run untrusted code, which might loop endlessly, exit Python, print a megabyte, or change the checker itself.

The limit counts CPU seconds, so that a slow or busy machine does not stop a right answer; waiting code has a longer limit
of wall-clock time. Imports don't count and are not interrupted, because a half-loaded module would stay in the kernel.

On the main thread of Linux and macOS, an alarm signal checks the clocks; it can also end a wait. Elsewhere, for example on
Windows, the code runs on a thread and gets an exception between two instructions: this ends `while True`, but not a wait
inside C code, which stays behind. A browser tab has neither alarms nor threads: there, the clocks are checked at jumps and
calls.
"""

from __future__ import annotations

import contextvars
import copy
import ctypes
import gc
import io
import operator
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
AGAIN = 0.02  # seconds between two checks of the clocks: code that catches the first alarm gets the next
PATIENCE = 30.0  # wall-clock seconds for a waiting answer, or ten times the CPU limit if that is more
IMPORTING = 120.0  # wall-clock seconds for imports, so that an endless module is stopped too
SLOWER = 6.0  # slowdown factor of a browser tab
OFTEN = 500  # jumps and calls in a tab between two checks of the clocks
PACKAGES = ("exercises", "planexec_lite", "planexec_lab", "builtins")
_GONE = object()


class Stop(KeyboardInterrupt):
    """Ends the code at once. It is a KeyboardInterrupt, which neither answers nor the kit's workers usually catch."""


class TimeUp(Stop):
    """Raised when the time is up; the message names the limit: "after 3 s of CPU time"."""


class Clock:
    """The remaining time of the code: CPU seconds of this process, and wall-clock seconds."""

    def __init__(self, cpu: float, wall: float) -> None:
        self.cpu, self.wall, self.imports = cpu, wall, IMPORTING
        self.used = self.passed = 0.0
        self._last = time.process_time(), time.monotonic()

    def look(self, frames: Iterable[FrameType]) -> str:
        """Count the time since the last check, except during an import; return the exceeded limit, or ""."""
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
    """How the code ended: its value or exception, its output, and the changed names, which are restored."""

    value: Any
    error: BaseException | None
    printed: str
    changed: tuple[str, ...]


class Printed(io.TextIOBase):
    """A stream that keeps the first characters of the output."""

    def __init__(self, most: int = MOST_PRINTED) -> None:
        self.kept, self.length, self.most = "", 0, most

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self.kept += text[: max(0, self.most - len(self.kept))]
        self.length += len(text)
        return len(text)

    def __str__(self) -> str:
        more = self.length - len(self.kept)
        return self.kept.rstrip("\n") + (f" … and {more:,} characters more" if more else "")


class Kept:
    """A snapshot of the names in some packages, their modules and classes, to be restored later."""

    def __init__(self, packages: tuple[str, ...] = PACKAGES) -> None:
        self.names = [(owner, dict(vars(owner))) for owner in _owners(packages)]
        self.data = {
            (owner, name): data
            for owner, names in self.names
            if isinstance(owner, ModuleType) and owner.__name__.startswith("exercises")
            for name, value in names.items()
            if type(value) in (list, dict, set) and (data := _data(name, value)) is not None
        }

    def restore(self) -> tuple[str, ...]:
        """Restore changed names and return them."""
        changed = []
        for owner, names in self.names:
            now = vars(owner)
            if now.keys() == names.keys() and all(map(operator.is_, now.values(), names.values())):
                continue
            for name, value in names.items():
                if now.get(name, _GONE) is not value and not _hidden(owner, name):
                    setattr(owner, name, value)
                    changed.append(f"{owner.__name__}.{name}")
        for (owner, name), data in self.data.items():
            if vars(owner)[name] != data:
                setattr(owner, name, data)
                changed.append(f"{owner.__name__}.{name}")
        return tuple(dict.fromkeys(changed))


def _owners(packages: tuple[str, ...]) -> Iterator[Any]:
    for name in sorted(name for name in [*sys.modules] if name.partition(".")[0] in packages):
        if isinstance(module := sys.modules[name], ModuleType):
            yield module
            if name != "builtins":
                yield from (one for one in [*vars(module).values()] if isinstance(one, type) and one.__module__ == name)


def _hidden(owner: Any, name: str) -> bool:
    return name.startswith("_" if isinstance(owner, type) and not owner.__module__.startswith("exercises") else "__")


def _data(name: str, value: Any) -> Any:
    """Return a copy of the checker's mutable public data; None for anything else."""
    try:
        return copy.deepcopy(value) if name[0] != "_" and len(value) < 1000 else None
    except Exception:
        return None


def guarded(
    work: Callable[[], Any], seconds: float, packages: tuple[str, ...] = PACKAGES, patience: float | None = None
) -> Ended:
    """Run `work` for at most `seconds` of CPU time and return how it ended. Never raises.

    Changes in `packages` are restored; pass () for trusted code. `patience` is the limit of wall-clock seconds for
    work that waits.
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
    """Run the work in a frame that the alarm looks for, so that it never interrupts cleanup code."""
    return work()


def _imports(frame: FrameType) -> bool:
    """Return whether the frame belongs to Python's import system."""
    return frame.f_code.co_filename.startswith("<frozen importlib")


def _swallows(frame: FrameType) -> bool:
    """Return whether Python would drop an exception raised here.

    This happens in a finalizer, around a fork, in a callback of the garbage collector, and in its report.
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
        if at_it:  # the machine is slower than the alarm: one check at a time
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
        if frame is not None:  # the code caught the last exception: raise at its next line, perhaps outside its `try`
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
        return contextvars.copy_context().run(_inside, work)  # context left open by an alarm ends with the copy


def raise_in(thread: threading.Thread, error: type[BaseException]) -> None:
    """Raise an error in another thread, between two of its instructions; call `take_back` if the thread reaches none."""
    _send(thread.ident, error)


def take_back(thread: threading.Thread) -> None:
    """Cancel the exception for a thread that waits inside C code.

    Until an exception is delivered, every thread of Python 3.11 and 3.12 looks for it after each instruction, and with a
    profile or trace function 3.11 then never reaches the next instruction. So this thread sends itself an exception and drops it.
    """
    _send(thread.ident, None)
    with suppress(_TakenBack):
        _send(threading.get_ident(), _TakenBack)
        while True:
            pass


class _TakenBack(BaseException):
    """The exception that `take_back` sends to its own thread."""


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
        except TimeUp:  # a second exception arrived while the first was handled
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
    """Yield the current frames of the thread, the innermost first."""
    frame = sys._current_frames().get(thread.ident or 0)
    while frame is not None:
        yield frame
        frame = frame.f_back
