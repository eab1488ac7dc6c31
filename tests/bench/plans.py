"""The plans that are timed, as JSON text, and the tools that they call."""

import json
from collections.abc import Callable
from random import Random

from planexec_lite import Tool, Toolbox


def add(numbers: list[int]) -> int:
    """Add numbers; the result stays small, so that a long plan computes no long numbers."""
    return sum(numbers) % 1000


FUNCTIONS = {"add": add}
TOOLS = {"effects none": Toolbox([Tool(add, effects="none")]), "undeclared": Toolbox([Tool(add)])}


def layered(n: int) -> list[int]:
    """Layers of ten; every step waits for the ten of the layer before and uses their results."""
    start = (n - 1) // 10 * 10 - 9
    return list(range(start, start + 10)) if start > 0 else []


def random(n: int) -> list[int]:
    """Up to three earlier steps; the same ones each time."""
    return sorted(Random(n).sample(range(1, n), min(n - 1, n % 4)))


SHAPES: dict[str, Callable[[int], list[int]]] = {
    "chain": lambda n: [n - 1] if n > 1 else [],
    "fan-out": lambda n: [1] if n > 1 else [],
    "random": random,
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
