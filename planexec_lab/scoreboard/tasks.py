"""The tasks of the scoreboard: each world's goal, the way there, and how the world is looked up afterwards."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from planexec_lab.scoreboard.knowledge import KnownWay, UnknownWay, Way
from planexec_lab.worlds import (
    arithmetic,
    bisect,
    clock,
    deploy,
    flights,
    kitchen,
    migration,
    refactor,
    research,
    support,
    trail,
)
from planexec_lab.worlds.minds import Mind
from planexec_lite.plan import Plan, Step
from planexec_lite.run import Run
from planexec_lite.tools import Tool, Toolbox, references


@dataclass(frozen=True, slots=True)
class Task:
    """A goal in a world.

    Args:
        name: the world's name.
        plan: the plan as far as it can be known before the first result. Every step has a number as id and a unique
            description.
        way: the scripted model's knowledge.
        world: makes a fresh world.
        reached: checks in the world and in the run's results whether the goal is reached, independent of the run's status.
    """

    name: str
    plan: Plan
    way: Way
    world: Callable[[], Any]
    reached: Callable[[Any, Run], bool]

    @property
    def goal(self) -> str:
        """The goal of the agent."""
        return self.plan.goal


class _Arithmetic:
    tools: Toolbox = arithmetic.TOOLS


def _sum() -> Plan:
    words = {"multiply": "Multiply 12 by 4", "add": "Add 5"}
    steps = [step | {"description": words[step["tool"]]} for step in arithmetic.rules(arithmetic.GOAL)]
    return Plan.parse({"goal": arithmetic.GOAL, "steps": steps})


def _with_the_header() -> Plan:
    """The refactoring with the step that its first plan did not know of."""
    plan = Plan.parse(refactor.PLAN)
    broken = ["profile", "orders", "settings"]
    mend = Step(id="8", description="Fix the token header", tool="fix_token_header", params={"endpoints": broken})
    steps = {step.id: step for step in plan.steps}
    steps["6"] = steps["6"].model_copy(update={"depends_on": ("8",)})
    order = ["1", "2", "3", "4", "5", "8", "6", "7"]
    steps["8"] = mend.model_copy(update={"depends_on": ("5",)})
    return plan.changed(steps=tuple(steps[id] for id in order))


_CLOCK = {"goal": clock.GOAL, "steps": [{"id": "1", "description": "Read the clock", "tool": "current_time"}]}


def _migrated(world: migration.World, run: Run) -> bool:
    schema = world.read_schema()
    return schema["now"] == schema["wanted"] and not world.damage() and world.config["schema"] == 2


def _released(world: deploy.World, run: Run) -> bool:
    return world.deployed("production") == "v2.3.1" and world.messages[-1:] == ["v2.3.1 deployed"]


def _reported(world: research.World, run: Run) -> bool:
    return all(f"[{id}]" in world.report for id in ("doc-1", "doc-7", "doc-12"))


def _drafted(world: support.World, run: Run) -> bool:
    return "+handover_path" in world.drafts.get("A-1034.txt", "")


def _found(text: str, run: Run) -> bool:
    """Whether a result is that text, or ends with it behind a colon and a space."""
    return any(references.as_text(result).rpartition(": ")[2] == text for result in run.results.values())


def _task(name: str, plan: Plan, world: Callable[[], Any], reached: Callable[[Any, Run], bool]) -> Task:
    """The task with every argument of its plan written out under its name."""
    tools = world().tools
    steps = [
        step.model_copy(update={"params": _written_out(tools[str(step.tool)], step.params)}) for step in plan.steps
    ]
    plan = plan.changed(steps=tuple(steps))
    return Task(name, plan, KnownWay(plan), world, reached)


def _exploration(
    name: str, goal: str, mind: Mind, world: Callable[[], Any], reached: Callable[[Any, Run], bool]
) -> Task:
    """A task in which each result may decide what comes next: the plan is what the mind expects at first."""
    way = UnknownWay(mind)
    return Task(name, Plan(goal=goal, steps=tuple(way.ahead())), way, world, reached)


def _written_out(tool: Tool, params: Mapping[str, Any]) -> dict[str, Any]:
    parameters = inspect.signature(tool.function).parameters.values()
    return {one.name: one.default for one in parameters if one.default is not one.empty} | dict(tool.bind(params))


@cache
def tasks() -> dict[str, Task]:
    """The tasks by their world."""
    listed = (
        _task("arithmetic", _sum(), _Arithmetic, lambda world, run: _found("53", run)),
        _task("kitchen", Plan.parse(kitchen.PLAN), kitchen.World, lambda world, run: len(world.served) == 3),
        _task("migration", Plan.parse(migration.PLAN), migration.World, _migrated),
        _task("deploy", Plan.parse(deploy.PLAN), deploy.World, _released),
        _task("refactor", _with_the_header(), refactor.World, lambda world, run: not world.run_test_suite()["failed"]),
        _task("research", Plan.parse(research.PLAN), research.World, _reported),
        _task("support", Plan.parse(support.PLAN), lambda: support.World(gap=None), _drafted),
        _task("clock", Plan.parse(_CLOCK), lambda: clock.World("09:41"), lambda world, run: _found("09:41", run)),
        _exploration("trail", trail.GOAL, trail.TrailMind(), trail.World, lambda world, run: world.solved),
        _exploration(
            "bisect", bisect.GOAL, bisect.BisectMind(), bisect.World, lambda world, run: world.marked == world.broke
        ),
        _exploration("flights", flights.GOAL, flights.BookingMind(), flights.World, lambda world, run: world.pleased),
    )
    return {task.name: task for task in listed}
