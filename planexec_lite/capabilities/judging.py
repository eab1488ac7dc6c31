"""Judging (lesson 06): an evaluator checks each result whose step has a success criterion."""

from __future__ import annotations

from planexec_lite.board import Board
from planexec_lite.core import Signal
from planexec_lite.events import Event, JudgeStarted


def judge_next(board: Board, policy: object) -> Event | Signal | None:
    """Judge the next result."""
    return JudgeStarted(board.now, board.table.to_judge[0]) if board.table.to_judge else None
