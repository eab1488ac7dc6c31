"""A real Dask cluster behind `Pool`; skipped where `dask.distributed` is not installed (extra `dask`)."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from planexec_lite import Plan, Pool, Toolbox, ToolExecutor, execute
from planexec_lite.events import StepInDoubt
from tests.core import odd_tools

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


def test_equal_calls_of_two_runs_are_both_made(client: Any, tmp_path: Path) -> None:
    book = tmp_path / "booked"
    steps = [{"id": n, "tool": "books", "params": {"path": str(book), "bill": "30 euros"}} for n in (1, 2)]
    for _ in range(2):
        run = execute(Plan.parse(steps), TOOLS, workers=Pool(client.get_executor()))
        assert run.status == "finished"
    assert len(lines(book)) == 4


def test_a_timeout_fires_while_the_step_runs(client: Any) -> None:
    plan = Plan.parse([{"id": 1, "tool": "waits", "params": {"seconds": 3}, "timeout": 0.3}])
    began = time.perf_counter()
    run = execute(plan, TOOLS, workers=Pool(client.get_executor()))
    assert (run.status, run.board.state) == ("failed", {"1": "failed"})
    assert time.perf_counter() - began < 2.5
    time.sleep(3)  # the worker is free again


def test_a_killed_worker_leaves_its_booking_in_doubt_the_rest_is_done(client: Any, tmp_path: Path) -> None:
    book = tmp_path / "booked"
    slow = {"id": "slow", "tool": "books", "params": {"path": str(book), "bill": "slow", "seconds": 5}}
    others = [{"id": n, "tool": "fine", "params": {"value": n}} for n in range(6)]

    def watch(run: Any) -> None:
        if not watched and any(event.step == "0" for event in run.events if hasattr(event, "result")):
            watched.append(1)
            os.kill(int(lines(book)[0].split()[0]), signal.SIGKILL)

    watched: list[int] = []
    run = execute(Plan.parse([slow, *others]), TOOLS, workers=Pool(client.get_executor()), watch=watch)
    assert (len(lines(book)), run.status) == (1, "paused")
    assert [event.step for event in run.events if isinstance(event, StepInDoubt)] == ["slow"]
    assert {run.board.state[str(n)] for n in range(6)} == {"done"}
