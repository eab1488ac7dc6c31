"""The board as a table: how every step stands, what it waits for, and what came of it. No times."""

from __future__ import annotations

from planexec_lite.board import Board
from planexec_lite.run import Run
from planexec_lite.views.figure import Figure
from planexec_lite.views.marks import judgements, mark, told
from planexec_lite.views.sheet import Row, sheet
from planexec_lite.views.theme import LOOKS
from planexec_lite.views.words import clean, count, fit_columns, listed, name_of, value

HEAD = ("step", "status", "what", "waits for", "attempt", "result")


def board(shown: Run | Board) -> Figure:
    """Show where a run stands, step by step, as a table that says the same in text and in HTML.

    A result is shown as JSON, an error as it was reported; long ones are shortened in the middle. Steps that a later
    plan has superseded stand last, struck out; a done step says when nobody judged it, or when it was found wanting.
    """
    stand = shown.board if isinstance(shown, Run) else shown
    ids = sorted(stand.steps, key=lambda id: stand.state[id] == "superseded")
    rows = [_row(stand, id) for id in ids]
    return sheet(_finding(stand), HEAD, rows, _caption(stand))


def _row(stand: Board, id: str) -> Row:
    attempt, attempts = stand.attempt.get(id, (1, 1))
    tried = f"{attempt} of {attempts}" if attempts > 1 else ""
    waits_for = ", ".join(stand.steps[id].depends_on)
    cells = [id, "", name_of(stand.steps[id]), waits_for, tried, _came(stand, id)]
    return Row(cells, LOOKS[stand.state[id]], mark(stand, id))


def _came(stand: Board, id: str) -> str:
    """The result, or the claim that is being judged, or the error; that of an earlier try is said to be so."""
    for known in (stand.results, stand.claims):
        if id in known:
            return value(known[id])
    error = clean(stand.errors.get(id, ""))
    earlier = error and stand.state[id] in ("waiting", "running")
    return f"before: {error}" if earlier else error


def _finding(stand: Board) -> str:
    states = [state for state in stand.state.values() if state != "superseded"]
    done = f"{states.count('done')} of {count(len(states), 'step')} done" if states else "no plan yet"
    if stand.ended:
        if stand.ended.status == "failed" and stand.failed:
            skipped = states.count("skipped")
            return f"Step {listed(stand.failed)} failed: {done}" + (f", {skipped} skipped" if skipped else "")
        return f"{stand.ended.status.capitalize()}: {done}"
    if stand.paused:
        what = f"before step {stand.paused.step}" if stand.paused.step else "for approval of the plan"
        return f"Paused {what}: {done}"
    return done[0].upper() + done[1:]


def _caption(stand: Board) -> str:
    said = []
    if stand.ended and stand.ended.status != "finished":
        said.append(f"Ended: {clean(stand.ended.reason)}.")
    if stand.problems:
        said.append(f"The planner's last answer was refused: {'; '.join(clean(fault) for fault in stand.problems)}.")
    return " ".join([*([fit_columns(" ".join(said), 400)] if said else []), *judgements(stand), *told(stand)])
