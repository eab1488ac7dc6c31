"""What was said about a step beside its state: that nobody judged it, that it was found wanting; and the news, in words."""

from __future__ import annotations

from planexec_lite.board import Board
from planexec_lite.views.words import clean, fit_columns, listed

MOST_NEWS = 3


def mark(board: Board, id: str) -> str:
    """Return ``found wanting`` or ``unverified`` for a step, or nothing."""
    if id in board.wanting:
        return "found wanting"
    return "unverified" if id in board.unverified and board.state[id] == "done" else ""


def judgements(board: Board) -> list[str]:
    """Return in sentences which steps were found wanting, and why, and which were never judged."""
    said = [f"Step {id} was found wanting: {fit_columns(clean(reason), 160)}." for id, reason in board.wanting.items()]
    if open := [id for id in board.state if mark(board, id) == "unverified"]:
        by = "its success criterion" if len(open) == 1 else "their success criteria"
        said.append(f"Unverified: nobody judged {listed(open)} by {by}.")
    return said


def told(board: Board) -> list[str]:
    """Return the latest news from outside in sentences."""
    news = [f"News: “{fit_columns(clean(text), 120)}”." for text in board.news[-MOST_NEWS:]]
    earlier = len(board.news) - len(news)
    return [*([f"Earlier news: {earlier}."] if earlier else []), *news]
