"""The runs inside steps, as far as they were told: a board for each, so that what was done there can be taken back from here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from planexec_lite.board.rollback import DEEPER, LeftInside
from planexec_lite.events import Inside

if TYPE_CHECKING:
    from planexec_lite.board.board import Board

UNKNOWN = "nobody knows whether it was done"


class RunsInside(dict[str, "list[Board]"]):
    """By step, the boards of the runs inside it: one for each attempt that was told. Their clock is that of the run around."""

    def copy(self) -> RunsInside:
        """Return a copy whose boards are copies too."""
        return RunsInside({id: [run.copy() for run in runs] for id, runs in self.items()})


def innermost(event: Inside) -> tuple[str, Any]:
    """What happened, and inside which step: "1", or "1/m" where it was inside step m of the run inside step 1."""
    label, told = event.step, event.event
    while isinstance(told, Inside):
        label, told = label + DEEPER + told.step, told.event
    return label, told


def board_of(board: Board, label: str) -> Board:
    """The board on which a label's own step stands: that of the latest run inside the steps before it."""
    around, deeper, further = label.partition(DEEPER)
    return board_of(board.inside[around][-1], further) if deeper and board.inside.get(around) else board


def unknown(board: Board) -> Iterator[tuple[str, str]]:
    """The labels of what may have been done, or undone, and nobody knows it; and why."""
    in_doubt = {id: UNKNOWN for id, attempts in board.table.in_doubt.items() if attempts > _told(board, id)}
    doubts = {id: (board.steps[id], why) for id, why in in_doubt.items()} | board.rollback.doubted
    for id, (step, why) in doubts.items():
        if step.undo is not None or board.once.changes_world(step):
            yield id, why
    for undo in board.rollback.unsure:
        yield undo.label, "nobody knows whether it was undone"
    for id, runs in _by_step(board):
        for run in runs:
            yield from ((f"{id}{DEEPER}{label}", why) for label, why in unknown(run))


def _by_step(board: Board) -> Iterator[tuple[str, list[Board]]]:
    """The runs inside steps, but for those that an undo of their step stands for."""
    for id, runs in board.inside.items():
        number = board.rollback.latest.get(id)
        if number is None or board.rollback.completed[number].undo is None:
            yield id, runs


def _told(board: Board, id: str) -> int:
    """In how many attempts that did not work out a call was made that may be made once, and the run inside told which."""
    runs = board.inside.get(id, ())
    return sum(1 for run in runs if run.once.spent and run.ended is not None and run.ended.status != "finished")


def left_inside(board: Board, again: bool) -> LeftInside:
    """What the runs inside steps leave for a rollback of the run around them.

    What they could not take back themselves is not tried once more, unless it is asked for `again`.
    """
    remains: list[tuple[str, str]] = []
    settled: set[str] = set()
    made: list[str] = []
    listed: dict[str, Any] = {}
    for id, runs in _by_step(board):
        path = id + DEEPER
        for run in runs:
            deeper = left_inside(run, again)
            tried = [] if again or run is not runs[-1] else [*deeper.remains, *run.rollback.remains]
            unsure = {undo.label for undo in run.rollback.unsure}
            remains += [(path + label, why) for label, why in tried]
            settled |= {path + label for label in {label for label, _ in tried} | unsure | deeper.settled}
            made += [*run.rollback.made, *deeper.made]
            listed |= {path + more: calls for more, calls in deeper.listed.items()}
            listed[path] = run.rollback.listed_calls
    return LeftInside(remains, settled, made, listed)
