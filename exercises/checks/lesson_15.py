"""Checks for lesson 15: the same pattern elsewhere."""

from __future__ import annotations

from itertools import product
from typing import Any

from exercises.exercise import Trial, exercise

NO = 'A program that fails is "no", except if it passes with a model that plans the right thing by itself.'
ITSELF = 'It is "by itself" if no line is tagged, or if the program passes without the tagged lines.'
LINES = 'Write "1 line", and "3 lines".'
OBEYS = "If only an obedient model passes without the lines, say so, and then say the number of lines."


def _cell(passed: bool, lines: int, without: bool, obedient: bool) -> str:
    if not passed:
        return "only if the model obeys" if obedient else "no"
    if lines == 0 or without:
        return "by itself"
    count = "1 line" if lines == 1 else f"{lines} lines"
    return f"only if the model obeys; {count}" if obedient else count


def _rule(passed: bool, lines: int, without: bool, obedient: bool) -> str:
    if not passed:
        return NO
    if lines == 0 or without:
        return ITSELF
    return OBEYS if obedient else LINES


@exercise(
    "15.1",
    nudge="Decide in this order: did the program pass at all? Did it pass without our lines? Did it pass without them, with "
    "an obedient model?",
    question="What does it prove if a program passes with five lines of ours, and passes without them, too?",
    learned="A feature belongs to a framework if it is still there after you have removed your own code.",
)
def decide_cell(trial: Trial, cell: Any) -> None:
    """A function of four observations: it returns the text of a cell of the table."""
    first = [(True, 0, False, False), (False, 0, False, False), (True, 5, False, True), (True, 1, False, False)]
    rest = product((True, False), (0, 1, 2, 12), (False, True), (False, True))
    for observed in (*first, *rest):
        wanted = _cell(*observed)
        came = trial.call(cell, *observed)
        trial.want(came == wanted, repr(wanted), _rule(*observed))
