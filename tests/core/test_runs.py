"""Runs: what they give back and tell, and what a watcher sees."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from enum import IntEnum
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import planexec_lite
from planexec_lite import (
    Backoff,
    Board,
    Inline,
    Plan,
    PlannerExecutor,
    Policy,
    Pool,
    Run,
    ScriptedReviewer,
    Simulated,
    Tool,
    Toolbox,
    ToolExecutor,
    execute,
)
from planexec_lite.core import IllegalTransition
from planexec_lite.events import (
    Event,
    Reviewed,
    RunStarted,
    StepDone,
    StepFailed,
    StepStarted,
    from_dict,
    to_dict,
)
from planexec_lite.workers import Workers
from tests.core.ending import to_its_end
from tests.core.shapes import Checked, Job, Portions, Workshop, jobs, plan_of, step
from tests.rounds import rounds


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


def test_what_comes_to_an_end_is_given_back_and_what_is_raised_goes_on() -> None:
    assert to_its_end(lambda: 5) == 5
    with pytest.raises(KeyError):
        to_its_end(lambda: {}["no"])


def test_a_step_that_does_not_end_is_named_with_the_line_it_is_at() -> None:
    over = threading.Event()

    def work() -> None:
        """Wait until the test is over."""
        assert over.wait(60)

    tools = ToolExecutor(Toolbox([Tool(work, effects="none")]))
    plan = Plan.parse([step("1", "work"), step("2", "work", "1")])
    with pytest.raises(AssertionError, match="the run does not end") as caught:
        to_its_end(lambda: execute(plan, tools, workers=Inline()), 0.5)
    over.set()
    for words in ("step 1 has been running since 0.0", "StepStarted 1", "test_runs.py:", "assert over.wait(60)"):
        assert words in str(caught.value)


class Watcher:
    """Keeps the events of each moment that it was shown."""

    def __init__(self) -> None:
        self.seen: list[list[Event]] = []

    def __call__(self, run: Run) -> None:
        assert Board.of(run.events) == run.board
        self.seen.append(list(run.events))

    def check(self, run: Run) -> Run:
        """Each moment adds to the one before, and the last one is the end."""
        for before, after in pairwise(self.seen):
            assert after[: len(before)] == before
            assert len(after) > len(before), "shown twice, though nothing was recorded"
        assert self.seen[-1] == run.events
        return run


class World:
    """A tool that fails for what is broken, and the numbers of its calls."""

    def __init__(self, *broken: int) -> None:
        self.done = list[int]()

        def act(n: int) -> int:
            """Do it."""
            self.done.append(n)
            if n in broken:
                raise RuntimeError("broken")
            return n

        self.executor = ToolExecutor(Toolbox([Tool(act, effects="none", latency=lambda n: float(n % 5))]))


PLAN = [step("1", "act", n=1), step("2", "act", "1", n=2), step("3", "act", n=4), step("4", "act", "3", "2", n=5)]
KINDS: dict[str, Workers] = {"inline": Inline(), "simulated": Simulated(), "one slot": Simulated(1)}


@pytest.mark.parametrize("kind", [*KINDS, "threads"])
def test_a_watcher_sees_planning_approving_and_replanning_in_order(kind: str) -> None:
    watcher, planner = Watcher(), Portions(PLAN, [step("2b", "act", "1", n=7)])
    reviewer, policy = ScriptedReviewer(["approve", "approve"]), Policy(replan="failure")
    with ThreadPoolExecutor(2) as threads:
        workers = KINDS.get(kind) or Pool(threads)
        agent = PlannerExecutor(planner, World(2).executor, reviewer, workers=workers, policy=policy, watch=watcher)
        run = watcher.check(to_its_end(lambda: agent.run("act")))
    last = [type(moment[-1]).__name__ for moment in watcher.seen]
    assert {"PlanStarted", "StepStarted"} <= {*last}, "the planner at work is a moment of its own"
    assert sum(isinstance(event, Reviewed) for event in run.events) == 2
    assert run.status == "finished"


def test_a_watcher_that_raises_ends_the_run_and_leaves_nothing_behind() -> None:
    def bad(run: Run) -> None:
        if run.results:
            raise ZeroDivisionError

    world, many = World(), Plan.parse([step(str(n), "act", n=n) for n in range(50)])
    with ThreadPoolExecutor(1) as threads:
        for workers in (Inline(), Simulated(1), Pool(threads, slots=2)):
            with pytest.raises(ZeroDivisionError):
                execute(many, world.executor, workers=workers, watch=bad)
        threads.shutdown()
    assert len(world.done) < 10


@rounds(60)
@given(jobs(most=8), st.sampled_from([1, 2, None]), st.sampled_from(["skip", "stop"]))
def test_whatever_happens_a_watcher_sees_it_before_it_begins(made: list[Job], slots: int | None, failure: Any) -> None:
    workshop, watcher = Workshop(), Watcher()

    def watch(run: Run) -> None:
        watcher(run)
        started = sum(isinstance(event, StepStarted) for event in run.events)
        ended = sum(isinstance(event, StepDone | StepFailed) for event in run.events)
        assert ended <= sum(workshop.calls.values()) <= started

    setting: Any = {"workers": Simulated(slots), "policy": Policy(failure=failure)}
    run = watcher.check(execute(plan_of(made), ToolExecutor(workshop.toolbox), watch=watch, **setting))
    assert run.events == execute(plan_of(made), ToolExecutor(Workshop().toolbox), **setting).events
