"""Lost workers and executors with wrong reports: a call that might have been made is in doubt, and no bill is booked twice."""

import multiprocessing
import pickle
import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from planexec_lab import cluster
from planexec_lab.cluster import ClusterPool, Permit, PermittedCall
from planexec_lite import Decision, Policy, Pool, Run, tool
from planexec_lite.core.tasks import Task
from planexec_lite.run.events import Requeued, StepFailed, StepInDoubt, StepStarted
from planexec_lite.workers import Report
from planexec_lite.workers import session as sessions
from tests.core.agents import agent_for, carry_out
from tests.core.ending import to_its_end
from tests.core.shapes import step


class LostWorker(Exception):
    """The engine gives up a call, because its worker died."""


class Cluster(Executor):
    """Runs each call on a new thread; its futures are never running and can always be cancelled.

    `lose`: the calls, by number, whose worker dies "before" or "after" them; with `repeat` another worker makes them again.
    `hold`: the calls that stay in a queue. `remember`: equal arguments get the first result, as Dask's ``pure=True`` does.
    """

    def __init__(
        self,
        lose: dict[int, str] | None = None,
        *,
        repeat: bool = False,
        hold: tuple[int, ...] = (),
        remember: bool = True,
    ) -> None:
        self.lose, self.repeat, self.hold, self.remember = dict(lose or {}), repeat, hold, remember
        self.submitted = 0
        self.results: dict[Any, Future[Any]] = {}

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        number, self.submitted = self.submitted, self.submitted + 1
        same = getattr(args[0], "__dask_tokenize__", lambda: number)()
        if self.remember and same in self.results:
            return self.results[same]
        future = self.results[same] = Future()
        if number not in self.hold:
            threading.Thread(target=self._run, args=(number, future, lambda: fn(*args, **kwargs)), daemon=True).start()
        return future

    def _run(self, number: int, future: Future[Any], call: Callable[[], Any]) -> None:
        dies = self.lose.get(number)
        if dies == "after":
            call()
        if dies is not None and not self.repeat:
            end(future, LostWorker("the worker died"))
            return
        end(future, call())


def end(future: Future[Any], outcome: Any) -> None:
    """Give the future its outcome, unless it was cancelled."""
    time.sleep(0.001)
    if future.set_running_or_notify_cancel():
        if isinstance(outcome, Exception):
            future.set_exception(outcome)
        else:
            future.set_result(outcome)


class Bank:
    """Counts what was booked; `slow` seconds a booking."""

    def __init__(self, slow: float = 0.0) -> None:
        self.booked: list[str] = []
        self.slow = slow

    def run(self, executor: Executor, effects: Any, *bills: str, timeout: float | None = None, **policy: Any) -> Run:
        @tool(effects=effects)
        def pay(bill: str) -> str:
            self.booked.append(bill)
            time.sleep(self.slow)
            return f"{bill} paid"

        steps = [step(bill, "pay", bill=bill, timeout=timeout) for bill in bills]
        self.agent = agent_for([pay], workers=ClusterPool(executor), **policy)
        return to_its_end(lambda: carry_out(steps, [pay], ClusterPool(executor), **policy))


@pytest.mark.parametrize("effects", ["once", "unknown"])
@pytest.mark.parametrize("repeat", [False, True], ids=["fails", "repeats"])
def test_a_call_whose_worker_died_after_it_began_is_in_doubt(effects: str, repeat: bool) -> None:
    bank = Bank()
    run = bank.run(Cluster({0: "after"}, repeat=repeat), effects, "rent", "gas", retries=3)
    assert bank.booked.count("rent") == 1
    assert (run.status, run.board.state) == ("paused", {"rent": "in doubt", "gas": "done"})
    assert run.board.paused is not None
    assert run.board.paused.reason == "doubt"
    done = bank.agent.resume(run, Decision("done", by="Ada", result="paid"))
    assert (done.status, bank.booked.count("rent")) == ("finished", 1)


@pytest.mark.parametrize(
    ("lose", "repeat", "effects", "booked", "status"),
    [
        ({0: "before", 1: "before"}, False, "once", 1, "finished"),
        ({0: "before", 1: "before"}, False, "none", 1, "finished"),
        (dict.fromkeys(range(9), "after"), False, "idempotent", 4, "failed"),
        ({0: "after"}, True, "none", 2, "finished"),
    ],
)
def test_a_call_is_submitted_again_if_it_did_not_begin_or_is_repeatable(
    lose: Any, repeat: bool, effects: str, booked: int, status: str
) -> None:
    bank = Bank()
    run = bank.run(Cluster(lose, repeat=repeat), effects, "rent")
    assert (run.status, len(bank.booked)) == (status, booked)
    assert sum(isinstance(event, StepStarted) for event in run.events) == 1
    assert status == "finished" or "LostWorker" in run.board.errors["rent"]


def test_a_timeout_needs_no_running_future() -> None:
    run = Bank(slow=1.0).run(Cluster(), "once", "rent", timeout=0.1)
    assert [event.in_doubt for event in run.events if isinstance(event, StepFailed)] == [True]


def test_at_the_deadline_a_queued_call_is_cancelled_and_a_running_one_in_doubt() -> None:
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


def test_a_queued_call_does_not_begin_after_the_run_was_left() -> None:
    made: list[int] = []
    late: list[Any] = []

    class Later(Cluster):
        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
            late.append(lambda: fn(*args, **kwargs))
            return super().submit(fn, *args, **kwargs)

    with pytest.raises(ZeroDivisionError), ClusterPool(Later(hold=(0,))).open() as session:  # noqa: PT012
        session.start(Task(None, made.append, (1,)))
        raise ZeroDivisionError
    report = late[0]()
    assert made == []
    assert "its run has ended" in report.error


def test_a_worker_that_does_not_share_the_folder_names_the_fix(tmp_path: Path) -> None:
    permit = Permit(str(tmp_path / "gone" / "1"))
    work = PermittedCall(cluster.Submission(print, ()), permit)
    assert "ClusterPool(..., permits=folder)" in str(cluster.carry_out_permitted(work).error)
    assert not permit.withdraw(), "it counts as taken"


def test_a_permit_is_taken_or_withdrawn_never_both(tmp_path: Path) -> None:
    both = threading.Barrier(2)

    def take(kind: Any, permit: Permit) -> Any:
        both.wait()
        return kind(permit)

    with ThreadPoolExecutor(2) as threads:
        for number in range(200):
            permit = Permit(str(tmp_path / str(number)))
            kinds = Permit.take, Permit.withdraw
            won = [threads.submit(take, kind, permit) for kind in kinds]
            assert sorted(one.result() for one in won) == [False, True]


class AcceptsAndRaises(Cluster):
    """Accepts a call and raises an error, like a pool that can't start its next thread or process."""

    def __init__(self, problem: Exception) -> None:
        super().__init__()
        self.problem = problem

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        super().submit(fn, *args, **kwargs).result(20)
        raise self.problem


FULL = [OSError("full"), RuntimeError("full"), RuntimeError("can't start new thread")]


@pytest.mark.parametrize("problem", FULL, ids=repr)
def test_a_call_that_the_executor_accepts_without_a_report_is_made_once(problem: Exception) -> None:
    bank = Bank(slow=0.05)
    run = bank.run(AcceptsAndRaises(problem), "once", "rent", "gas", retries=3)
    time.sleep(0.3)
    assert (run.status, sorted(bank.booked)) == ("paused", ["gas", "rent"])


@pytest.mark.parametrize("limit", [{"timeout": 9.0}, {"deadline": 9.0}], ids=str)
def test_a_lost_call_of_a_broken_executor_fails(limit: dict[str, Any]) -> None:
    class Breaks(Cluster):
        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
            if self.submitted:
                raise RuntimeError("broken")
            return super().submit(fn, *args, **kwargs)

    bank = Bank()
    run = bank.run(Breaks({0: "before"}), "once", "rent", **limit)
    assert (run.status, run.board.errors, bank.booked) == ("failed", {"rent": "RuntimeError: broken"}, [])


@pytest.mark.parametrize("kind", [Cluster, Executor])
def test_a_pool_of_threads_and_processes_refuses_a_cluster_and_names_the_fix(kind: type[Executor]) -> None:
    with pytest.raises(TypeError, match=r"planexec_lab.cluster.ClusterPool\(executor\)"):
        Pool(kind())


class Queue(Cluster):
    """A queue that outlives the process: a call with a known key gets the recorded report."""

    def __init__(self) -> None:
        super().__init__()
        self.keys: dict[str, Report] = {}

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        def call(work: Any) -> Report:
            if work.key not in self.keys:
                self.keys[work.key] = fn(work)
            return self.keys[work.key]

        return super().submit(call, *args)


def test_resume_asks_the_workers_by_key_before_a_step_is_in_doubt() -> None:
    booked: list[str] = []

    @tool(effects="once")
    def pay(bill: str) -> str:
        booked.append(bill)
        return f"{bill} paid"

    queue = Queue()
    finished = carry_out([step("rent", "pay", bill="rent")], [pay], ClusterPool(queue))
    dead = Run()
    dead.uid = finished.uid
    for event in finished.events[:3]:  # its process died while the step was running
        dead.record(event)
    assert dead.board.state == {"rent": "running"}
    doubted = agent_for([pay], workers=ClusterPool(Cluster())).resume(dead)
    assert any(isinstance(event, StepInDoubt) for event in doubted.events)
    resumed = agent_for([pay], workers=ClusterPool(queue)).resume(dead)
    assert (resumed.status, resumed.results, booked) == ("finished", {"rent": "rent paid"}, ["rent"])


@pytest.mark.parametrize("alive", [True, False])
def test_a_step_in_the_queue_of_a_dead_process_does_not_start(alive: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    class Parent:
        def is_alive(self) -> bool:
            return alive

    monkeypatch.setattr(multiprocessing, "parent_process", Parent)
    report = sessions.carry_out_pickled(pickle.dumps((int, ("7",), frozenset())))
    dead = "RuntimeError: not called: the process that submitted it is dead"
    assert (report.value, report.error) == ((None, dead) if alive is False else (7, None))


def test_a_future_whose_cancel_raises_does_not_end_the_run() -> None:
    class Silent(Cluster):
        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
            future = super().submit(fn, *args, **kwargs)
            future.cancel = lambda: 1 / 0  # type: ignore[method-assign,assignment,return-value]
            return future

    run = Bank().run(Silent(hold=(0,)), "once", "rent", deadline=0.2)
    assert (run.status, run.board.state) == ("stopped", {"rent": "waiting"})


class Uncertain(Future[Any]):
    """A future with random answers about whether it runs or was cancelled."""

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
        with ledger.open("a") as file:
            file.write(f"{bill}\n")
        return bill

    timeouts = [source.choice([None, None, 0.05]) for _ in range(5)]
    steps = [step(f"b{n}", "book", bill=f"b{n}", timeout=timeout) for n, timeout in enumerate(timeouts)]
    liar, policy = Liar(source), Policy(retries=source.randrange(4), deadline=source.choice([0.2, 0.6]))
    agent = agent_for([book], workers=ClusterPool(liar), policy=policy)
    run = to_its_end(lambda: carry_out(steps, [book], ClusterPool(liar), policy=policy))
    while run.board.paused is not None:
        for one in liar.threads:  # before deciding, a person checks that no worker still runs
            one.join(20)
        bill = str(run.board.paused.step)
        done = bill in ledger.read_text().split()
        decision = Decision("done", by="Ada", result=bill) if done else Decision("not done", by="Ada")
        run = to_its_end(lambda run=run, decision=decision: agent.resume(run, decision))  # type: ignore[misc]
    for one in liar.threads:
        one.join(20)
    assert max(Counter(ledger.read_text().split()).values(), default=0) <= 1
