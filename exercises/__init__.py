"""Exercises to the lessons: `check("01.2")`, `hint("01.2")`, `solution("01.2")`, `progress()`.

In the lessons: `compare("01.1", guess, outcome)` for predictions, `attempt(function, cases)` for coding tasks, and
`calibration()`.

Open a notebook of `exercises/student`; the answers are read from the notebook itself. See `exercises/README.md`.
"""

from exercises.checker import check, hint, progress, solution
from exercises.guesses import calibration, compare
from exercises.tasks import attempt

__all__ = ["attempt", "calibration", "check", "compare", "hint", "progress", "solution"]
