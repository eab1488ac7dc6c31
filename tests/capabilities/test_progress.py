"""A tool reports its progress; the board knows it while the step runs, and the run keeps it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import pytest

from planexec_lite import Inline, Plan, Pool, Run, Simulated, Toolbox, ToolExecutor, execute, progress, tool
from planexec_lite.capabilities.progress import Progress
from planexec_lite.events import StepProgress
from planexec_lite.meter import charge
from tests.core.shapes import check_fold, step

PLAN = Plan.parse([step("1", "copy"), step("2", "copy", "1")])


@tool(effects="none")
def copy() -> str:
    for percent in (25, 50, 100):
        charge(1.0)
        progress(percent)
    return "copied"


def percents(run: Run) -> list[tuple[str, float]]:
    return [(event.step, event.percent) for event in run.events if isinstance(event, StepProgress)]


@pytest.mark.parametrize("workers", [Inline(), Simulated()])
def test_every_percentage_is_in_the_run_and_none_is_left_on_the_board(workers: Any) -> None:
    run = execute(PLAN, ToolExecutor(Toolbox([copy])), workers=workers)
    assert percents(run) == [(id, percent) for id in "12" for percent in (25, 50, 100)]
    assert run.board[Progress].percent == {}
    check_fold(run)


def test_on_a_virtual_clock_it_comes_at_its_time_and_is_seen_then() -> None:
    seen: list[tuple[float, dict[str, float]]] = []

    def watch(run: Run) -> None:
        seen.append((run.board.now, dict(run.board[Progress].percent)))

    execute(PLAN, ToolExecutor(Toolbox([copy])), workers=Simulated(), watch=watch)
    assert (1.0, {"1": 25}) in seen
    assert (5.0, {"2": 50}) in seen


def test_on_threads_it_is_heard_while_the_step_runs() -> None:
    heard = Event()

    @tool(effects="none")
    def slow() -> bool:
        progress(40)
        return heard.wait(20)

    def watch(run: Run) -> None:
        if run.board[Progress].percent == {"1": 40}:
            heard.set()

    with ThreadPoolExecutor(1) as threads:
        plan = Plan.parse([step("1", "slow")])
        run = execute(plan, ToolExecutor(Toolbox([slow])), workers=Pool(threads), watch=watch)
    assert run.results == {"1": True}


def test_what_comes_after_the_timeout_is_not_the_progress_of_the_next_attempt() -> None:
    plan = Plan.parse([step("1", "copy") | {"timeout": 1.5, "retries": 1}])
    run = execute(plan, ToolExecutor(Toolbox([copy])), workers=Simulated())
    assert percents(run) == [("1", 25), ("1", 25)]


@pytest.mark.parametrize("percent", [-1, 101, True, float("nan")])
def test_a_percentage_is_from_0_to_100(percent: Any) -> None:
    progress(50)  # outside a step nobody listens
    with pytest.raises(ValueError, match="a number from 0 to 100"):
        progress(percent)
