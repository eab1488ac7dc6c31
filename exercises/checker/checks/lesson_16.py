"""Checks for lesson 16: agents of today, and appendix A8."""

from __future__ import annotations

from typing import Any

from exercises.checker.checks import said
from exercises.checker.comparing import compare
from exercises.checker.data import data
from exercises.checker.exercise import Trial, exercise


@exercise("16.1")
def nothing_disappears(trial: Trial, lost: Any) -> None:
    """A function of two todo lists: it returns the texts of the items that got lost."""
    compare(trial, lost, data("16.1")["cases"])


@exercise("16.2")
def two_protections(trial: Trial, by_list: Any, by_hash: Any) -> None:
    """Two groups of letters: the calls that pass the allow-list, and those that pass the hash."""
    for guess, (name, right, wanted, rule) in zip((by_list, by_hash), data("16.2")["cases"], strict=True):
        trial.given(name, guess)
        letters = said.names(trial, guess, "ABCD", 'letters, as in "AB"', "Write the letters of the calls that pass.")
        trial.want(sorted(letters) == list(right), wanted, rule)


@exercise("16.3")
def two_writers(trial: Trial, merged: Any) -> None:
    """A function of a text and edits: it returns the new text and the numbers of the refused edits."""
    compare(trial, merged, data("16.3")["cases"])


@exercise("16.4")
def what_survives(trial: Trial, compact: Any) -> None:
    """A function of a window and a log: it returns the smaller window."""
    compare(trial, compact, data("16.4")["cases"])


@exercise("16.5")
def found_tools(trial: Trial, search: Any) -> None:
    """A function of tools, a query and a number: it returns the names of the best tools."""
    given = data("16.5")
    cases = {rule: [[given["tools"], *row] for row in rows] for rule, rows in given["cases"].items()}
    compare(trial, search, cases)
    compare(trial, search, given["others"])
