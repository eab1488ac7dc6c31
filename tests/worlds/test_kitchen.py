"""The kitchen is real: what is in the pantry and in the oven decides what a step, a plan and a run come to."""

import json
from collections import Counter

import pytest

from planexec_lab.connect import connect
from planexec_lab.worlds import kitchen
from planexec_lite import LLMPlanner, Plan, PlannerExecutor, Policy, Simulated, ToolExecutor, execute
from planexec_lite.capabilities.replanning import Replanning

ONION_SOUP = ["onions", "stock"]


@pytest.fixture
def world():
    return kitchen.World()


def cook(world, cooks=4, plan=kitchen.PLAN):
    return execute(Plan.parse(plan), ToolExecutor(world.tools), workers=Simulated(cooks))


def cook_and_replan(world, cooks, replan):
    chef = PlannerExecutor(
        LLMPlanner(connect("kitchen")),
        ToolExecutor(world.tools),
        workers=Simulated(cooks),
        policy=Policy(replan=replan),
    )
    return chef.run(kitchen.GOAL)


def test_the_courses_are_served_in_order_even_where_the_plan_forgets_it(world):
    world.pantry["chicken"] = 0
    plan = json.loads(kitchen.PLAN)
    for step, other in ((13, 12), (10, 9), (14, 13)):
        plan["steps"][step - 1]["depends_on"].remove(other)
    run = cook(world, plan=plan)
    assert "the guests wait for the main" in run.board.errors["14"]
    assert world.served == ["starter"]


@pytest.mark.parametrize("replan", ["failure", "stall"])
@pytest.mark.parametrize("cooks", [1, 2, 3, 4, None])
def test_the_replan_puts_onions_in_place_of_the_leeks_and_repeats_nothing(cooks, replan):
    world = kitchen.World(leeks=0)
    run = cook_and_replan(world, cooks, replan)
    assert (run.status, run.board[Replanning].asked["replans"]) == ("finished", 1)
    assert world.served == ["starter", "main", "dessert"]
    assert run.results["12"]["parts"] == ONION_SOUP
    done = Counter(event.step for event in run.events if type(event).__name__ == "StepDone")
    assert set(done.values()) == set(Counter(world.tickets).values()) == {1}
    assert len(done) == len(world.tickets) == 14
    assert "chop leeks" not in world.tickets


def without(before: str, after: str) -> Plan:
    """The dinner, where one step does not wait for another any more."""
    dinner = Plan.parse(kitchen.PLAN)
    step = next(step for step in dinner.steps if step.id == after)
    hasty = step.model_copy(update={"depends_on": tuple(id for id in step.depends_on if id != before)})
    return dinner.changed(steps=[hasty if one.id == after else one for one in dinner.steps])


@pytest.mark.parametrize(
    ("before", "after", "cooks", "error"),
    [
        ("1", "6", 8, "the leeks are not chopped before minute 8; simmer after that"),
        ("2", "7", 8, "the potatoes are not chopped before minute 10; roast after that"),
        ("6", "8", 3, "the starter is not simmered before minute 35; plate after that"),
        ("7", "9", 3, "the main is not roasted before minute 57; plate after that"),
    ],
)
def test_what_is_not_ready_can_not_be_used(before: str, after: str, cooks: int, error: str) -> None:
    hasty = without(before, after)
    one = execute(hasty, ToolExecutor(kitchen.World().tools), workers=Simulated(1))
    many = execute(hasty, ToolExecutor(kitchen.World().tools), workers=Simulated(cooks))
    assert one.status == "finished", "one cook never notices"
    assert many.board.errors[after] == f"ValueError: {error}"
