"""What the promises about calls cost: idempotency keys, checks of calls that an executor chooses, and the pins of tools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planexec_lite import (
    ApproveAll,
    Plan,
    PlannerExecutor,
    Policy,
    RulePlanner,
    Run,
    Simulated,
    Step,
    Tool,
    Toolbox,
    ToolExecutor,
)
from planexec_lite.tools import Effects
from tests.bench.timing import Row, beside, rounds

TOOLS = 20


class Chooses:
    """Makes the call that the step names, as `ToolExecutor` does, but says nothing about models: each call is checked."""

    def __init__(self, tools: Toolbox) -> None:
        self.tools = tools

    def execute(self, step: Step, inputs: Mapping[str, Any]) -> Any:
        return self.tools[step.tool or ""].call(step.params)


def work(n: int) -> int:
    """Return the number."""
    return n


def made(effects: Effects) -> Toolbox:
    return Toolbox([Tool(work, effects=effects)])


def reviewed(plan: Plan, executor: Any) -> Run:
    """The run of a plan that is approved as it is."""
    policy = Policy(max_steps=len(plan.steps))
    run = PlannerExecutor(
        RulePlanner(lambda goal: plan), executor, ApproveAll(), workers=Simulated(4), policy=policy
    ).run("go")
    assert run.status == "finished", run.reason
    return run


def pinned(pins: bool) -> Toolbox:
    """Fresh tools with their schemas, as a run makes them ready for a planner, with or without their pins."""
    tools = Toolbox([Tool(work, name=f"work_{n}", effects="none") for n in range(TOOLS)])
    for tool in tools:
        assert tool.schema
    assert not pins or tools.pins
    return tools


def measure(steps: int, times: int) -> list[Row]:
    """Rows for a chain of so many steps, in rounds."""
    ids = [str(n) for n in range(steps)]
    chain = [
        {"id": id, "tool": "work", "params": {"n": int(id)}, "depends_on": ids[int(id) - 1 : int(id)]} for id in ids
    ]
    plan = Plan.parse({"goal": "work", "steps": chain})
    free, keyed = made("none"), made("idempotent")
    taken = rounds(
        {
            "no effects": lambda: reviewed(plan, ToolExecutor(free)),
            "keys": lambda: reviewed(plan, ToolExecutor(keyed)),
            "checks": lambda: reviewed(plan, Chooses(keyed)),
            "pins": lambda: pinned(True),
            "no pins": lambda: pinned(False),
        },
        times,
    )
    return [
        beside("a step with an idempotency key, beside one without", taken, "keys", "no effects", 1e6 / steps, "µs"),
        beside("a step whose calls are checked, beside a key alone", taken, "checks", "keys", 1e6 / steps, "µs"),
        beside("a tool with its pin, beside one with its schema alone", taken, "pins", "no pins", 1e6 / TOOLS, "µs"),
    ]
