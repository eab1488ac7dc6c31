"""puzzle() and solved(). An answer is not started, raised an error, is wrong or is right. Neither raises in the notebook."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping

from planexec_lab.views import Figure
from planexec_lab.views.drawing.table import Row, table
from planexec_lite.workers.session import described

from exercises.checker import record
from exercises.checker.verbs import Outcome, display, show
from exercises.puzzles.attempt import Attempt
from exercises.puzzles.collection import PUZZLES
from exercises.puzzles.rules import reached

COLUMNS = 88


def puzzle(number: int, plan: str, **more: int | Mapping[str, int]) -> None:
    """Run an answer, draw the run, and print the result and the expected result.

    Args:
        number: the number of the puzzle, 1 to 13.
        plan: the plan, one line per step.
        more: `slots` or `limits`, where the puzzle asks for them.
    """
    outcome = judged(number, plan, **more)
    record.remember(_name(number), outcome.status)
    for figure in outcome.figures:
        display(figure)
    show(outcome)


def judged(number: int, plan: str, **more: int | Mapping[str, int]) -> Outcome:
    """Return the outcome for an answer."""
    if number not in range(1, len(PUZZLES) + 1):
        return Outcome("not started", f"There is no puzzle {number!r}; there are 1 to {len(PUZZLES)}.")
    try:
        attempt = PUZZLES[number - 1].answered(plan, **more)
        status, rows = _judged(attempt)
        return _told(number, status, rows, (attempt.figure(),))
    except Exception as problem:  # any error in the notation, the slots or the limits
        return _told(number, "raised", {"error": described(problem)})


def _judged(attempt: Attempt) -> tuple[str, dict[str, str]]:
    one = attempt.puzzle
    because = next((why for rule in one.rules if (why := rule.broken(attempt))), "")
    if not because:
        return "right", {"result": reached(attempt), "learned": one.learned}
    wanted = "; ".join(rule.wanted for rule in one.rules)
    return "not started" if attempt == one.given else "wrong", {
        "result": reached(attempt), "expected": wanted, "because": because,
    }  # fmt: skip


def _told(number: int, status: str, rows: Mapping[str, str], figures: tuple[Figure, ...] = ()) -> Outcome:
    heading = f"Puzzle {number} · {record.VERDICTS[status].word.capitalize()}"
    wrapped = [
        textwrap.fill(text, COLUMNS, initial_indent=f"  {name:<11}", subsequent_indent=" " * 13)
        for name, text in rows.items()
    ]
    return Outcome(status, "\n".join([heading, *wrapped]), figures)


def solved() -> Figure:
    """Show which puzzles you have solved."""
    status = record.known()
    looks = [record.VERDICTS[status.get(_name(number), "not started")] for number in range(1, len(PUZZLES) + 1)]
    right = sum(look.word == "right" for look in looks)
    rows = [
        Row([f"{number} {one.title}", ""], look)
        for number, (one, look) in enumerate(zip(PUZZLES, looks, strict=True), 1)
    ]
    return table(f"{right} of {len(PUZZLES)} puzzles right", ("puzzle", "status"), rows)


def _name(number: int) -> str:
    """Return the puzzle's name in the record."""
    return f"puzzle {number}"
