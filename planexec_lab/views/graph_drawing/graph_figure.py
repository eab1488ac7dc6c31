"""The graph of a plan: its dependencies and, for a run, every step's state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import pairwise

from planexec_lab.views.drawing.figure import Figure
from planexec_lab.views.drawing.text_fitting import aligned, clean, fit_columns
from planexec_lab.views.drawing.theme import LOOKS, Look
from planexec_lab.views.drawing.wording import count, few, in_a_row, listed, name_of, seconds
from planexec_lab.views.graph_drawing.cards import Card
from planexec_lab.views.graph_drawing.layers import shape
from planexec_lab.views.graph_drawing.sketch import MOST_COLUMNS, MOST_IN_BANDS, MOST_MARKED, Sketch
from planexec_lab.views.step_remarks import judgements, mark
from planexec_lite.assembly import Board
from planexec_lite.capabilities.judging import Judging
from planexec_lite.plan import Plan
from planexec_lite.plan import graph as plan_graph
from planexec_lite.run import Run

MOST_STEPS, MOST_EDGES = 300, 2_000  # the most steps that are drawn; more would be slow and unreadable
Graph = Mapping[str, tuple[str, ...]]


def graph(shown: Plan | Run | Board, durations: Mapping[str, float] | None = None, title: str | None = None) -> Figure:
    """Draw the dependencies from left to right; the steps of a run show their state.

    Only the first steps of a large plan are drawn, and the caption says how many.

    Args:
        shown: a plan, valid or not (cycles and unknown steps are named), a run or its board.
        durations: seconds by step id; with them the critical path is drawn thicker. `views.durations(run)` returns those
            of a run. A step without a duration counts as 0.
        title: the finding; by default it is derived from the plan or the run.
    """
    return draw(shown, durations, title)[0]


def draw(
    shown: Plan | Run | Board,
    durations: Mapping[str, float] | None,
    title: str | None,
    looks: Mapping[str, Look] | None = None,
    marks: Mapping[str, str] | None = None,
) -> tuple[Figure, Sketch]:
    """Return the figure, and the sketch that it was made from; `looks` and `marks` are those of a plan's steps, by id."""
    board = shown.board if isinstance(shown, Run) else shown if isinstance(shown, Board) else None
    plan = shown if isinstance(shown, Plan) else shown.plan
    waits_for = {id: tuple(dict.fromkeys(others)) for id, others in plan.graph.items()}
    names: dict[str, str] = {}
    for step in plan.steps:
        names[step.id] = f"{names[step.id]} / {name_of(step)}" if step.id in names else name_of(step)
    marks = {id: mark(board, id) for id in waits_for} if board else marks or {}
    looks = {id: LOOKS[board.state[id]] for id in waits_for} if board else looks or {}
    times = {id: durations.get(id, 0.0) for id in waits_for} if durations is not None else {}
    path, length = plan.critical_path(times) if times else ([], 0.0)
    path = path if length else []
    notes = {id: seconds(time, max(times.values())) for id, time in times.items()}
    critical, drawn = set(path), _drawn(waits_for)
    cards = {
        id: Card(id, names[id], looks.get(id), notes.get(id, ""), id in critical, marks.get(id, "")) for id in drawn
    }
    # a card with "result rejected" is wider, so fewer cards fit in a row
    form = shape(drawn, MOST_MARKED if "result rejected" in marks.values() else MOST_COLUMNS, MOST_IN_BANDS)
    title = clean(title) if title is not None else _finding(plan, waits_for, board, path, length)
    # a step that is not in the plan gets a card all the same: its edge starts somewhere
    strangers = {other: Card(f"? {other}", "unknown") for others in drawn.values() for other in others} | cards
    sketch = Sketch(title, strangers, form, set(pairwise(path)))
    caption = _caption(plan, board, path, length)
    if len(drawn) < len(waits_for):
        steps = f"the first {len(drawn):,} of {len(waits_for):,} steps"
        folded = f"Drawn: {steps}, and what they wait for among each other."
        caption = " ".join(filter(None, [folded, caption]))
    lines = _lines(cards, waits_for, set(form.circles))
    alt = f"Graph: {title}. {_edges(waits_for, cards)}"
    text = "\n".join([title, *lines, *([caption] if caption else [])])
    return Figure(title, text, alt, caption, sketch.size[0], svg=sketch.svg), sketch


def _drawn(waits_for: Graph) -> Graph:
    """The part of a graph that is drawn: the first steps, and their edges to each other and to unknown steps."""
    drawn: dict[str, tuple[str, ...]] = {}
    edges = 0
    for id, others in waits_for.items():
        edges += len(others)
        if len(drawn) == MOST_STEPS or (edges > MOST_EDGES and drawn):
            break
        drawn[id] = others[:MOST_EDGES]
    return {id: tuple(one for one in others if one in drawn or one not in waits_for) for id, others in drawn.items()}


def _finding(plan: Plan, waits_for: Graph, board: Board | None, path: list[str], length: float) -> str:
    states = {state: [id for id in waits_for if board and board.state[id] == state] for state in LOOKS}
    steps = count(len(waits_for), "step")
    if not waits_for:
        return "No plan yet" if board else "A plan without steps"
    if states["failed"]:
        behind = f"; {few(states['skipped'])} skipped behind it" if states["skipped"] else ""
        return f"Step {few(states['failed'])} failed{behind}"
    if circles := plan_graph.cycles(waits_for):
        around = circles[0]
        where = f"Step {around[0]} waits for itself" if len(around) == 1 else f"Steps {few(around)} form a cycle"
        return f"{where}: {'it can never' if len(around) == 1 else 'none of them can ever'} start"
    for id, others in waits_for.items():
        if missing := [other for other in others if other not in waits_for]:
            return f"Step {id} waits for {few(missing)}, which is not in the plan"
    if path:
        return f"At least {seconds(length)}: {len(path)} of {steps} must follow one another"
    if board and any(state != "waiting" for state in board.state.values()):
        rejected = f"; result of step {few(list(board[Judging].rejected))} rejected" if board[Judging].rejected else ""
        return f"{len(states['done'])} of {steps} done{rejected}"
    waves = plan.waves()
    if len(waves) == 1:
        return steps if len(waits_for) == 1 else f"{steps}, and none waits for another"
    if len(waves) == len(waits_for):
        return f"{steps}, one after the other"
    first = waves[0]
    start = f"; {listed(first)} can start at once" if 1 < len(first) <= 6 else ""
    return f"{steps}; the longest chain is {len(waves)}{start}"


def _caption(plan: Plan, board: Board | None, path: list[str], length: float) -> str:
    sentences = []
    if path:
        sentences.append(f"Thick outline: the critical path {in_a_row(path)}, {seconds(length)}.")
    if twice := [id for id, times in Counter(step.id for step in plan.steps).items() if times > 1]:
        sentences.append(f"More than one step has the id {few(twice)}.")
    if board and (gone := [id for id, state in board.state.items() if state == "superseded"]):
        sentences.append(f"Not drawn: {few(gone)}, superseded by a later plan.")
    return " ".join([*sentences, *(judgements(board) if board else [])])


def _lines(cards: Mapping[str, Card], waits_for: Graph, circles: set[tuple[str, str]]) -> list[str]:
    rows = []
    for id, card in cards.items():
        marks = {other: "" if other in waits_for else " (not in the plan)" for other in waits_for[id]}
        marks |= {other: " (cycle)" for other in waits_for[id] if (other, id) in circles}
        after = "after " + ", ".join(other + mark for other, mark in marks.items()) if marks else ""
        critical = "critical" if card.thick else ""
        rows.append([f"  {id}", fit_columns(card.name, 60), _status(card), card.note, critical, after])
    used = [[cell for cell, column in zip(row, zip(*rows, strict=True), strict=True) if any(column)] for row in rows]
    return aligned(used)


def _status(card: Card) -> str:
    return ", ".join(words for words in (str(card.look or ""), card.mark) if words)


def _edges(waits_for: Graph, cards: Mapping[str, Card]) -> str:
    steps = []
    for id, others in [(id, waits_for[id]) for id in cards][:12]:
        look, marked = cards[id].look, cards[id].mark
        state = (f", {look.word}" if look else "") + (f", {marked}" if marked else "")
        steps.append(f"{id}{state}" + (f", after {few(others)}" if others else ""))
    more = f"; and {len(waits_for) - len(steps)} more steps" if len(waits_for) > len(steps) else ""
    return f"Steps: {'; '.join(steps)}{more}." if steps else "There are no steps."
