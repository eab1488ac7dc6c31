"""Executors that lie at random: they lose, repeat, delay and deny calls, and return foreign values. No bill is booked twice."""

import random
import threading
import time
from collections import Counter
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import pytest

from planexec_lite import Decision, Plan, PlannerExecutor, Policy, Pool, Toolbox, ToolExecutor, execute, tool
from planexec_lite.workers import Report
from tests.core.ending import to_its_end


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
