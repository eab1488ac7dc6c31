"""Exercises to the lessons: `check("01.2")`, `hint("01.2")`, `solution("01.2")`, `progress()`.

Predictions of the lessons: `compare("01.1", guess, outcome)`, `calibration()`.

Open a notebook of `exercises/student`; the answers are read from the notebook itself. See `exercises/README.md`.
"""

from exercises.checker import check, hint, progress, solution
from exercises.guesses import calibration, compare

__all__ = ["calibration", "check", "compare", "hint", "progress", "solution"]
