"""The same tickets on DBOS. `test_elsewhere` runs these tests with its packages; they are skipped where they are missing."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from elsewhere.tickets import desk
from planexec_lab.cluster import ClusterPool, Submission, carry_out
from planexec_lite import Decision, PlannerExecutor, Run, ToolExecutor, execute
from tests.core.ending import to_its_end
from tests.elsewhere import kills

pytest.importorskip("dbos")
pytestmark = [pytest.mark.weekly, pytest.mark.filterwarnings("ignore")]
EXECUTOR = ToolExecutor(desk.TOOLS)


def executor(file: Path, name: str, *tools: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-m", "elsewhere.dbos_tickets", str(file), name, *tools])


def wait_for(condition: Callable[[], Any]) -> None:
    until = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.01)


@contextmanager
def running(file: Path, *names: tuple[str, ...]) -> Iterator[tuple[Any, list[subprocess.Popen[bytes]]]]:
    """Executors with these names and tools, and the tickets; the list of executors can grow."""
    from elsewhere.dbos_tickets import Tickets, pulse

    executors = [executor(file, *name) for name in names]
    try:
        for name in names:
            wait_for(pulse(str(file), name[0]).exists)  # the tables are there
        tickets = Tickets(str(file))
        try:
            yield tickets, executors
        finally:
            tickets.shutdown()
    finally:
        for one in executors:
            one.kill()
            one.wait()


def test_an_executor_dies_another_takes_over_and_a_driver_attaches(tmp_path: Path) -> None:
    file, ledger = tmp_path / "tickets.db", tmp_path / "ledger"

    with running(file, ("first",)) as (tickets, executors):

        def replace() -> None:
            wait_for(ledger.exists)
            executors[0].kill()
            executors.append(executor(file, "second"))

        replacing = Thread(target=replace)
        replacing.start()
        plan = desk.plan_for(["rent", "gas"], ledger, seconds=1.0)
        run = to_its_end(lambda: execute(plan, EXECUTOR, workers=ClusterPool(tickets)), 600)
        replacing.join()
        assert (run.status, run.board.state["book-rent"]) == ("paused", "in doubt")
        done = Decision("done", by="Ada", result="rent: 4 euros booked")
        run = PlannerExecutor(None, EXECUTOR, workers=ClusterPool(tickets)).resume(run, done)
        assert (run.status, sorted(kills.booked(ledger))) == ("finished", ["gas 3", "rent 4"])
        finished = execute(desk.plan_for(["tax"], ledger), EXECUTOR, workers=ClusterPool(tickets))
        dead = Run()
        dead.uid = finished.uid
        for event in finished.events[:-2]:  # the booking is running, and done, and its driver is dead
            dead.record(event)
        resumed = PlannerExecutor(None, EXECUTOR, workers=ClusterPool(tickets)).resume(dead)
    assert (resumed.results, ledger.read_text().count("tax")) == (finished.results, 1)


def test_two_executors_take_the_tickets_of_their_roles(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    with running(tmp_path / "tickets.db", ("reader", "read_bill"), ("clerk", "book")) as (tickets, _):
        run = to_its_end(
            lambda: execute(desk.plan_for(["rent", "gas"], ledger), EXECUTOR, workers=ClusterPool(tickets)), 200
        )
        took = {(one.queue_name, one.executor_id) for one in tickets._client.list_workflows(load_input=False)}
    assert (run.status, took) == ("finished", {("read_bill", "reader"), ("book", "clerk")})


def test_a_cancelled_ticket_keeps_no_run_waiting(tmp_path: Path) -> None:
    file, ledger = tmp_path / "tickets.db", tmp_path / "ledger"
    with running(file, ("reader", "read_bill")) as (tickets, executors):
        work = Submission(int, ("7",))
        stubborn = tickets.submit(carry_out, work)
        assert not stubborn.cancel()

        def waiting() -> list[Any]:
            return [one for one in tickets._client.list_workflows(load_input=False) if one.queue_name == "book"]

        def cancel() -> None:
            wait_for(waiting)
            tickets._client.cancel_workflow(waiting()[0].workflow_id)

        cancelling = Thread(target=cancel)
        cancelling.start()
        run = to_its_end(lambda: execute(desk.plan_for(["rent"], ledger), EXECUTOR, workers=ClusterPool(tickets)), 200)
        cancelling.join()
        executors.append(executor(file, "clerk"))
        assert stubborn.result(60).value == 7
        assert (run.status, run.board.state["book-rent"]) == ("paused", "in doubt")
        assert len(kills.booked(ledger)) <= 1
    waits = Submission(int, ("7",))
    with pytest.raises(RuntimeError, match="after a shutdown"):
        tickets.submit(carry_out, waits)


@pytest.mark.parametrize("seed", range(3))
def test_twenty_killed_executors_change_no_result(tmp_path: Path, seed: int) -> None:
    file = tmp_path / "tickets.db"
    start = kills.command("elsewhere.dbos_tickets", file)
    with running(file, ("waiter", "no tool")) as (tickets, _), kills.executors(start) as kill:
        print(kills.survives(kill, tickets, tmp_path, seed))
