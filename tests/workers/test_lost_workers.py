"""Workers that are lost and executors that lie: a call that may have been made is in doubt, and no bill is booked twice."""

import multiprocessing
import os
import random
import threading
import time
from collections import Counter
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from planexec_lite import Decision, Plan, PlannerExecutor, Policy, Pool, Run, Toolbox, ToolExecutor, execute, tool
from planexec_lite.core.tasks import Task
from planexec_lite.events import Requeued, StepFailed, StepInDoubt, StepStarted
from planexec_lite.workers import Report
from planexec_lite.workers import session as sessions
from tests.core import odd_tools
from tests.core.ending import to_its_end
from tests.workers.engines import Cluster


class Bank:
    """Counts what was booked; `slow` seconds a booking."""

    def __init__(self, slow: float = 0.0) -> None:
        self.booked: list[str] = []
        self.slow = slow

    def run(self, executor: Executor, effects: Any, *bills: str, timeout: float | None = None, **policy: Any) -> Run:
        @tool(effects=effects)
        def pay(bill: str) -> str:
            """Pay a bill."""
            self.booked.append(bill)
            time.sleep(self.slow)
            return f"{bill} paid"

        steps = [{"id": bill, "tool": "pay", "params": {"bill": bill}, "timeout": timeout} for bill in bills]
        self.agent = PlannerExecutor(
            None, ToolExecutor(Toolbox([pay])), workers=Pool(executor), policy=Policy(**policy)
        )
        return to_its_end(
            lambda: execute(
                Plan.parse(steps), self.agent.executor, workers=self.agent.workers, policy=self.agent.policy
            )
        )


@pytest.mark.parametrize("effects", ["once", "unknown"])
@pytest.mark.parametrize("repeat", [False, True], ids=["fails", "repeats"])
def test_a_call_whose_worker_died_after_it_began_is_in_doubt(effects: str, repeat: bool) -> None:
    bank = Bank()
    run = bank.run(Cluster({0: "after"}, repeat=repeat), effects, "rent", "gas", retries=3)
    assert bank.booked.count("rent") == 1
    assert (run.status, run.board.state) == ("paused", {"rent": "in doubt", "gas": "done"})
    assert run.board.paused.reason == "doubt"
    done = bank.agent.resume(run, Decision("done", by="Ada", result="paid"))
    assert (done.status, bank.booked.count("rent")) == ("finished", 1)


@pytest.mark.parametrize("effects", ["once", "none"])
def test_a_call_whose_worker_died_before_it_began_is_submitted_again(effects: str) -> None:
    bank = Bank()
    run = bank.run(Cluster({0: "before", 1: "before"}), effects, "rent")
    assert (run.status, bank.booked) == ("finished", ["rent"])
    assert sum(isinstance(event, StepStarted) for event in run.events) == 1


def test_a_call_that_can_be_repeated_is_repeated_four_times_at_most() -> None:
    bank = Bank()
    run = bank.run(Cluster(dict.fromkeys(range(9), "after")), "idempotent", "rent")
    assert (run.status, len(bank.booked)) == ("failed", 4)
    assert "LostWorker" in run.board.errors["rent"]


def test_a_repeatable_call_that_the_executor_itself_repeats_is_made_again() -> None:
    bank = Bank()
    run = bank.run(Cluster({0: "after"}, repeat=True), "none", "rent")
    assert (run.status, len(bank.booked)) == ("finished", 2)


def test_a_timeout_fires_though_the_future_is_never_running() -> None:
    bank = Bank(slow=2.0)
    began = time.perf_counter()
    run = bank.run(Cluster(), "once", "rent", timeout=0.1)
    assert time.perf_counter() - began < 1.5
    assert [event.in_doubt for event in run.events if isinstance(event, StepFailed)] == [True]


def test_at_the_deadline_a_queued_call_is_cancelled_a_begun_one_in_doubt() -> None:
    bank = Bank(slow=1.0)
    run = bank.run(Cluster(hold=(1,)), "once", "rent", "gas", deadline=0.3)
    assert bank.booked == ["rent"]
    assert [event.step for event in run.events if isinstance(event, StepFailed) and event.in_doubt] == ["rent"]
    assert [event.step for event in run.events if isinstance(event, Requeued)] == ["gas"]
    assert run.board.state["gas"] != "running"


def test_an_executor_that_remembers_results_repeats_equal_calls() -> None:
    cluster, bank = Cluster(), Bank()
    for _ in range(2):
        assert bank.run(cluster, "none", "rent").status == "finished"
    assert bank.booked == ["rent", "rent"]


def test_what_is_still_queued_when_the_run_is_left_never_begins() -> None:
    made: list[int] = []
    late: list[Any] = []

    class Later(Cluster):
        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
            late.append(lambda: fn(*args, **kwargs))
            return super().submit(fn, *args, **kwargs)

    with pytest.raises(ZeroDivisionError), Pool(Later(hold=(0,))).open() as session:  # noqa: PT012
        session.start(Task(None, made.append, (1,)))
        raise ZeroDivisionError
    report = late[0]()
    assert made == []
    assert "its run has ended" in report.error


def test_a_worker_that_does_not_share_the_folder_says_what_to_do(tmp_path: Path) -> None:
    work = sessions.Submission("1", frozenset(), os.getpid(), print, (), str(tmp_path / "gone" / "1"))
    assert "Pool(..., permits=folder)" in str(sessions.carry_out(work).error)


def test_a_permit_is_taken_or_withdrawn_never_both(tmp_path: Path) -> None:
    for number in range(200):
        path, won = str(tmp_path / str(number)), []
        both = threading.Barrier(2)

        def take(kind: Any, path: str = path, won: list[bool] = won, both: threading.Barrier = both) -> None:
            both.wait()
            won.append(kind(path))

        threads = [
            threading.Thread(target=take, args=(kind,)) for kind in (sessions.take_permit, sessions.withdraw_permit)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(won) == [False, True]


class AcceptsAndRaises(Cluster):
    """Accepts a call and raises all the same, as a pool that can't start its next thread or process."""

    def __init__(self, problem: Exception) -> None:
        super().__init__()
        self.problem = problem

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        super().submit(fn, *args, **kwargs).result(20)
        raise self.problem


class Foreign(Cluster):
    """Makes the call and returns something else."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        def call(work: Any) -> None:
            fn(work)

        return super().submit(call, *args)


class NoThread(ThreadPoolExecutor):
    """Can't start a second thread."""

    def _adjust_thread_count(self) -> None:
        if self._threads:
            raise RuntimeError("can't start new thread")
        super()._adjust_thread_count()  # type: ignore[misc]


@pytest.mark.parametrize(
    "executor",
    [AcceptsAndRaises(OSError("full")), AcceptsAndRaises(RuntimeError("full")), Foreign(), NoThread(2)],
    ids=["OSError", "RuntimeError", "foreign", "threads"],
)
def test_a_call_that_the_executor_took_and_does_not_report_is_made_once(executor: Any) -> None:
    bank = Bank(slow=0.05)
    plan_of_two = bank.run(executor, "once", "rent", "gas", retries=3)
    time.sleep(0.3)
    assert (plan_of_two.status, sorted(bank.booked)) == ("paused", ["gas", "rent"])


def test_a_permit_that_can_not_be_withdrawn_counts_as_taken(tmp_path: Path) -> None:
    assert not sessions.withdraw_permit(str(tmp_path / "gone" / "1"))


@pytest.mark.parametrize("limit", [{"timeout": 9.0}, {"deadline": 9.0}], ids=str)
def test_a_lost_call_with_a_limit_whose_executor_is_broken_fails(limit: dict[str, Any]) -> None:
    class Breaks(Cluster):
        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
            if self.submitted:
                raise RuntimeError("broken")
            return super().submit(fn, *args, **kwargs)

    bank = Bank()
    run = bank.run(Breaks({0: "before"}), "once", "rent", **limit)
    assert (run.status, run.board.errors, bank.booked) == ("failed", {"rent": "RuntimeError: broken"}, [])


@pytest.mark.slow
def test_a_broken_pool_of_processes_is_replaced(tmp_path: Path) -> None:
    made: list[ProcessPoolExecutor] = []

    def pool() -> ProcessPoolExecutor:
        made.append(ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")))
        return made[-1]

    steps: list[dict[str, Any]] = [
        {"id": "poison", "tool": "dies_once", "params": {"path": str(tmp_path / "died")}},
        *({"id": str(n), "tool": "fine", "params": {"value": n}} for n in range(3)),
    ]
    tools = ToolExecutor(Toolbox([odd_tools.dies_once, odd_tools.fine]))
    try:
        run = to_its_end(lambda: execute(Plan.parse(steps), tools, workers=Pool(pool)))
    finally:
        for one in made:
            one.shutdown()
    assert (run.status, len(made)) == ("finished", 2)


class Queue(Cluster):
    """A queue that outlives the process: a call of a known key is not made again, its future gets the same report."""

    def __init__(self) -> None:
        super().__init__()
        self.keys: dict[str, Report] = {}

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        def call(work: Any) -> Report:
            if work.key not in self.keys:
                self.keys[work.key] = fn(work)
            return self.keys[work.key]

        return super().submit(call, *args)


def test_resume_asks_the_workers_by_key_before_it_doubts() -> None:
    booked: list[str] = []

    @tool(effects="once")
    def pay(bill: str) -> str:
        """Pay a bill."""
        booked.append(bill)
        return f"{bill} paid"

    plan = Plan.parse([{"id": "rent", "tool": "pay", "params": {"bill": "rent"}}])
    queue, executor = Queue(), ToolExecutor(Toolbox([pay]))
    finished = execute(plan, executor, workers=Pool(queue))
    dead = Run()
    dead.uid = finished.uid
    for event in finished.events[:3]:  # its process died while the step was running
        dead.record(event)
    assert dead.board.state == {"rent": "running"}
    doubting = PlannerExecutor(None, executor, workers=Pool(Cluster())).resume(dead)
    assert any(isinstance(event, StepInDoubt) for event in doubting.events)
    resumed = PlannerExecutor(None, executor, workers=Pool(queue)).resume(dead)
    assert (resumed.status, resumed.results, booked) == ("finished", {"rent": "rent paid"}, ["rent"])


class Uncertain(Future[Any]):
    """Says at random whether it runs, and whether it was cancelled."""

    source: random.Random

    def running(self) -> bool:
        return self.source.random() < 0.5

    def cancel(self) -> bool:
        if self.source.random() < 0.2:
            raise OSError("the scheduler does not answer")
        return self.source.random() < 0.5 or super().cancel()


class Liar(Executor):
    def __init__(self, source: random.Random) -> None:
        self.source = source
        self.threads: list[threading.Thread] = []

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future = Uncertain()
        future.source = self.source
        kinds = ["good"] * 3 + ["refused", "raises", "dies before", "dies after", "twice", "at once", "foreign", "late"]
        kind = self.source.choice([*kinds, "never", "early", "lost"])
        if kind == "refused":
            raise self.source.choice([RuntimeError("broken"), OSError("full"), TypeError("can't pickle")])
        worker = threading.Thread(target=self._work, args=(kind, future, lambda: fn(*args)), daemon=True)
        self.threads.append(worker)
        worker.start()
        if kind == "raises":
            raise RuntimeError("can't start another process")
        return future

    def _work(self, kind: str, future: Future[Any], call: Any) -> None:
        if kind == "early":
            future.set_result(None)
        if kind == "late":
            time.sleep(0.3)
        reports = [] if kind == "dies before" else [call() for _ in range(2 if kind == "twice" else 1)]
        if kind == "at once":
            both = [threading.Thread(target=lambda: reports.append(call())) for _ in range(2)]
            for one in both:
                one.start()
            for one in both:
                one.join()
        foreign = self.source.choice([None, 7, {"value": 1}, object()])
        lies = {"foreign": foreign, "lost": Report(error="lost", lost=True)}
        if kind in ("dies before", "dies after"):
            future.set_exception(self.source.choice([RuntimeError("the worker died"), KeyboardInterrupt()]))
        elif kind not in ("early", "never") and future.set_running_or_notify_cancel():
            future.set_result(lies.get(kind, reports[-1]))


@pytest.mark.slow
@pytest.mark.parametrize("effects", ["once", "unknown"])
@pytest.mark.parametrize("seed", range(8))
def test_no_bill_is_booked_twice(tmp_path: Path, seed: int, effects: Any) -> None:
    source, ledger = random.Random(seed), tmp_path / "ledger"
    ledger.touch()

    @tool(effects=effects)
    def book(bill: str) -> str:
        """Book a bill."""
        with ledger.open("a") as file:
            file.write(f"{bill}\n")
        return bill

    timeouts = [source.choice([None, None, 0.05]) for _ in range(5)]
    steps = [{"id": f"b{n}", "tool": "book", "params": {"bill": f"b{n}"}, "timeout": t} for n, t in enumerate(timeouts)]
    liar, policy = Liar(source), Policy(retries=source.randrange(4), deadline=source.choice([0.2, 0.6]))
    agent = PlannerExecutor(None, ToolExecutor(Toolbox([book])), workers=Pool(liar), policy=policy)
    run = to_its_end(lambda: execute(Plan.parse(steps), agent.executor, workers=agent.workers, policy=policy))
    while run.board.paused is not None:
        for one in liar.threads:  # a person who decides has made sure that no worker still runs
            one.join(20)
        bill = str(run.board.paused.step)
        done = bill in ledger.read_text().split()
        decision = Decision("done", by="Ada", result=bill) if done else Decision("not done", by="Ada")
        run = to_its_end(lambda run=run, decision=decision: agent.resume(run, decision))  # type: ignore[misc]
    for one in liar.threads:
        one.join(20)
    assert max(Counter(ledger.read_text().split()).values(), default=0) <= 1
