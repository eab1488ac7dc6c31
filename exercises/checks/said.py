"""What a learner has written down in a prediction: a number, several, or names, in whatever form they are written.

Numbers are numbers of any kind, and no texts. Names may stand in one text, "ABF" or "A, B and F", or in any collection.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

from exercises.exercise import Trial


def number(trial: Trial, said: Any, form: str) -> float:
    """The number that was said; a yes or no, a text or a list is none."""
    trial.want(_is_number(said), form, "A prediction is one number.")
    return float(said)


def numbers(trial: Trial, said: Any, count: int, form: str, rule: str) -> list[float]:
    """The numbers that were said, so many, in order."""
    found = listed(trial, said, form, rule, in_order=True)
    trial.want(len(found) == count and all(map(_is_number, found)), form, rule)
    return [float(one) for one in found]


def names(trial: Trial, said: Any, known: Iterable[str], form: str, rule: str, *, in_order: bool = False) -> list[str]:
    """The names that were said, each of them a known one: "ABF", "A, B and F", ["A", "B", "F"], {"A", "B", "F"}.

    Capitals don't matter; an id may be a whole number; "A, with its title" is A.
    """
    ids = {name.casefold(): name for name in known}
    parts = [said] if isinstance(said, str) else listed(trial, said, form, rule, in_order=in_order)
    found = [_read(one, ids) for one in parts]
    if None in found:
        trial.wrong(form, rule)
    return [name for one in found for name in one or ()]


def listed(trial: Trial, said: Any, form: str, rule: str, *, in_order: bool = False) -> list[Any]:
    """What a collection holds. A dict of True and False says which of its keys, any other dict its values."""
    if isinstance(said, Iterator):
        trial.wrong(form, "What can be read only once is gone when it is read: make a list of it.")
    ordered = not (in_order and isinstance(said, (set, frozenset)))
    trial.want(ordered and isinstance(said, Collection) and not isinstance(said, (str, bytes)), form, rule)
    if isinstance(said, dict):
        chosen = all(isinstance(one, bool) for one in said.values())
        return [key for key, yes in said.items() if yes] if chosen else list(said.values())
    return list(said)


def _is_number(said: Any) -> bool:
    return isinstance(said, (Real, Decimal)) and not isinstance(said, bool)


def _read(said: Any, ids: dict[str, str]) -> list[str] | None:
    """The names in one text, or the name that a whole number is; None when something else stands there."""
    text = str(said) if type(said) is not bool and isinstance(said, Integral) else said
    if not isinstance(text, str):
        return None
    words = [word for word in re.findall(r"\w+", text.casefold()) if word != "and"]
    found: list[str] = []
    for word in words:
        parts = [word] if word in ids else list(word)
        if not ids.keys() >= set(parts):
            title = re.match(r"\w+(?=, )", text.casefold())
            return [ids[title[0]]] if title and title[0] in ids else None
        found += [ids[part] for part in parts]
    return found
