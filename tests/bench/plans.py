"""The plans that are timed: a chain, a fan-out, layers of ten, and random ones; as JSON text. And ours, as anyone calls it."""

import json
import random
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


def by_chance(n: int) -> list[int]:
    """Up to three of the fifty steps before it; the same ones on every run."""
    chance = random.Random(n)
    return sorted(chance.sample(range(max(1, n - 50), n), min(n - 1, chance.randint(0, 3))))


SHAPES: dict[str, Callable[[int], list[int]]] = {
    "chain": lambda n: [n - 1] if n > 1 else [],
    "fan-out": lambda n: [1] if n > 1 else [],
    "layered": layered,
    "random": by_chance,
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
