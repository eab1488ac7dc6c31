"""A real Dask cluster behind `Pool`: its workers, its scheduler and its driver die.

`tests/elsewhere/test_elsewhere.py` runs these tests with its package (extra `dask`); they are skipped where it is missing.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from elsewhere.tickets import Handles, desk
from planexec_lab.cluster import ClusterPool
from planexec_lite import Decision, Journal, Plan, PlannerExecutor, Toolbox, ToolExecutor, execute
from tests.core import odd_tools
from tests.core.ending import to_its_end
from tests.elsewhere import kills

distributed = pytest.importorskip("dask.distributed")
pytestmark = [pytest.mark.weekly, pytest.mark.filterwarnings("ignore")]
TOOLS = ToolExecutor(Toolbox([odd_tools.fine, odd_tools.books, odd_tools.waits]))


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines()


@contextmanager
def cluster(allowed_failures: int) -> Iterator[tuple[Any, Any]]:
    import dask

    names = {
        "distributed.scheduler.allowed-failures": allowed_failures,
        "distributed.deploy.lost-worker-timeout": "1h",  # with 15 s, its default, a killed worker is perhaps not replaced
    }
    how: Any = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with dask.config.set(names), distributed.LocalCluster(**how) as cluster, distributed.Client(cluster) as client:
        yield cluster, client


@contextmanager
def apart() -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Start a scheduler and a worker in new processes; return the scheduler's address and its process."""
    quiet: Any = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    address = f"tcp://127.0.0.1:{20_000 + os.getpid() % 20_000}"
    cli = [sys.executable, "-m"]
    scheduler = subprocess.Popen([*cli, "distributed.cli.dask_scheduler", "--host", address, "--no-dashboard"], **quiet)
    worker = subprocess.Popen(
        [*cli, "distributed.cli.dask_worker", address, "--nthreads", "1", "--no-dashboard"], **quiet
    )
    try:
        yield address, scheduler
    finally:
        for one in worker, scheduler:
            one.terminate()
            one.wait(30)


def wait_for(condition: Callable[[], Any]) -> None:
    until = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.02)


@pytest.mark.parametrize("seed", range(3))
def test_twenty_killed_workers_change_no_result(tmp_path: Path, seed: int) -> None:
    def kill(place: int) -> None:
        wait_for(lambda: nannies.workers[place].pid)
        os.kill(nannies.workers[place].pid, signal.SIGKILL)

    with cluster(allowed_failures=100) as (nannies, client):
        print(kills.survives(kill, client.get_executor(), tmp_path, seed, seconds=1.5))


def test_the_scheduler_dies_and_the_booking_is_in_doubt(tmp_path: Path) -> None:
    book = tmp_path / "booked"
    steps = [
        {"id": "slow", "tool": "books", "params": {"path": str(book), "bill": "slow", "seconds": 3}},
        {"id": "next", "tool": "fine", "params": {"value": 1}, "depends_on": ["slow"]},
    ]
    with apart() as (address, scheduler), distributed.Client(address, timeout=30) as client:

        def kill() -> None:
            wait_for(book.exists)
            scheduler.kill()

        killer = Thread(target=kill)
        killer.start()
        run = to_its_end(lambda: execute(Plan.parse(steps), TOOLS, workers=ClusterPool(client.get_executor())), 120)
        killer.join()
    assert (run.status, run.board.state) == ("paused", {"slow": "in doubt", "next": "waiting"})
    assert len(lines(book)) == 1


DRIVER = """
import sys
from distributed import Client
from planexec_lab.cluster import ClusterPool
from elsewhere.tickets import desk
from planexec_lite import Journal, ToolExecutor, execute

address, ledger, journal = sys.argv[1:]
workers = ClusterPool(Client(address, timeout=30).get_executor())
execute(desk.plan_for(["rent"], ledger, 3.0), ToolExecutor(desk.TOOLS), workers=workers, journal=Journal(journal))
"""


def test_the_driver_dies_and_a_resumed_run_asks(tmp_path: Path) -> None:
    ledger, journal = tmp_path / "ledger", tmp_path / "journal.db"
    with apart() as (address, _):
        driver = subprocess.Popen([sys.executable, "-c", DRIVER, address, str(ledger), str(journal)])
        wait_for(ledger.exists)
        driver.kill()
        driver.wait()
        with distributed.Client(address, timeout=30) as client:
            pool = ClusterPool(client.get_executor())
            agent = PlannerExecutor(None, ToolExecutor(desk.TOOLS), workers=pool, journal=Journal(journal))
            run = agent.resume(Journal(journal).load(1))
            assert (run.status, run.board.state["book-rent"]) == ("paused", "in doubt")
            done = agent.resume(run, Decision("done", by="Ada", result="rent: 4 euros booked"))
    assert (done.status, ledger.read_text()) == ("finished", "rent 4\n")


def test_a_big_result_stays_in_the_memory_of_the_workers(client: Any, tmp_path: Path) -> None:
    from elsewhere.dask_memory import DaskMemory

    with closing(Handles(TOOLS, DaskMemory(), above=0)) as executor:
        steps = [{"id": 1, "tool": "fine", "params": {"value": 4}}]
        steps += [{"id": 2, "tool": "fine", "params": {"value": "{step_1_result}"}, "depends_on": [1]}]
        run = execute(Plan.parse(steps), executor, workers=ClusterPool(client.get_executor()))
        assert [executor.value(run.results[id]) for id in ("1", "2")] == [8, 16]
        assert len(executor.store) == 2
    assert list(DaskMemory()) == []
