"""The story of a step, and the board that checks itself."""

from __future__ import annotations

import pytest

from planexec_lite import Backoff, Plan, Policy, Simulated, Toolbox, ToolExecutor, execute, tool
from planexec_lite.core import IllegalTransition
from planexec_lite.events import RunStarted, StepDone, StepStarted
from tests.core.shapes import Checked, step

STORY = """\
step 1: search(name='wind')
  0 s  step started: attempts 2
  2 s  step failed: error OSError: no answer, seconds 2.0
  2 s  backoff started: seconds 1.0
  3 s  backoff ended: seconds 1.0
  3 s  step started: attempt 2, attempts 2
  5 s  step done: result wind, seconds 2.0
  it is done"""


def test_it_tells_everything_that_happened_to_one_step() -> None:
    calls: list[str] = []

    @tool(effects="none", latency=2.0)
    def search(name: str) -> str:
        calls.append(name)
        if len(calls) == 1:
            raise OSError("no answer")
        return name

    plan = Plan.parse([step("1", "search", name="wind") | {"retries": 1}, step("2", "search", "1", name="sun")])
    policy = Policy(backoff=Backoff(jitter=0))
    run = execute(plan, ToolExecutor(Toolbox([search])), workers=Simulated(), policy=policy)
    assert run.story("1") == STORY
    assert run.story(2).startswith("step 2: search(name='sun')\n  5 s  step started\n")
    with pytest.raises(ValueError, match="there is no step 7; there are: 1, 2"):
        run.story(7)


def test_a_board_that_validates_notices_a_fold_that_is_wrong() -> None:
    board = Checked.of([RunStarted(0.0, "x", True, False)])
    board.adopt(Plan.parse([step("1", "search"), step("2", "search")]))
    board.apply(StepStarted(0.0, "1"))
    with pytest.raises(IllegalTransition):
        board.apply(StepDone(1.0, "2", 1))
    board.results["2"] = "out of nowhere"
    with pytest.raises(AssertionError, match="step 2 has a result, and is waiting"):
        board.apply(StepDone(1.0, "1", 1))
