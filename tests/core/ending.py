"""Wait for a run to its end, and where it comes to none, say in words which step is waited for and what its thread is at."""

import linecache
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

from exercises.checker.guard import raise_in
from planexec_lite.core import drive
from planexec_lite.events import Job

T = TypeVar("T")
ROOT = Path(__file__).parents[2]
PATIENCE = 120.0  # seconds, so many that no busy machine needs them


def to_its_end(work: Callable[[], T], patience: float = PATIENCE) -> T:
    """Do `work` on a thread, and return what it returns or raise what it raises; fail in words if it comes to no end.

    Nothing needs to be handed over: the runs under way are read off the stacks of the threads.
    """
    __tracebackhide__ = True
    done: Future[T] = Future()

    def do() -> None:
        try:
            done.set_result(work())
        except BaseException as problem:
            done.set_exception(problem)

    thread = threading.Thread(target=do, name="the test's run", daemon=True)
    thread.start()
    thread.join(patience)
    if thread.is_alive():
        message = "\n".join([f"the run does not end ({patience:g} s)", *words()])
        raise_in(thread, SystemExit)  # a run that goes round in circles disturbs no later test
        raise AssertionError(message)
    return done.result()


def words() -> Iterator[str]:
    """The steps that the runs under way wait for, their last events, and the line of this repository that each thread is at."""
    stacks = [list(frames(top)) for top in sys._current_frames().values()]
    for frame in [frame for stack in stacks for frame in stack if frame.f_code is drive.__code__]:
        run = frame.f_locals["run"]
        for event in [event for event in run.events if isinstance(event, Job)]:
            if (step := getattr(event, "step", None)) in run.board.in_flight:
                yield f"step {step} has been running since {event.at:.3f} s" if step else "the planner is at work"
        last = [f"{type(event).__name__} {getattr(event, 'step', None) or ''}".strip() for event in run.events[-6:]]
        yield f"the last events: {', '.join(last)}"
    for stack in stacks:
        for frame in stack:
            file = Path(frame.f_code.co_filename)
            if file.is_relative_to(ROOT) and ".venv" not in file.parts:
                line = linecache.getline(str(file), frame.f_lineno).strip()
                yield f"a thread is at {file.relative_to(ROOT)}:{frame.f_lineno}: {line}"
                break


def frames(frame: FrameType | None) -> Iterator[Any]:
    while frame is not None:
        yield frame
        frame = frame.f_back
