"""Exercises to the lessons: `check("01.2")`, `hint("01.2")`, `solution("01.2")`, `progress()`.

In the lessons: `compare("01.1", guess, outcome)` for predictions, `attempt(function, cases)` for coding tasks, and
`calibration()`.

Open a notebook of this folder; the answers are read from the notebook itself. See `exercises/README.md`.
"""

from exercises.checker.guesses import calibration, compare
from exercises.checker.tasks import attempt
from exercises.checker.verbs import check, hint, progress, solution

__all__ = ["attempt", "calibration", "check", "compare", "hint", "progress", "solution"]
