"""The plans that are timed: a chain, a fan-out, layers of ten, and random ones; as JSON text."""

from __future__ import annotations

import json
import random
from collections.abc import Callable

from planexec_lite import Toolbox, tool


@tool(effects="none")
def add(numbers: list[int]) -> int:
    """Add numbers; the result stays small, so that a long plan computes no long numbers."""
    return sum(numbers) % 1000


TOOLS = Toolbox([add])


def chain(n: int) -> list[int]:
    """Every step waits for the one before it."""
    return [n - 1] if n > 1 else []


def fan(n: int) -> list[int]:
    """Every step waits for the first."""
    return [1] if n > 1 else []


def layered(n: int) -> list[int]:
    """Layers of ten; every step waits for the ten of the layer before and uses their results."""
    start = (n - 1) // 10 * 10 - 9
    return list(range(start, start + 10)) if start > 0 else []


def anyhow(n: int) -> list[int]:
    """Up to three of the fifty steps before it, by chance; the same ones on every run."""
    chance = random.Random(n)
    return sorted(chance.sample(range(max(1, n - 50), n), min(n - 1, chance.randint(0, 3))))


SHAPES: dict[str, Callable[[int], list[int]]] = {"chain": chain, "fan-out": fan, "layered": layered, "random": anyhow}


def text_of(shape: Callable[[int], list[int]], steps: int) -> str:
    """The plan as JSON: every step adds up the results of the steps that it waits for."""
    return json.dumps(
        {
            "goal": "bench",
            "steps": [
                {
                    "id": str(n),
                    "tool": "add",
                    "params": {"numbers": [f"{{step_{other}_result}}" for other in shape(n)] or [n]},
                    "depends_on": [str(other) for other in shape(n)],
                }
                for n in range(1, steps + 1)
            ],
        }
    )
