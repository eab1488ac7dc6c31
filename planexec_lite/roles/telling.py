"""The run so far in the planner's prompt. Results are untrusted data: the person who set the goal did not write them.

A planner that replans reads results: emails, web pages, logs, rows. A line in them can look like an instruction.
`Telling` formats results as clearly marked data and bounds their length for any number of steps. This makes an
injection harder, but not impossible. A check of the plan (`Policy.no_new_effects`) or a person's approval prevents its
effects.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from planexec_lite.assembly import Board
from planexec_lite.capabilities.doubt import Doubt
from planexec_lite.capabilities.judging import Judging
from planexec_lite.capabilities.news import News
from planexec_lite.core import Event
from planexec_lite.core.events import PlanProposed, StepDone
from planexec_lite.model.prompt_text import DATA_RULE, data_line, one_line, shortened
from planexec_lite.tools import references

__all__ = ["Telling", "growth"]

_LEAST = 40  # characters: a result with less room than this is left out


@dataclass(frozen=True)
class Telling:
    """The form of results in the planner's prompt. The full results stay on the board.

    Args:
        marked: each result and each error is one line of JSON after the word "data:", and the prompt explains that word. False:
            the unchanged text, so that a result can forge lines of the prompt.
        longest: the most characters of each result, without its middle; None: no bound.
        together: the most characters of all results together, the latest steps first; None: no bound.

    Raises `ValueError` for a bound below one.
    """

    marked: bool = True
    longest: int | None = None
    together: int | None = None

    def __post_init__(self) -> None:
        for name, bound in {"longest": self.longest, "together": self.together}.items():
            if bound is not None and (type(bound) is not int or bound < 1):
                raise ValueError(
                    f"{name}={bound!r}: give a whole number from 1, or None for no bound"
                )

    def value(self, value: Any, most: int | None) -> str:
        """The text of a result or an error for the planner, in about `most` characters; escapes may add a few."""
        text = references.as_text(value)
        if self.longest is not None and len(text) > self.longest:
            value = text = shortened(text, self.longest)
        if self.marked:
            return data_line(value, most)
        return text if most is None else shortened(text, most)


AS_DATA = Telling()


def record(board: Board, max_prompt: int | None = None, telling: Telling = AS_DATA) -> str:
    """The run so far, for a planner: each step with its result or its error, then the news; "" at the start.

    With `max_prompt`, results and errors are shortened until every step fits into that many characters.
    """
    most = max(max_prompt // (2 * len(board.steps)), 100) if board.steps and max_prompt else None
    left = telling.together
    lines: list[str] = []
    for step in reversed(board.steps):
        room = most if left is None else min(left, most or left)
        line, used = _line(board, step, room, telling)
        lines.append(line)
        if left is not None:
            left = max(left - used, 0)
    rule = f"\n\n{DATA_RULE}" if any("data: " in line for line in lines) else ""
    so_far = f"{rule}\n\nSo far:\n" + "\n".join(reversed(lines)) if lines else ""
    news = [f"- {one_line(text)}" for text in board[News].texts]
    return so_far + ("\n\nNews:\n" + "\n".join(news) if news else "")


def _line(
    board: Board,
    step: str,
    most: int | None,
    telling: Telling,
) -> tuple[str, int]:
    """One step, and the number of characters that its results and errors use."""
    used = 0

    def told(value: Any) -> str:
        nonlocal used
        room = most if most is None or telling.together is None else most - used
        length = len(references.as_text(value))
        if telling.together is not None and room is not None and room < min(length, _LEAST):
            return f"not told, {length:,} characters"
        text = telling.value(value, room)
        used += len(text)
        return text

    planned = board.steps[step]
    text = planned.description if planned.tool is None else str(planned)
    line = f"- step {step}, {one_line(text)}: "
    if step in board.results:
        line += f"done, result {told(board.results[step])}"
        rejected = board[Judging].rejected
        if step in rejected:
            line += f", rejected: {told(rejected[step])}"
        return line, used
    line += board.state[step]
    doubt = board[Doubt]
    if step in board.errors:
        line += f", {told(board.errors[step])}"
    if step in doubt.attempts:
        line += "; nobody knows how much of it was done, or whether it still goes on"
    if step in doubt.late:
        line += f"; a late result came, and does not count: {told(doubt.late[step])}"
    return line, used


def growth(events: Iterable[Event]) -> dict[int, int]:
    """Return how the planner's prompt grows during a run: a dict from the number of done steps to the tokens of the
    latest prompt.
    """
    tokens: dict[int, int] = {}
    steps = 0
    for event in events:
        if isinstance(event, PlanProposed) and event.calls:
            tokens[steps] = event.calls[-1].input_tokens
        steps += isinstance(event, StepDone)
    return tokens
