"""What it costs to read a plan and to find it fit, beside carrying it out, and how that grows."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any

from planexec_lite import Inline, Plan
from tests.bench import ours, peers
from tests.bench.plans import SHAPES, TOOLS, text_of
from tests.bench.speed import FUNCTIONS, grown
from tests.bench.timing import Row, Taken, ratio, rounds

PARTS = ("parse", "parse and validate", "from JSON to results", "json.loads", "json.loads and asyncio")


def contenders(text: str) -> dict[str, Callable[[], Any]]:
    """Each part with all that comes before it, ours and the peer's."""
    return {
        "parse": lambda: Plan.parse(text),
        "parse and validate": lambda: ours.fit(text, TOOLS),
        "from JSON to results": lambda: ours.whole(text, TOOLS, Inline()),
        "json.loads": lambda: peers.read(text),
        "json.loads and asyncio": lambda: peers.with_asyncio(peers.read(text), FUNCTIONS),
    }


def measure(steps: int, times: int) -> dict[str, Taken]:
    """Seconds by shape and part."""
    return {shape: rounds(contenders(text_of(waits_for, steps)), times) for shape, waits_for in SHAPES.items()}


def rows(taken: dict[str, Taken], steps: int) -> list[Row]:
    """Parsing, and parsing with validating, beside the whole way from JSON to the results: the ratio is their share."""
    return [
        Row(
            f"{shape}: {part}",
            median(times[part]) / steps * 1e6,
            median(times["from JSON to results"]) / steps * 1e6,
            "µs",
            ratio=ratio(times[part], times["from JSON to results"]),
        )
        for shape, times in taken.items()
        for part in ("parse", "parse and validate")
    ]


def growth(small: int, large: int, times: int) -> list[Row]:
    """What a step costs to read and check in a large plan, beside a small one."""
    rows = []
    for shape in SHAPES:
        texts = {steps: text_of(SHAPES[shape], steps) for steps in (small, large)}
        works: dict[int, Callable[[], Any]] = {steps: partial(ours.fit, text, TOOLS) for steps, text in texts.items()}
        rows.append(grown(f"{shape}: {large:,} beside {small:,} steps", works, times, 2.5))
    return rows
