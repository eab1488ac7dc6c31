"""Numbers of a prediction that differ from student to student, so that a class can't share them.

A teacher sets ``PLANEXEC_STUDENT`` to the student's id, on a hub for example; `python -m exercises.grade --own-numbers` does the
same. Without it, every learner has the numbers of the notebook.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from random import Random

LARGEST = 12

Numbers = Mapping[str, int]


def two_rules(minutes: Numbers) -> tuple[int, int]:
    """Return the minutes in which step C of exercise 15.2 ends: in rounds, and if each step starts when it is ready."""
    a, a2, b, b2, c = (minutes[step] for step in ("A", "A2", "B", "B2", "C"))
    return max(a, b) + max(a2, b2) + c, max(a + a2, b + b2) + c


DEFAULTS: Mapping[str, Numbers] = {"15.2": {"A": 2, "A2": 5, "B": 6, "B2": 1, "C": 1}}
FITS: Mapping[str, Callable[[Numbers], bool]] = {"15.2": lambda minutes: len(set(two_rules(minutes))) == 2}


def drawn(id: str) -> dict[str, int]:
    """Return the numbers of an exercise for this student, `drawn("15.2")`."""
    student = os.environ.get("PLANEXEC_STUDENT")
    numbers = dict(DEFAULTS[id])
    luck = Random(f"{student} {id}")
    while student and (numbers == DEFAULTS[id] or not FITS[id](numbers)):
        numbers = {name: luck.randint(1, LARGEST) for name in numbers}
    return numbers
