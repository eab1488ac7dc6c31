"""The variations reach their goals. Lessons 11 and A3 print what tells them apart; the guards compare these outputs."""

from dataclasses import replace
from typing import Any

import pytest

from mock_llm import MockLLM
from planexec_lab.scoreboard import model, row, tasks
from planexec_lab.variations import VARIATIONS, dry_run, quickest
from planexec_lab.variations.best_of_three import BestOf
from planexec_lab.variations.lists import ListPlanner
from planexec_lite import Board, Inline, Plan, PlanError, PlannerExecutor, Policy, Simulated, Tool, Toolbox
from tests.rounds import few

IN_LESSONS = ("deploy", "trail", "flights", "bisect")


@pytest.mark.wide
@pytest.mark.parametrize("task", few([name for name in tasks() if name not in IN_LESSONS], 2))
@pytest.mark.parametrize("variation", VARIATIONS)
def test_every_variation_reaches_a_goal_whose_way_is_known(variation: str, task: str) -> None:
    one = row(variation, task)
    assert (one.run.status, one.reached) == ("finished", True), one.run.reason


@pytest.mark.parametrize("name", VARIATIONS)
def test_a_variation_is_an_agent_whose_fields_can_be_replaced(name: str) -> None:
    task = tasks()["arithmetic"]
    agent = VARIATIONS[name](model(task).client(), task.world().tools, Inline())
    assert isinstance(agent, PlannerExecutor)
    run = replace(agent, policy=Policy(max_repairs=0), workers=Simulated(2)).run(task.goal)
    assert task.reached(None, run)


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        ({"text": "First I would look around."}, "no line of the answer has a number"),
        ({"text": "1. Look\n2. Wri", "finish_reason": "length"}, "the answer was cut off"),
        ({"refusal": "No."}, "the model refused"),
    ],
)
def test_an_answer_that_is_no_whole_list_is_no_plan(reply: dict[str, Any], words: str) -> None:
    planner = ListPlanner(MockLLM([{"name": "only", "reply": reply}]).client(), lambda goal, lines: [])
    with pytest.raises(PlanError, match=words):
        planner.plan("look around", Board(), Toolbox())


class Fixed:
    """A planner that always gives the same plan."""

    def __init__(self, plan: Any) -> None:
        self._plan = plan

    def plan(self, goal: str, board: Board, tools: Toolbox) -> Plan:
        return Plan.parse(self._plan)


def chain(length: int, tool: str = "multiply") -> Plan:
    step = {"tool": tool, "params": {"a": 2, "b": 3}}
    return Plan.parse([{**step, "id": n, "depends_on": [n - 1] if n > 1 else []} for n in range(1, length + 1)])


TOOLS = tasks()["arithmetic"].world().tools
INVALID = chain(1, "guess")


def test_the_quickest_valid_plan_wins() -> None:
    short, middle, long = map(chain, (1, 2, 3))
    best = BestOf([Fixed(long), Fixed(INVALID), Fixed(middle)], quickest(Simulated(4)))
    assert best.plan("g", Board(), TOOLS) == middle
    assert quickest(Inline())("g", [long, short, middle], TOOLS) == 1


def test_without_a_valid_plan_the_first_is_repaired_or_its_error_raised() -> None:
    assert BestOf([Fixed("nothing"), Fixed(INVALID)], quickest(Inline())).plan("g", Board(), TOOLS) == INVALID
    with pytest.raises(PlanError):
        BestOf([Fixed("nothing"), Fixed("at all")], quickest(Inline())).plan("g", Board(), TOOLS)
    with pytest.raises(ValueError, match="no planner was given"):
        BestOf([], quickest(Inline())).plan("g", Board(), TOOLS)


def test_a_dry_run_calls_nothing_and_goes_on_from_what_is_done() -> None:
    made = []

    def make(x: int) -> None:
        made.append(x)

    once = Tool(make, latency=3.0, effects="once")
    gated = {"id": 2, "tool": "make", "params": {"x": "{step_1_result}"}, "depends_on": [1], "gate": True}
    plan = Plan.parse([gated, {**gated, "id": 3, "depends_on": [1, 2]}])
    run = dry_run(plan, Toolbox([once]), Simulated(4))
    assert (run.status, run.makespan, made) == ("finished", 6.0, [])
    late = Plan.parse([{"id": 1, "tool": "make", "params": {"x": 1}, "timeout": 2}])
    assert dry_run(late, Toolbox([once]), Simulated()).status == "failed"
    assert quickest(Simulated())("g", [late, plan], Toolbox([once])) == 1
