"""The queue of lesson 14, as the lesson builds it, and the kit's virtual clock agree."""

from __future__ import annotations

import json
from typing import Any

import pytest

from planexec_lab.tickets.capacity import simulated
from tests.guards import books


@pytest.mark.parametrize("slots", [1, 2, 5])
def test_a_merged_plan_ends_when_the_queue_of_the_lesson_ends(slots: int) -> None:
    book = json.loads((books.ROOT / "notebooks" / "14_scale_out.ipynb").read_text(encoding="utf-8"))
    lesson: dict[str, Any] = {}
    exec("from planexec_lite import Plan\nfrom planexec_lab.worlds import deploy", lesson)
    for cell in book["cells"]:
        if cell["id"] in ("scale-out-34", "scale-out-36", "scale-out-37"):
            exec("".join(cell["source"]), lesson)
    arrivals = lesson["arrivals_at"](0.8, slots, 40)
    times = lesson["run_times"](arrivals, slots)
    run = simulated(lesson["release"], lesson["seconds"], arrivals, slots)
    assert run.makespan == max(at + times[number] for number, at in enumerate(arrivals))
