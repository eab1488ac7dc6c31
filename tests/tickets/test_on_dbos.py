"""The same tickets on DBOS; skipped where it is not installed (extra `dbos`)."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from threading import Thread

import pytest

from planexec_lab.tickets import desk
from planexec_lite import PlannerExecutor, Pool, Run, ToolExecutor, execute
from tests.core.ending import to_its_end

pytest.importorskip("dbos")
pytestmark = [pytest.mark.weekly, pytest.mark.filterwarnings("ignore")]
EXECUTOR = ToolExecutor(desk.TOOLS)


def executor(file: Path, name: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-m", "planexec_lab.tickets.on_dbos", str(file), name])


def wait_for(path: Path) -> None:
    until = time.monotonic() + 30
    while not path.exists():
        assert time.monotonic() < until
        time.sleep(0.01)


def test_an_executor_dies_another_takes_over_and_a_driver_attaches(tmp_path: Path) -> None:
    from planexec_lab.tickets.on_dbos import Tickets, pulse

    file, ledger = tmp_path / "tickets.db", tmp_path / "ledger"
    tickets = Tickets(str(file))

    def replace() -> None:
        wait_for(ledger)
        executors[0].kill()
        executors.append(executor(file, "second"))

    executors = [executor(file, "first")]
    with executors[0]:
        wait_for(pulse(str(file), "first"))  # the tables are there
        replacing = Thread(target=replace)
        replacing.start()
        try:
            plan = desk.plan_for(["rent", "gas"], ledger, seconds=1.0)
            run = to_its_end(lambda: execute(plan, EXECUTOR, workers=Pool(tickets)), 600)
            replacing.join()
            assert sorted(line.split()[0] for line in ledger.read_text().splitlines()) == ["gas", "rent"]
            assert run.status == "paused"
            assert sorted(run.board.state.values()) == ["done", "done", "done", "in doubt"]
            finished = execute(desk.plan_for(["tax"], ledger), EXECUTOR, workers=Pool(tickets))
        finally:
            tickets.shutdown()
            for one in executors:
                one.kill()
                one.wait()
    dead = Run()
    dead.uid = finished.uid
    for event in finished.events[:-2]:  # the booking is running, and done, and its driver is dead
        dead.record(event)
    again = Tickets(str(file))
    resumed = PlannerExecutor(None, EXECUTOR, workers=Pool(again)).resume(dead)
    again.shutdown()
    assert (resumed.results, ledger.read_text().count("tax")) == (finished.results, 1)
