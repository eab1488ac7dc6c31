"""Exercises to the lessons: `check("01.2")`, `hint("01.2")`, `solution("01.2")`, `progress()`.

Open a notebook of `exercises/student`; the answers are read from the notebook itself. See `exercises/README.md`.
"""

from exercises.checker import check, hint, progress, solution

__all__ = ["check", "hint", "progress", "solution"]
