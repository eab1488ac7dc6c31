"""Which steps a widget shows of a plan that is too large to be shown whole at each change: those around what changed.

What is not shown is counted in words, so that a step that runs or has failed outside the window is named all the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from planexec_lite.board import Board
from planexec_lite.events import Event
from planexec_lite.views.drawing.theme import LOOKS
from planexec_lite.views.drawing.wording import few

MOST = 40  # steps; up to here everything is shown
NAMED = ("running", "judging", "failed")


class Window(NamedTuple):
    """The steps `ids` of a board of `of` steps; the first of them stands in row `first`, counted from 1."""

    ids: list[str]
    first: int
    of: int

    @property
    def whole(self) -> bool:
        """Whether all steps are in it."""
        return len(self.ids) == self.of


def order(stand: Board) -> list[str]:
    """Return the steps in the order of the board's rows: superseded ones stand last."""
    return sorted(stand.steps, key=lambda id: stand.state[id] == "superseded")


def window(stand: Board, changed: str | None = None, first: int | None = None) -> Window:
    """Return which steps to show.

    Args:
        stand: the board.
        changed: the step that changed last; the window moves by half of its size, so that this step is never at its edge.
        first: the row to begin with, counted from 1, where a person chose one; a row too far down means the last rows.
    """
    ids = order(stand)
    if first is None:
        at = ids.index(changed) if changed in stand.steps else 0
        first = (at - MOST // 4) // (MOST // 2) * (MOST // 2) + 1
    first = max(1, min(first, len(ids) - MOST + 1))
    return Window(ids[first - 1 : first - 1 + MOST], first, len(ids))


def changed(events: Sequence[Event]) -> str | None:
    """Return the step that the latest of the events is about, or None."""
    steps = (step for event in reversed(events) if isinstance(step := getattr(event, "step", None), str))
    return next(steps, None)


def standing(stand: Board, shown: Window) -> str:
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
