"""What a nested run must know of the runs around it (lesson 10): their calls with effects, and whether results were read."""

from __future__ import annotations

from planexec_lite.core import Board, Capability, Part
from planexec_lite.core.events import Event
from planexec_lite.frozen import frozen
from planexec_lite.tools import KnownCall


@frozen
class OuterKnown(Event):
    """A nested run begins, or continues. `known` are the calls with effects that the runs around it know.

    `lane` keeps the occurrences of its new calls apart from those of a nested run beside it. `informed`: its planner has
    read results, because the step around it uses some. `planned` are the tools that the plans around it call, if new
    effects are forbidden there.
    """

    known: tuple[KnownCall, ...] = ()
    lane: int = 0
    informed: bool = False
    planned: tuple[str, ...] | None = None


class Outer(Part):
    """`latest`: the latest report from the runs around this one; empty in the outermost run."""

    latest: OuterKnown = OuterKnown(0.0)


def _learned(board: Board, event: OuterKnown) -> None:
    board[Outer].latest = event


CAPABILITY = Capability(Outer, folds={OuterKnown: _learned})
