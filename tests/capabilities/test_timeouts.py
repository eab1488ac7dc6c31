"""Real timeouts: a step after its timeout is in doubt, its late result never counts, and queued steps are cancelled."""

import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from time import perf_counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planexec_lite import Pool, Run, Simulated, Tool, Toolbox, tool
from planexec_lite.capabilities.doubt import Doubt
from planexec_lite.meter import charge
from planexec_lite.run.events import StepDone, StepFailed, StepLate
from tests.core.agents import agent_for, carry_out
from tests.core.ending import to_its_end
from tests.core.shapes import check_fold, check_order, step
from tests.rounds import rounds


class Site:
    """Tools that wait for each other or for an event of the run, never for the clock, and count their calls."""

    def __init__(self) -> None:
        self.let_go, self.over = threading.Event(), False
        self.begun = Counter[str]()
        self._recorded: set[str] = set()
        self._changed = threading.Condition()
        self.tools = Toolbox([Tool(self.work, effects="none"), Tool(self.lets_go, effects="none")])

    def work(self, name: str, holds: int = 0, fails: int = 0, until: str = "") -> str:
        """Work; the first `holds` calls wait for `lets_go`, and each call waits until the run has recorded `until`."""
        self.begun[name] += 1
        count = self.begun[name]
        if count <= holds:
            assert self.let_go.wait(60)
        self.until(until)
        if count <= fails:
            raise RuntimeError(f"{name} went wrong")
        return f"{name}, time {count}"

    def lets_go(self, until: str = "") -> None:
        """Let the other calls continue, and wait until the run has recorded `until`."""
        self.let_go.set()
        self.until(until)

    def until(self, event: str) -> None:
        """Wait until the run has recorded an event such as "StepFailed 1"."""
        with self._changed:
            assert self._changed.wait_for(lambda: not event or event in self._recorded or self.over, 60), event

    def watch(self, run: Run) -> None:
        with self._changed:
            self._recorded |= {f"{type(event).__name__} {getattr(event, 'step', '')}" for event in run.events}
            self._changed.notify_all()

    def to_its_end(self, work: Callable[[], Run]) -> Run:
        """Wait for the end of the run; then all calls continue, even if it failed."""
        try:
            return to_its_end(work)
        finally:
            self.let_go.set()
            with self._changed:
                self.over = True
                self._changed.notify_all()


class Clock:
    """The clock of the workers, which can be stopped: then no timeout is over."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.stopped: float | None = None
        for module in ("meter", "workers.session", "workers.real_time"):
            monkeypatch.setattr(f"planexec_lite.{module}.perf_counter", self)

    def __call__(self) -> float:
        return perf_counter() if self.stopped is None else self.stopped

    def stop(self) -> None:
        self.stopped = perf_counter()


def on_threads(steps: list[dict[str, Any]], threads: Executor, site: Site, watch: Any = None, **settings: Any) -> Run:
    def both(run: Run) -> None:
        if watch:
            watch(run)
        site.watch(run)

    slots = settings.pop("slots", None)
    run = site.to_its_end(lambda: carry_out(steps, site.tools, Pool(threads, slots), watch=both, **settings))
    check_order(run)
    return run


def events(run: Run, id: str, *kinds: Any) -> list[Any]:
    return [event for event in run.events if isinstance(event, kinds) and event.step == id]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


@pytest.mark.parametrize("fails", [0, 1], ids=["a result", "an error"])
def test_a_step_after_its_timeout_is_in_doubt_and_its_late_end_does_not_count(fails: int) -> None:
    site = Site()
    steps = [
        step("1", "work", name="a", holds=1, fails=fails, timeout=0.01),
        step("2", "work", "1", name="b"),
        step("3", "work", "2", name="c"),
        step("4", "work", name="d", until="StepFailed 1"),
        step("5", "lets_go", "4", until="StepLate 1"),
    ]
    with ThreadPoolExecutor(4) as threads:
        run = on_threads(steps, threads, site, slots=1)
    assert run.board.state == {"1": "failed", "2": "skipped", "3": "skipped", "4": "done", "5": "done"}
    failed, late = events(run, "1", StepFailed, StepLate)
    assert (failed.in_doubt, failed.seconds) == (True, 0.01)
    assert "TimeoutError: took longer than its timeout of 0.01 s" in failed.error
    assert (late.result, late.error) == ((None, "RuntimeError: a went wrong") if fails else ("a, time 1", None))
    assert late.seconds > 0
    assert failed.at <= events(run, "4", StepDone)[0].at <= late.at
    assert (run.status, run.answer, "1" in run.results) == ("failed", None, False)
    assert run.board[Doubt].late == {"1": late.error or "a, time 1"}
    assert run.board[Doubt].attempts == {"1": fails} if fails else not run.board[Doubt].attempts
    assert site.begun == {"a": 1, "d": 1}


def test_the_timeout_starts_with_the_step_and_not_in_the_queue(clock: Clock) -> None:
    class Busy(Site):
        def work(self, name: str, holds: int = 0, fails: int = 0, until: str = "") -> str:
            if name == "first":
                time.sleep(0.1)  # ten times as long as the others may take, and they wait for the thread
                clock.stop()
            return super().work(name, holds, fails, until)

    steps = [step("0", "work", name="first"), *(step(str(n), "work", name="a", timeout=0.01) for n in range(1, 10))]
    with ThreadPoolExecutor(1) as one:
        run = on_threads(steps, one, Busy())
    assert run.status == "finished", "the others wait a tenth of a second for the thread"


def test_a_result_in_time_counts_if_a_busy_loop_sees_it_late(clock: Clock) -> None:
    site, submitted = Site(), list[Future[Any]]()

    class Kept(ThreadPoolExecutor):
        def submit(self, fn: Any, /, *args: Any, **named: Any) -> Any:
            submitted.append(super().submit(fn, *args, **named))
            return submitted[-1]

    def busy(run: Run) -> None:
        if "2" in run.results and not site.let_go.is_set():
            site.let_go.set()
            wait(submitted[:1])
            clock.stopped = perf_counter() + 7200

    steps = [step("1", "work", name="a", holds=1, timeout=3600), step("2", "pause")]
    pause = Tool(lambda: time.sleep(0.1), name="pause", effects="none")  # so that the loop has seen step 1 at work
    with Kept(2) as pool:
        run = site.to_its_end(lambda: carry_out(steps, [*site.tools, pause], Pool(pool), watch=busy))
    assert run.board.state == {"1": "done", "2": "done"}


def test_a_late_result_does_not_count_for_a_new_step_with_the_same_id() -> None:
    site = Site()
    first = [step("1", "work", name="old", holds=1, timeout=0.01), step("2", "work", "1", name="b")]
    later = [
        step("0", "lets_go", until="StepLate 1"),
        step("1", "work", "0", name="new"),
        step("2", "work", "1", name="b"),
    ]
    with ThreadPoolExecutor(4) as threads:
        agent = agent_for(site.tools, first, later, workers=Pool(threads), replan="failure", watch=site.watch)
        run = site.to_its_end(lambda: agent.run("work"))
    check_fold(run)
    check_order(run)
    assert (run.status, run.results["1"]) == ("finished", "new, time 1")
    assert run.board[Doubt].late == {"1": "old, time 1"}
    assert not run.board[Doubt].attempts


@st.composite
def slow_plans(draw: st.DrawFn) -> tuple[list[dict[str, Any]], dict[str, list[int]]]:
    steps: list[dict[str, Any]] = []
    takes: dict[str, list[int]] = {}
    for n in range(draw(st.integers(1, 8))):
        after = draw(st.lists(st.sampled_from([one["id"] for one in steps]), unique=True, max_size=2)) if steps else []
        more: dict[str, Any] = {"retries": draw(st.integers(0, 2)), "effects": draw(st.sampled_from(["none", "once"]))}
        if draw(st.booleans()):
            more["timeout"] = draw(st.integers(1, 4)) + 0.5
        steps.append(step(str(n), "takes", *after, name=str(n), **more))
        takes[str(n)] = draw(st.lists(st.integers(0, 9), min_size=3, max_size=3))
    return steps, takes


@rounds(120)
@given(slow_plans(), st.sampled_from([1, 2, None]), st.sampled_from(["skip", "stop"]))
def test_random_timeouts_follow_the_rules(made: Any, slots: int | None, failure: Any) -> None:
    steps, seconds = made
    calls: Counter[str] = Counter()

    @tool(effects="none")
    def takes(name: str) -> str:
        calls[name] += 1
        charge(seconds[name][calls[name] - 1])
        return f"{name}, time {calls[name]}"

    run = carry_out(steps, [takes], Simulated(slots), failure=failure)
    check_order(run, slots or 10**6)
    assert run.board.ended
    for one in steps:
        id, limit = one["id"], one.get("timeout", 10**6)
        ok = [n for n, took in enumerate(seconds[id][: 1 + one["retries"]]) if took <= limit]
        if run.board.state[id] == "done":
            assert run.results[id] == f"{id}, time {ok[0] + 1}"
            assert calls[id] == ok[0] + 1
        if one["effects"] == "once":
            assert calls[id] <= 1
        for late in events(run, id, StepLate):
            assert late.seconds > limit
            assert late.result != run.results.get(id)
