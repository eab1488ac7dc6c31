"""The run so far in the planner's prompt. Results are untrusted data: the person who set the goal did not write them.

A planner that replans reads results: emails, web pages, logs, rows. A line in them can look like an instruction. So each
result and each error is one line of JSON after the word "data:", and the prompt explains that word. This makes an
injection harder, but not impossible. A check of the plan (`Policy.no_new_effects`) or a person's approval prevents its
effects.
"""

from __future__ import annotations

from dataclasses import dataclass
from sys import maxsize
from typing import Any

from planexec_lite.assembly import Board
from planexec_lite.capabilities.doubt import Doubt
from planexec_lite.capabilities.judging import Judging
from planexec_lite.capabilities.news import News
from planexec_lite.model.prompt_text import DATA_RULE, data_line, one_line
from planexec_lite.tools import references

__all__ = ["record"]

_LEAST = 40  # characters: a result with less room than this is left out


def record(board: Board, max_prompt: int = maxsize, max_results: int | None = None) -> str:
    """The run so far, for a planner: each step with its result or its error, then the news; "" at the start.

    Args:
        board: the board; it keeps the full results.
        max_prompt: results and errors are shortened until every step fits into that many characters.
        max_results: the most characters of all results together, the latest steps first; None: no bound.
    """
    left = maxsize if max_results is None else max_results
    most = max(max_prompt // (2 * len(board.steps) or 1), 100)
    room = _Room(most, left)
    lines = [_line(board, step, room) for step in reversed(board.steps)]
    rule = f"\n\n{DATA_RULE}" if any("data: " in line for line in lines) else ""
    so_far = f"{rule}\n\nSo far:\n" + "\n".join(reversed(lines)) if lines else ""
    news = [f"- {one_line(text)}" for text in board[News].texts]
    return so_far + ("\n\nNews:\n" + "\n".join(news) if news else "")


@dataclass
class _Room:
    """The room for results: the most characters of each, and those that are left for all."""

    most: int
    left: int

    def told(self, value: Any) -> str:
        """The text of a result or an error in about as many characters as fit; escapes may add a few."""
        length = len(references.as_text(value))
        room = min(self.left, self.most)
        if room < min(length, _LEAST):
            return f"not told, {length:,} characters"
        text = data_line(value, room)
        self.left = max(self.left - len(text), 0)
        return text


def _line(board: Board, step: str, room: _Room) -> str:
    """One step, with what became of it."""
    planned = board.steps[step]
    text = planned.description if planned.tool is None else str(planned)
    line = f"- step {step}, {one_line(text)}: "
    if step in board.results:
        line += f"done, result {room.told(board.results[step])}"
        rejected = board[Judging].rejected
        if step in rejected:
            line += f", rejected: {room.told(rejected[step])}"
        return line
    line += board.state[step]
    doubt = board[Doubt]
    if step in board.errors:
        line += f", {room.told(board.errors[step])}"
    if step in doubt.attempts:
        line += "; nobody knows how much of it was done, or whether it still goes on"
    if step in doubt.late:
        line += f"; a late result came, and does not count: {room.told(doubt.late[step])}"
    return line
