"""Compares the results of an answer with those that a check expects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from exercises.checker.exercise import Trial, shown


def exactly(came: Any, wanted: Any) -> bool:
    """Return whether two values are equal with equal types at every depth: 7 is not "7", and True is not 1."""
    if type(came) is not type(wanted):
        return False
    if isinstance(wanted, dict):  # the order of its keys means nothing
        came, wanted = ([[key, one[key]] for key in sorted(one, key=shown)] for one in (came, wanted))
    if isinstance(wanted, (list, tuple)):
        return len(came) == len(wanted) and all(map(exactly, came, wanted))
    return bool(came == wanted) and shown(came) == shown(wanted)


def compare(trial: Trial, function: Any, groups: Any, same: Callable[[Any, Any], bool] = exactly) -> None:
    """Call a function with the arguments of each row, and compare its result with the last item of the row.

    Args:
        groups: by rule of the task, rows of arguments and the expected result.
        same: whether a result is the expected one.
    """
    for rule, rows in groups.items():
        for *arguments, wanted in rows:
            came = trial.call(function, *arguments)
            trial.want(same(came, wanted), repr(wanted), rule)
