"""The plans that are timed: a chain, a fan-out, and layers of ten; as JSON text. And ours, as anyone calls it."""

import json
from collections.abc import Callable

from planexec_lite import Plan, PlanError, Run, Toolbox, ToolExecutor, execute, tool
from planexec_lite.workers import Workers


@tool(effects="none")
def add(numbers: list[int]) -> int:
    """Add numbers; the result stays small, so that a long plan computes no long numbers."""
    return sum(numbers) % 1000


TOOLS, FUNCTIONS = Toolbox([add]), {"add": add}


def layered(n: int) -> list[int]:
    """Layers of ten; every step waits for the ten of the layer before and uses their results."""
    start = (n - 1) // 10 * 10 - 9
    return list(range(start, start + 10)) if start > 0 else []


SHAPES: dict[str, Callable[[int], list[int]]] = {
    "chain": lambda n: [n - 1] if n > 1 else [],
    "fan-out": lambda n: [1] if n > 1 else [],
    "layered": layered,
}


def text_of(shape: str, steps: int) -> str:
    """The plan as JSON: every step adds up the results of the steps that it waits for."""
    made = []
    for n in range(1, steps + 1):
        before = SHAPES[shape](n)
        params: dict[str, list[str | int]] = {"numbers": [f"{{step_{other}_result}}" for other in before] or [n]}
        made.append({"id": str(n), "tool": "add", "params": params, "depends_on": [str(other) for other in before]})
    return json.dumps({"goal": "bench", "steps": made})


def valid(text: str) -> Plan:
    plan = Plan.parse(text)
    if problems := plan.problems(TOOLS):
        raise PlanError(problems)
    return plan


def alone(plan: Plan, workers: Workers) -> Run:
    return execute(plan, ToolExecutor(TOOLS), workers=workers)


def whole(text: str, workers: Workers) -> Run:
    return execute(Plan.parse(text), ToolExecutor(TOOLS), workers=workers)
