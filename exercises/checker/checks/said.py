"""Read a learner's prediction: a number, several numbers, or names, in any reasonable form.

Numbers can have any numeric type, but not be strings. Names can be one string, "ABF" or "A, B and F", or any collection.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

from exercises.checker.exercise import Trial


def number(trial: Trial, said: Any, form: str) -> float:
    """Return the predicted number; a bool, a string or a list is wrong."""
    trial.want(_is_number(said), form, "Write your prediction as a number.")
    return float(said)


def numbers(trial: Trial, said: Any, count: int, form: str, rule: str) -> list[float]:
    """Return exactly `count` predicted numbers, in order."""
    found = listed(trial, said, form, rule, in_order=True)
    trial.want(len(found) == count and all(map(_is_number, found)), form, rule)
    return [float(one) for one in found]


def names(trial: Trial, said: Any, known: Iterable[str], form: str, rule: str, *, in_order: bool = False) -> list[str]:
    """Return the predicted names, all of them from `known`: "ABF", "A, B and F", ["A", "B", "F"], {"A", "B", "F"}.

    Upper and lower case are equal; an id can be a whole number; "A, with its title" is A.
    """
    ids = {name.casefold(): name for name in known}
    parts = [said] if isinstance(said, str) else listed(trial, said, form, rule, in_order=in_order)
    found = [_read(one, ids) for one in parts]
    if None in found:
        trial.wrong(form, rule)
    return [name for one in found for name in one or ()]


def listed(trial: Trial, said: Any, form: str, rule: str, *, in_order: bool = False) -> list[Any]:
    """Return the members of a collection: of a dict with bool values the keys that are True, of another dict the values."""
    if isinstance(said, Iterator):
        trial.wrong(form, "An iterator can be read only once. Make a list of it.")
    ordered = not (in_order and isinstance(said, (set, frozenset)))
    trial.want(ordered and isinstance(said, Collection) and not isinstance(said, (str, bytes)), form, rule)
    if isinstance(said, dict):
        chosen = all(isinstance(one, bool) for one in said.values())
        return [key for key, yes in said.items() if yes] if chosen else list(said.values())
    return list(said)


def _is_number(said: Any) -> bool:
    return isinstance(said, (Real, Decimal)) and not isinstance(said, bool)


def _read(said: Any, ids: dict[str, str]) -> list[str] | None:
    """Return the names in a string or a whole number, or None if it contains anything else."""
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
