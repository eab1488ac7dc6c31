"""Remarks about the state of a step (not judged, result rejected), and the sentence for news."""

from __future__ import annotations

from planexec_lab.views.drawing.text_fitting import clean, fit_columns
from planexec_lab.views.drawing.wording import few
from planexec_lite.assembly import Board
from planexec_lite.capabilities.judging import Judging
from planexec_lite.capabilities.news import News

MOST = 3  # pieces of news


def mark(board: Board, id: str) -> str:
    """Return ``result rejected`` or ``unverified``, if a step has this remark."""
    if id in board[Judging].rejected:
        return "result rejected"
    return "unverified" if id in board[Judging].unverified and board.state[id] == "done" else ""


def judgements(board: Board) -> list[str]:
    """Return in sentences whose results were rejected, and why, and which were never judged."""
    sentences = [
        f"The result of step {id} was rejected: {fit_columns(clean(reason), 160)}."
        for id, reason in board[Judging].rejected.items()
    ]
    if open := [id for id in board.state if mark(board, id) == "unverified"]:
        by = "its success criterion" if len(open) == 1 else "their success criteria"
        sentences.append(f"Unverified: no evaluator judged {few(open)} by {by}.")
    return sentences


def latest_news(board: Board) -> list[str]:
    """Return the latest news from outside in sentences."""
    news = [f"News: “{fit_columns(clean(text), 120)}”." for text in board[News].texts[-MOST:]]
    earlier = len(board[News].texts) - len(news)
    return [*([f"Earlier news: {earlier}."] if earlier else []), *news]
