"""The board as a table: the state of every step, its dependencies and its result. No times.

For a large plan a widget shows a window of rows around the latest change. The other rows are counted, and running and
failed steps among them are named.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from planexec_lab.views.drawing.figure import Figure
from planexec_lab.views.drawing.table import WHOLE, Row, table
from planexec_lab.views.drawing.text_fitting import clean, fit_columns
from planexec_lab.views.drawing.theme import LOOKS
from planexec_lab.views.drawing.visible import visible
from planexec_lab.views.drawing.wording import asked, count, few, name_of, value
from planexec_lab.views.step_remarks import judgements, latest_news, mark
from planexec_lite.assembly import Board
from planexec_lite.capabilities.judging import Judging
from planexec_lite.run import Run
from planexec_lite.run.events import Event

MOST = 40  # steps; up to here everything is shown
NAMED = ("running", "judging", "failed")
MOST_ROWS = 1_000
HEAD = ("step", "status", "what", "waits for", "attempt", "result")


class Window(NamedTuple):
    """The steps `ids` of a board of `of` steps; the first of them is in row `first`, counted from 1."""

    ids: list[str]
    first: int
    of: int

    @property
    def whole(self) -> bool:
        """Whether all steps are in it."""
        return len(self.ids) == self.of


def order(stand: Board) -> list[str]:
    """Return the steps in the order of the board's rows, superseded steps last."""
    return sorted(stand.steps, key=lambda id: stand.state[id] == "superseded")


def window(stand: Board, events: Sequence[Event]) -> Window:
    """Return the steps around the one that the latest of the events is about.

    The window moves by half of its size, so that this step is never at its edge.
    """
    ids, latest = order(stand), changed_last(events)
    at = ids.index(latest) if latest in stand.steps else 0
    first = max(1, min((at - MOST // 4) // (MOST // 2) * (MOST // 2) + 1, len(ids) - MOST + 1))
    return Window(ids[first - 1 : first - 1 + MOST], first, len(ids))


def changed_last(events: Sequence[Event]) -> str | None:
    """Return the step that the latest of the events is about."""
    steps = (step for event in reversed(events) if isinstance(step := getattr(event, "step", None), str))
    return next(steps, None)


def _standing(stand: Board, shown: Window) -> str:
    """Return in a sentence or three which rows are shown, and how many steps are in each state; nothing if all are."""
    if shown.whole:
        return ""
    sentences = [
        f"Showing {len(shown.ids):,} of {shown.of:,} steps: rows {shown.first:,} to {shown.first + len(shown.ids) - 1:,}."
    ]
    there: dict[str, list[str]] = {state: [] for state in LOOKS}
    for id, state in stand.state.items():
        there[state].append(id)
    named = [f"{LOOKS[state].word.capitalize()}: {few(there[state])}." for state in NAMED if there[state]]
    counts = [f"{len(ids):,} {LOOKS[state].word}" for state, ids in there.items() if ids and state not in NAMED]
    return " ".join([*sentences, *named, *([f"{', '.join(counts).capitalize()}."] if counts else [])])


def board(shown: Run | Board) -> Figure:
    """Show a run's state, step by step, as a table with the same content in text and in HTML.

    A result is shown as JSON, an error as it was reported; long ones take up to five lines. Superseded
    steps come last, struck out. A done step is marked if no evaluator judged its result, or if the result was rejected.
    Of more than 1,000 steps the first are shown and the others are counted.
    """
    stand = shown.board if isinstance(shown, Run) else shown
    return part(stand, Window(order(stand)[:MOST_ROWS], 1, len(stand.steps)))


def in_full(stand: Board, asked_about: str | None = None) -> Figure:
    """Show all steps of a board uncut, with hidden characters as codes, for a person who decides about its run.

    The step that the question is about is marked.
    """
    rows = []
    for id in order(stand):
        row = _row(stand, id)
        marked = "◂ the question" if id == asked_about else row.mark
        rows.append(row._replace(cells=[*map(visible, row.cells)], mark=marked))
    return table(finding(stand), HEAD, rows, _caption(stand), lines=WHOLE)


def part(stand: Board, shown: Window, latest: str | None = None) -> Figure:
    """Show the rows of a board that are in a window, and count the others; the step that changed last is marked."""
    caption = " ".join(filter(None, (_standing(stand, shown), _caption(stand))))
    rows = []
    for id in shown.ids:
        row = _row(stand, id)
        rows.append(row._replace(mark="◂ changed last") if id == latest else row)
    return table(finding(stand), HEAD, rows, caption, columns=120, lines=5)


def _row(stand: Board, id: str) -> Row:
    attempt, attempts = stand.attempt.get(id, (1, 1))
    tried = f"{attempt} of {attempts}" if attempts > 1 else ""
    waits_for = ", ".join(stand.steps[id].depends_on)
    cells = [id, "", name_of(stand.steps[id]), waits_for, tried, _came(stand, id)]
    return Row(cells, LOOKS[stand.state[id]], mark(stand, id))


def _came(stand: Board, id: str) -> str:
    """The result, the claim under judgement, or the error; an earlier attempt's error is marked as such."""
    for known in (stand.results, stand[Judging].results):
        if id in known:
            return value(known[id])
    error = clean(stand.errors.get(id, ""))
    earlier = error and stand.state[id] in ("waiting", "running")
    return f"before: {error}" if earlier else error


def finding(stand: Board) -> str:
    """How far a run has come, in one sentence."""
    states = [state for state in stand.state.values() if state != "superseded"]
    done = f"{states.count('done'):,} of {count(len(states), 'step')} done" if states else "no plan yet"
    if stand.ended:
        if stand.ended.status == "failed" and stand.failed:
            skipped = states.count("skipped")
            return f"Step {few(list(stand.failed))} failed: {done}" + (f", {skipped:,} skipped" if skipped else "")
        return f"{stand.ended.status.capitalize()}: {done}"
    if stand.paused:
        waits_for = asked(stand.paused.question)
        end = "" if waits_for.endswith("?") else ":"
        return f"Paused for {waits_for}{end} {done}"
    return done[0].upper() + done[1:]


def _caption(stand: Board) -> str:
    sentences = []
    if stand.ended and stand.ended.status != "finished":
        sentences.append(f"Ended: {clean(stand.ended.reason)}.")
    if stand.problems:
        sentences.append(
            f"The planner's last answer was invalid: {'; '.join(clean(fault) for fault in stand.problems)}."
        )
    return " ".join(filter(None, [fit_columns(" ".join(sentences), 400), *judgements(stand), *latest_news(stand)]))
