"""Plans that show what a level barrier costs: real sleeps, and a critical path that is known.

In a staircase of n by n, n independent rows have n steps each. In every row another step is the long one, so each row
takes as long as every other. Whoever starts a step when its own row is ready takes one row's time. Whoever waits for a
whole level pays its longest step, n times.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from math import fsum

from planexec_lite import Plan, Toolbox, tool

LONG, SHORT = 0.4, 0.02  # seconds
SEARCHES = {"flights": 1, "trains": 3, "hotels": 8, "museums": 13, "restaurants": 17, "weather": 20}
JOIN = 1


@tool(effects="none")
def pause(seconds: float, after: list[float]) -> float:
    """Sleep, really, and return how long; `after` holds what the steps before it returned."""
    time.sleep(seconds)
    return seconds


TOOLS = Toolbox([pause])


@dataclass(frozen=True)
class Case:
    """A plan as JSON, with its shortest possible time and what waiting for whole levels costs, both in seconds."""

    name: str
    text: str
    shortest: float
    by_levels: float


def case_of(name: str, durations: dict[str, tuple[float, list[str]]]) -> Case:
    """The case of a plan whose steps take these seconds and wait for these steps."""
    steps = [
        {
            "id": id,
            "tool": "pause",
            "params": {"seconds": seconds, "after": [f"{{step_{other}_result}}" for other in waits_for]},
            "depends_on": waits_for,
        }
        for id, (seconds, waits_for) in durations.items()
    ]
    text = json.dumps({"goal": name, "steps": steps})
    plan, taken = Plan.parse(text), {id: seconds for id, (seconds, _) in durations.items()}
    by_levels = fsum(max(taken[id] for id in level) for level in plan.waves())
    return Case(name, text, plan.critical_path(taken)[1], by_levels)


def staircase(n: int, long: float = LONG, short: float = SHORT) -> Case:
    """The case of n rows of n steps; with n = 2, two uneven branches."""
    durations = {
        f"{row}.{column}": (long if row == column else short, [f"{row}.{column - 1}"] if column > 1 else [])
        for row in range(1, n + 1)
        for column in range(1, n + 1)
    }
    return case_of("two uneven branches" if n == 2 else f"{n} × {n} staircase", durations)


def travel(unit: float = SHORT) -> Case:
    """The case of a journey: six searches, a summary of each, one join. What is found quickly takes long to sum up."""
    summaries = dict(zip(SEARCHES, reversed(SEARCHES.values()), strict=True))
    durations: dict[str, tuple[float, list[str]]] = {f"find_{what}": (n * unit, []) for what, n in SEARCHES.items()}
    durations |= {f"sum_up_{what}": (n * unit, [f"find_{what}"]) for what, n in summaries.items()}
    durations["join"] = (JOIN * unit, [f"sum_up_{what}" for what in SEARCHES])
    return case_of("travel plan", durations)


def cases(scale: float = 1.0) -> list[Case]:
    """All five; `scale` makes their sleeps shorter."""
    steps = [staircase(n, LONG * scale, SHORT * scale) for n in (2, 3, 5, 8)]
    return [*steps, travel(SHORT * scale)]
