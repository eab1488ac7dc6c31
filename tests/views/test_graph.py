"""The graph: nothing overlaps, everything is inside, edges run left to right, and the text says it all."""

import time
from collections.abc import Callable

import pytest
from hypothesis import example, given

from planexec_lab import views
from planexec_lab.views.graph_drawing.graph_figure import MOST_EDGES, MOST_STEPS, draw
from planexec_lab.views.graph_drawing.layers import shape
from planexec_lab.views.graph_drawing.sketch import Sketch
from planexec_lab.views.timeline_drawing.model import MOST_LANES
from planexec_lite import Plan, Run, Simulated, Toolbox, ToolExecutor, execute
from tests.rounds import few, rounds
from tests.views import worlds
from tests.views.drawing import off_the_plate, overlap, overlaps


def check_layout(sketch: Sketch) -> None:
    wide, high = sketch.size
    canvas = sketch.canvas
    assert off_the_plate([*canvas.boxes, *canvas.texts], min(wide, 720), high) == []
    assert overlaps(canvas.boxes, least=4) == overlaps(canvas.texts) == []
    for text in canvas.texts:
        for box in canvas.boxes:
            inside = box.x < text.x and text.x + text.width < box.x + box.width
            assert inside or not overlap(text, box), (text, box)
    for tail, head, start, end, circle in sketch.arrows:
        assert circle or start < end, (tail, head)


def drawn_edges(plan: Plan) -> set[tuple[str, str]]:
    """The edges that can be followed through the picture: along links, or out of a port and in at another."""
    form = shape(plan.graph, 7, 5)
    pairs_below = set(form.circles)
    for band in form.bands:
        for (_, other), pairs in band.links.items():
            pairs_below |= {pair for pair in pairs if other.kind == "step" and other.id == pair[1]}
    return pairs_below


@rounds(60)
@given(worlds.plans())
@example(worlds.chain(40))
@example(worlds.fan(20))
@example(worlds.layered(15, 2))
def test_random_plans_are_drawn_without_overlap_from_left_to_right(plan: Plan) -> None:
    sketch = draw(plan, {step.id: 1.5 for step in plan.steps}, None)[1]
    check_layout(sketch)
    assert not any(circle for *_, circle in sketch.arrows)


@rounds(60)
@given(worlds.plans(broken=True))
@example(worlds.plan([("1", "Read", 1, ["3"]), ("2", "Write", 1, ["1", "99"]), ("3", "Test", 1, ["2"])]))
def test_of_a_broken_plan_every_dependency_is_drawn_and_its_cycles_are_marked(plan: Plan) -> None:
    figure, sketch = draw(plan, None, None)
    check_layout(sketch)
    assert len([box for box in sketch.canvas.boxes if not box.holds.startswith("no")]) >= len(plan.graph) - 2
    assert drawn_edges(plan) == {(other, id) for id, others in plan.graph.items() for other in others}
    marked = set(shape(plan.graph, 7, 5).circles)
    assert ("(cycle)" in figure.text) == bool(marked)
    rest = [
        step.model_copy(update={"depends_on": tuple(d for d in step.depends_on if (d, step.id) not in marked)})
        for step in plan.steps
    ]
    assert not any(problem.code == "cycle" for problem in Plan(steps=tuple(rest)).problems())
    assert bool(marked) == any(problem.code in ("cycle", "self_dependency") for problem in plan.problems())


def test_the_critical_path_is_thicker_and_named() -> None:
    plan = worlds.plan(worlds.DEPLOY)
    figure, sketch = draw(plan, worlds.SECONDS, None)
    assert figure.title == "At least 103 s: 7 of 8 steps must follow one another"
    assert "1 → 2 → 4 → 5 → 6 → 7 → 8, 103 s" in figure.caption
    rectangles = [element for element in sketch.canvas.elements if element.startswith("<rect")]
    thick = [box.holds for box, drawn in zip(sketch.canvas.boxes, rectangles, strict=True) if 'width="3"' in drawn]
    assert thick == ["1", "2", "4", "5", "6", "7", "8"]
    assert 'stroke-width="3"' not in views.graph(plan).svg
    assert views.durations(worlds.deploy()) == worlds.SECONDS
    heights = {box.holds: box.y for box in sketch.canvas.boxes}
    for chain in ("1245", "678"):  # drawn straight
        assert max(heights[id] for id in chain) - min(heights[id] for id in chain) <= 1


@pytest.mark.parametrize(
    ("plan", "title"),
    [
        (Plan(), "A plan without steps"),
        (worlds.chain(1), "1 step"),
        (worlds.chain(3), "3 steps, one after the other"),
        (worlds.plan([("a", "", 1, []), ("b", "", 1, [])]), "2 steps, and none waits for another"),
        (worlds.plan(worlds.DEPLOY), "8 steps; the longest chain is 7; 1 and 3 can start at once"),
        (worlds.plan([("1", "", 1, ["1"])]), "Step 1 waits for itself: it can never start"),
    ],
)
def test_the_title_states_the_finding(plan: Plan, title: str) -> None:
    assert views.graph(plan).title == title


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
    began = time.process_time()
    figure = views.graph(large(shape, 10_000))
    assert time.process_time() - began < 10
    assert "of 10,000 steps, and what they wait for among each other." in figure.caption
    drawn = figure.svg.count("<rect") - 1
    assert drawn == MOST_STEPS or shape == "dense"
    assert "not in the plan" not in figure.text
    assert figure.svg.count("<path") < 10 * MOST_EDGES


def ran(shape: str, slots: int | None) -> Run:
    work = {"tool": "work", "params": {"seconds": 1, "fails": False}}
    plan = Plan.parse([{**step.model_dump(), **work} for step in large(shape, 1_500).steps])
    return execute(plan, ToolExecutor(Toolbox([worlds.work])), workers=Simulated(slots))


def test_a_timeline_of_very_many_lanes_shows_the_first_ones() -> None:
    began = time.process_time()
    figure = views.timeline(ran("flat", None))
    assert time.process_time() - began < 20
    assert f"Drawn: the first {MOST_LANES} of 1,500 lanes." in figure.text
    assert len(figure._repr_html_()) < 1_000_000


@pytest.mark.wide
@pytest.mark.parametrize("shape", few(["a chain", "flat"], 1))
def test_a_long_run_has_few_names_and_rows(shape: str) -> None:
    run = ran(shape, 4)
    assert len(views.timeline(run).caption) < 1_000
    figure = views.board(run)
    assert figure.table.count("<tr") == 1_001
    assert "Showing 1,000 of 1,500 steps: rows 1 to 1,000. 1,500 done." in figure.text
