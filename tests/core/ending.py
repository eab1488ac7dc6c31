"""Wait for the end of a run; a run that does not end fails the test with the steps that are running."""

import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import TypeVar

from exercises.checker.guard import raise_in
from planexec_lite.core import drive

T = TypeVar("T")
PATIENCE = 120.0  # seconds; enough on any busy machine


def to_its_end(work: Callable[[], T], patience: float = PATIENCE) -> T:
    """Do `work` on a thread; return its result or raise its error. If it does not end, name the steps that are running."""
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
        raise_in(thread, SystemExit)  # so that an endless loop does not slow down later tests
        raise AssertionError(message)
    return done.result()


def words() -> Iterator[str]:
    """The last events of each run whose loop is on the stack of a thread, and each step that is still running."""
    for frame in sys._current_frames().values():
        while frame is not None:
            if frame.f_code is drive.__code__:
                run = frame.f_locals["run"]
                yield f"running: {', '.join(map(str, run.board.in_flight))}; the last events: {run.events[-6:]}"
            frame = frame.f_back
