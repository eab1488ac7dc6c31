"""Numbers of a prediction that differ from student to student, so that a class can't share them.

A teacher sets ``PLANEXEC_STUDENT`` to the student's id, on a hub for example; `python -m exercises.grade --own-numbers` does the
same. Without it, every learner has the numbers of the notebook. Not every draw fits: `FITS` says which numbers make the question
worth asking.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from random import Random

LARGEST = 12  # of the drawn numbers, or twice the number of the notebook if that is more

Numbers = Mapping[str, int]


def two_rules(minutes: Numbers) -> tuple[int, int]:
    """Return the minutes in which step C of exercise 15.2 ends: in rounds, and if each step starts when it is ready."""
    a, a2, b, b2, c = (minutes[step] for step in ("A", "A2", "B", "B2", "C"))
    return max(a, b) + max(a2, b2) + c, max(a + a2, b + b2) + c


def sum_of(numbers: Numbers) -> str:
    """Return the goal of exercise 01.1: a sum of products, from which the other numbers are subtracted."""
    products = [f"{2 * n} * {2 * n + 1}" for n in range(1, numbers["products"] + 1)]
    others = [f" - {2 * numbers['products'] + n}" for n in range(2, numbers["others"] + 2)]
    return f"What is {' + '.join(products)}{''.join(others)}?"


DEFAULTS: Mapping[str, Numbers] = {
    "01.1": {"products": 2, "others": 1},
    "02.1": {"goal": 100, "observation": 100},
    "04.1": {"first": 1, "second": 3, "third": 9},
    "11.5": {"short": 4, "long": 16},
    "15.2": {"A": 2, "A2": 5, "B": 6, "B2": 1, "C": 1},
}
FITS: Mapping[str, Callable[[Numbers], bool]] = {
    "01.1": lambda numbers: sum(numbers.values()) <= LARGEST,
    "02.1": lambda characters: min(characters.values()) >= LARGEST,
    "04.1": lambda bounds: min(bounds.values()) < 3 <= max(bounds.values()),
    "11.5": lambda pages: 6 <= 2 * pages["short"] <= pages["long"] <= 16,
    "15.2": lambda minutes: len(set(two_rules(minutes))) == 2,
}


def drawn(id: str) -> dict[str, int]:
    """Return the numbers of an exercise for this student, `drawn("15.2")`."""
    student = os.environ.get("PLANEXEC_STUDENT")
    numbers = dict(DEFAULTS[id])
    luck = Random(f"{student} {id}")
    while student and (numbers == DEFAULTS[id] or not FITS[id](numbers)):
        numbers = {name: luck.randint(1, max(LARGEST, 2 * usual)) for name, usual in DEFAULTS[id].items()}
    return numbers
