"""Doubt (lesson 10): a step was interrupted, and a repeat might do harm. A person says whether it was done."""

from __future__ import annotations

from dataclasses import replace

from planexec_lite.board import Board
from planexec_lite.core import WAIT, Signal, when_idle
from planexec_lite.events import Ended, Event, Paused


def ask_about_doubt(board: Board, policy: object) -> Event | Signal | None:
    """Pause until a person says what became of the step."""
    doubted = next(iter(board.table.doubted), None)
    return None if doubted is None else when_idle(board, Paused(board.now, "doubt", doubted), WAIT)


def report_doubt(board: Board, policy: object, event: Event) -> Event | Signal:
    """Guard: a run that ends names the nested steps whose outcome is unknown."""
    left = [] if board.rollback.begun or not isinstance(event, Ended) else board.left_in_doubt
    if not left or not isinstance(event, Ended):
        return event
    return replace(event, reason=f"{event.reason}; nobody knows whether {', '.join(left)} was done")
