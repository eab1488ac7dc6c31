"""The results, the answer and the story of a run, and the public names."""

from __future__ import annotations

import json
from enum import IntEnum
from typing import Any

import pytest

import planexec_lite
from planexec_lite import Backoff, Board, Plan, Policy, Run, Simulated, Tool, Toolbox, ToolExecutor, execute
from planexec_lite.core import IllegalTransition
from planexec_lite.events import RunStarted, StepDone, StepStarted, from_dict, to_dict
from tests.core.shapes import Checked, step


def test_all_public_names_are_there_and_documented() -> None:
    assert sorted(planexec_lite.__all__) == planexec_lite.__all__
    assert [name for name in planexec_lite.__all__ if not getattr(planexec_lite, name).__doc__] == []


def give(value: Any) -> Any:
    """Give something."""
    return value


def done(source: Any) -> Run:
    return execute(Plan.parse(source), ToolExecutor(Toolbox([Tool(give, effects="none")])), workers=Simulated())


def made(value: Any) -> Run:
    """A run with a step that returns this value."""
    tools = Toolbox([Tool(lambda: value, name="odd", effects="none")])
    return execute(Plan.parse([step("1", "odd")]), ToolExecutor(tools), workers=Simulated())


FOUR = [step("1", "give", value=4)]
ANSWERS: dict[str, tuple[Any, Any]] = {
    "the only last step": ([*FOUR, step("2", "give", "1", value=["{step_1_result}"])], [4]),
    "two last steps": ([*FOUR, step("2", "give", value=5)], None),
    "a text": ({"steps": FOUR, "answer": "It is {step_1_result}."}, "It is 4."),
    "a reference": ({"steps": FOUR, "answer": "{step_1_result}"}, 4),
    "a step without a tool": (
        [{"id": 1, "description": "think"}, {"id": 2, "input": "{step_1_result}!", "depends_on": [1]}],
        "think!",
    ),
}


@pytest.mark.parametrize("kind", ANSWERS)
def test_the_answer_is_the_last_result_or_what_the_plan_says(kind: str) -> None:
    source, answer = ANSWERS[kind]
    assert done(source).answer == answer


class Level(IntEnum):
    """A number of a class of its own."""

    HIGH = 3


class Odd:
    """A value that is no data."""


@pytest.mark.parametrize(
    ("value", "data"),
    [((1, (2,)), [1, [2]]), ({3, 1, 2}, [1, 2, 3]), ({1: "a"}, {"1": "a"}), (b"abc", "abc"), (None, None), (True, True),
     ({"a": {"c", "b"}}, {"a": ["b", "c"]}), ([frozenset({10, 9})], [[9, 10]]), (Level.HIGH, 3), (-0.0, -0.0)],
)  # fmt: skip
def test_results_become_plain_data(value: Any, data: Any) -> None:
    run = made(value)
    assert repr(run.results["1"]) == repr(data)
    assert Board.of(from_dict(json.loads(json.dumps(to_dict(event)))) for event in run.events) == run.board


@pytest.mark.parametrize(
    "value",
    [
        Odd(),
        [Odd()],
        b"\xff",
        float("nan"),
        [float("inf")],
        {1: "a", "1": "b"},
        "\ud800",
        {"\ud800": 1},
        [10**5000],
        len,
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_json_can_not_hold_is_no_result_and_gives_no_answer(value: Any) -> None:
    run = made(value)
    assert (run.status, run.answer) == ("failed", None)
    assert "step 1: odd returned" in run.reason
    assert Board.of(from_dict(json.loads(json.dumps(to_dict(event)))) for event in run.events) == run.board


STORY = """\
step 1: search(name='wind')
  0 s  step started: attempts 2
  2 s  step failed: error OSError: no answer, seconds 2.0
  2 s  backoff started: seconds 1.0
  3 s  backoff ended: seconds 1.0
  3 s  step started: attempt 2, attempts 2
  5 s  step done: result wind, seconds 2.0
  it is done"""


def test_a_story_tells_everything_that_happened_to_one_step() -> None:
    problems = [OSError("no answer")]

    def search(name: str) -> str:
        """Search."""
        if problems:
            raise problems.pop()
        return name

    tools = ToolExecutor(Toolbox([Tool(search, effects="none", latency=2.0)]))
    plan = Plan.parse([step("1", "search", name="wind", retries=1), step("2", "search", "1", name="sun")])
    run = execute(plan, tools, workers=Simulated(), policy=Policy(backoff=Backoff(jitter=0)))
    assert run.story("1") == STORY
    assert run.story(2).startswith("step 2: search(name='sun')\n  5 s  step started\n")
    with pytest.raises(ValueError, match="there is no step 7; there are: 1, 2"):
        run.story(7)
    assert "finished" in repr(run)


def test_a_board_that_validates_notices_a_fold_that_is_wrong() -> None:
    board = Checked.of([RunStarted(0.0, "x", True, False)])
    board.adopt(Plan.parse([step("1", "search"), step("2", "search")]))
    board.apply(StepStarted(0.0, "1"))
    with pytest.raises(IllegalTransition):
        board.apply(StepDone(1.0, "2", 1))
    board.results["2"] = "out of nowhere"
    with pytest.raises(AssertionError, match="step 2 has a result, and is waiting"):
        board.apply(StepDone(1.0, "1", 1))
