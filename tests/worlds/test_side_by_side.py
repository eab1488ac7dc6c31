"""Steps side by side, in the worlds where the lesson on parallel plans shows them: edges, limits, roles, levels, streams."""

from itertools import pairwise

import pytest

from planexec_lab.connect import connect
from planexec_lab.worlds import deploy, kitchen, research
from planexec_lite import LLMPlanner, Plan, PlannerExecutor, Simulated, Team, ToolExecutor, execute
from planexec_lite.events import StepStarted

MINUTE = 60


def cook(plan, slots, limits=None):
    world = kitchen.World()
    return execute(plan, ToolExecutor(world.tools), workers=Simulated(slots, limits or {}))


def changed(plan, id, depends_on):
    steps = [step.model_copy(update={"depends_on": depends_on}) if step.id == id else step for step in plan.steps]
    return plan.changed(steps=steps)


def wave_by_wave(plan):
    for last, wave in pairwise([[], *plan.waves()]):
        for id in wave:
            plan = changed(plan, id, tuple(last))
    return plan


def pursue(name, world, *, stream):
    planner = LLMPlanner(connect(name), stream=stream)
    return PlannerExecutor(planner, ToolExecutor(world.World().tools), workers=Simulated(4)).run(world.GOAL)


@pytest.fixture
def dinner():
    return Plan.parse(kitchen.PLAN)


def test_a_missing_edge_sleeps_until_steps_run_side_by_side(dinner):
    hasty = changed(dinner, "10", ("4", "5"))
    assert hasty.problems(kitchen.World().tools) == []
    assert cook(hasty, 1).status == "finished"
    for slots in (2, 3, 4):
        assert "the oven is full" in cook(hasty, slots).board.errors["10"]


@pytest.mark.parametrize(("boards", "minutes"), [(1, 110), (2, 100), (3, 95), (4, 95)])
def test_fewer_chopping_boards_make_a_longer_dinner_and_are_never_shared(dinner, boards, minutes):
    run = cook(dinner, 4, {"chop": boards})
    assert (run.status, run.makespan) == ("finished", minutes * MINUTE)
    chopping = dict(dinner.durations(kitchen.World().tools))
    starts = {event.step: event.at for event in run.events if isinstance(event, StepStarted)}
    spans = [(starts[id], starts[id] + chopping[id]) for id in ("1", "2", "3", "4")]
    assert max(sum(start <= at < end for start, end in spans) for at, _ in spans) == min(boards, 4)


@pytest.mark.parametrize(("slots", "minutes"), [({"cook": 1}, 150), ({"cook": 2}, 105), ({"cook": 3}, 95)])
def test_a_baker_helps_two_cooks_less_than_a_third_cook_would(dinner, slots, minutes):
    tools = kitchen.World().tools
    roles = {
        "cook": ToolExecutor(tools.only("chop", "simmer", "roast", "plate", "serve")),
        "baker": ToolExecutor(tools.only("mix", "bake")),
    }
    team = Team(roles, slots | {"baker": 1})
    assert [step.id for step in dinner.steps if team.role_of(step) == "baker"] == ["5", "10"]
    assert execute(dinner, team, workers=Simulated()).makespan == minutes * MINUTE
    assert cook(dinner, slots["cook"] + 1).makespan <= minutes * MINUTE


def test_the_level_barrier_makes_the_release_wait_a_minute_for_its_backup():
    release = Plan.parse(deploy.PLAN)
    runs = [
        execute(plan, ToolExecutor(deploy.World().tools), workers=Simulated(2))
        for plan in (release, wave_by_wave(release))
    ]
    assert [run.status for run in runs] == ["finished", "finished"]
    assert [run.makespan for run in runs] == [266, 326]


@pytest.mark.parametrize(("name", "world"), [("research", research), ("deploy", deploy)])
def test_what_may_be_repeated_starts_while_the_plan_is_written(name, world):
    first, streamed = (pursue(name, world, stream=stream) for stream in (False, True))
    assert first.status == streamed.status == "finished"
    assert streamed.results == first.results
    planning = sum(call.seconds for call in first.board.calls)
    assert 0 < first.makespan - streamed.makespan < planning
    assert next(event.at for event in streamed.events if isinstance(event, StepStarted)) < planning


def test_no_kitchen_step_starts_before_the_plan_is_whole_as_each_is_once(dinner):
    first, streamed = (pursue("kitchen", kitchen, stream=stream) for stream in (False, True))
    assert {*dinner.effects(kitchen.World().tools).values()} == {"once"}
    assert first.makespan == streamed.makespan
