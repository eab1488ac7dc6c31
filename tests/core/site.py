"""Where tests do things at the right moment without looking at the clock: gates, and a clock that can be stopped.

A tool that must still be at work when something happens waits until the run has recorded it, through `watch`. A timeout
is either certain to be over, as the tool ends only after it was given up, or it can't be, as the workers' clock stands.
"""

import threading
from collections import Counter
from collections.abc import Callable
from time import perf_counter
from typing import Any

import pytest

from planexec_lite import Run, Tool, Toolbox, ToolExecutor
from tests.core.ending import T, to_its_end

FAR = 600.0  # seconds: a timeout that no machine reaches


class Site:
    """Tools that wait until they are let go, or until the run has recorded something, and count what really happened."""

    def __init__(self) -> None:
        self.let_go = threading.Event()
        self.over = False
        self.begun, self.ended = Counter[str](), Counter[str]()
        self._recorded: set[str] = set()
        self._news = threading.Condition()

    def work(self, name: str, holds: int = 0, fails: int = 0, until: str = "") -> str:
        """Do it; the first `holds` times only when it is let go, and always only when the run has recorded `until`."""
        self.begun[name] += 1
        time_of_day = self.begun[name]
        if time_of_day <= holds:
            assert self.let_go.wait(60), "nobody let it go"
        self.until(until)
        self.ended[name] += 1
        if time_of_day <= fails:
            raise RuntimeError(f"{name} went wrong")
        return f"{name}, time {time_of_day}"

    def lets_go(self, name: str = "go", until: str = "") -> str:
        """Let the others go, and wait until the run has recorded `until`."""
        self.let_go.set()
        self.until(until)
        return name

    def until(self, what: str) -> None:
        """Wait until the run has recorded `what`: "StepFailed 1", "StepStarted 1 again" or "StepLate"; no wait if empty."""
        with self._news:
            assert self._news.wait_for(lambda: not what or what in self._recorded or self.over, 60), f"no {what} came"

    def watch(self, run: Run) -> None:
        """Tell the tools what the run has recorded."""
        with self._news:
            self._recorded |= {words for event in run.events for words in (in_words(event), type(event).__name__)}
            self._news.notify_all()

    def to_its_end(self, work: Callable[[], T]) -> T:
        """See `ending.to_its_end`; afterwards everybody is let go, also where it failed."""
        __tracebackhide__ = True
        try:
            return to_its_end(work)
        finally:
            self.close()

    def close(self) -> None:
        self.let_go.set()
        with self._news:
            self.over = True
            self._news.notify_all()

    @property
    def tools(self) -> Toolbox:
        return Toolbox([Tool(self.work, effects="none"), Tool(self.lets_go, effects="none")])

    @property
    def executor(self) -> ToolExecutor:
        return ToolExecutor(self.tools)


def in_words(event: Any) -> str:
    again = " again" if getattr(event, "attempt", 1) > 1 else ""
    return f"{type(event).__name__} {getattr(event, 'step', '')}{again}"


class Clock:
    """The workers' clock: the real time, until it is stopped; it can be put forward, too."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.ahead = 0.0
        self.stopped: float | None = None
        for module in ("meter", "workers.session", "workers.real_time"):
            monkeypatch.setattr(f"planexec_lite.{module}.perf_counter", self)

    def __call__(self) -> float:
        return (perf_counter() if self.stopped is None else self.stopped) + self.ahead

    def stop(self) -> None:
        """From now on nothing takes any time."""
        self.stopped = perf_counter()

    def stops_at(self, event: type[Any]) -> Callable[[Run], None]:
        """A watch that stops it as soon as the run has recorded an event of this kind."""

        def watch(run: Run) -> None:
            if self.stopped is None and any(isinstance(one, event) for one in run.events):
                self.stop()

        return watch
