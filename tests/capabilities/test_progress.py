"""A tool reports its progress; the board knows it while the step runs, and the run keeps it."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import pytest

from planexec_lite import Inline, Pool, Run, Simulated, Toolbox, progress, tool
from planexec_lite.capabilities.progress import Progress
from planexec_lite.events import StepProgress
from planexec_lite.meter import charge
from tests.capabilities.scaffold import carry_out
from tests.core.shapes import step


@tool(effects="none")
def copy() -> str:
    for percent in (25, 50, 100):
        charge(1.0)
        progress(percent)
    return "copied"


COPY = Toolbox([copy])


def percents(run: Run) -> list[tuple[str, float]]:
    return [(event.step, event.percent) for event in run.events if isinstance(event, StepProgress)]


@pytest.mark.parametrize("workers", [Inline(), Simulated()])
def test_every_percentage_is_seen_and_in_the_run_and_none_is_left(workers: Any) -> None:
    seen: list[tuple[float, dict[str, float]]] = []

    def watch(run: Run) -> None:
        seen.append((run.board.now, dict(run.board[Progress].percent)))

    run = carry_out([step("1", "copy"), step("2", "copy", "1")], COPY, workers, watch=watch)
    assert percents(run) == [(id, percent) for id in "12" for percent in (25, 50, 100)]
    assert run.board[Progress].percent == {}
    if isinstance(workers, Simulated):
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
        run = carry_out([step("1", "slow")], Toolbox([slow]), Pool(threads), watch=watch)
    assert run.results == {"1": True}


def test_what_comes_after_the_timeout_is_not_the_progress_of_the_next_attempt() -> None:
    assert percents(carry_out([step("1", "copy", timeout=1.5, retries=1)], COPY)) == [("1", 25), ("1", 25)]


@pytest.mark.parametrize("percent", [-1, 101, True, float("nan")])
def test_a_percentage_is_from_0_to_100(percent: Any) -> None:
    progress(50)  # outside a step nobody listens
    with pytest.raises(ValueError, match="a number from 0 to 100"):
        progress(percent)
