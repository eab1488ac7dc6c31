"""Pictures of very large plans are made in time that grows with their length, or show a part and say so."""

import time
from collections.abc import Callable

import pytest

from planexec_lab import views
from planexec_lab.views.graph_drawing.graph_figure import MOST_EDGES, MOST_STEPS
from planexec_lab.views.timeline_drawing.model import MOST_LANES
from planexec_lite import Plan, Run, Simulated, Toolbox, ToolExecutor, execute
from tests.views import worlds

SHAPES: dict[str, Callable[[int], list[int]]] = {
    "flat": lambda number: [],
    "a chain": lambda number: [number - 1] if number > 1 else [],
    "a fan": lambda number: [1] if number > 1 else [],
    "dense": lambda number: list(range(max(1, number - 20), number)),
}


def large(shape: str, length: int) -> Plan:
    waits_for = SHAPES[shape]
    return Plan.parse([{"id": n, "description": "do it", "depends_on": waits_for(n)} for n in range(1, length + 1)])


@pytest.mark.parametrize("shape", SHAPES)
def test_a_graph_of_ten_thousand_steps_shows_the_first_ones(shape: str) -> None:
    began = time.monotonic()
    figure = views.graph(large(shape, 10_000))
    assert time.monotonic() - began < 10
    assert "of 10,000 steps, and what they wait for among each other." in figure.caption
    drawn = figure.svg.count("<rect") - 1
    assert drawn == MOST_STEPS or shape == "dense"
    assert "not in the plan" not in figure.text
    assert figure.svg.count("<path") < 10 * MOST_EDGES


def ran(shape: str, slots: int | None) -> Run:
    work = {"tool": "work", "params": {"seconds": 1, "fails": False}}
    plan = Plan.parse([{**step.model_dump(), **work} for step in large(shape, 4_000).steps])
    return execute(plan, ToolExecutor(Toolbox([worlds.work])), workers=Simulated(slots))


def test_a_timeline_of_very_many_lanes_shows_the_first_ones() -> None:
    began = time.monotonic()
    figure = views.timeline(ran("flat", None))
    assert time.monotonic() - began < 20
    assert f"Drawn: the first {MOST_LANES} of 4,000 lanes." in figure.text
    assert len(figure._repr_html_()) < 1_000_000


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["flat", "a chain"])
def test_a_long_run_has_few_names_and_rows(shape: str) -> None:
    run = ran(shape, 4)
    assert len(views.timeline(run).caption) < 1_000
    figure = views.board(run)
    assert figure.table.count("<tr") == 1_001
    assert "Showing 1,000 of 4,000 steps: rows 1 to 1,000. 4,000 done." in figure.text
