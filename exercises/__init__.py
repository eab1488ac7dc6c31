"""Exercises to the lessons: `check("01.2")`, `hint("01.2")`, `solution("01.2")`, `progress()`, `next()`.

In the lessons: `compare("01.1", guess, outcome)` for predictions, and `attempt(function, cases)` for coding tasks.

Open a notebook of this folder; the answers are read from the notebook itself. See `exercises/README.md`.
"""

import mock_llm.command  # noqa: F401  # first, because the rest loads a second, and Ctrl-C must end it

from exercises.checker.guesses import compare
from exercises.checker.tasks import attempt
from exercises.checker.verbs import check, hint, next, progress, solution

__all__ = ["attempt", "check", "compare", "hint", "next", "progress", "solution"]
