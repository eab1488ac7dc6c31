"""Predictions in the lessons: `compare` compares a guess with the learner's own run, `board` shows all guesses.

A lesson asks before it shows: a cell ``guess = ...`` for the learner, and the next cell ends in ``compare``. Its output
depends only on the guess and the run, never on stored guesses. The first guess counts: it is stored with the
outcome (see `record`), and only `progress()` shows it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from numbers import Real
from typing import Any, NamedTuple

from planexec_lab.views.drawing.figure import Figure
from planexec_lab.views.drawing.table import Row, table
from planexec_lab.views.drawing.theme import LOOKS

from exercises.authors.reveals import reveal
from exercises.checker import record

COLUMNS = ("prediction", "status", "your guess", "outcome", "kind")
NEAR = 0.25  # relative error up to which a number counts as near
HALF = 0.5  # share of a list or a table that must be right to count as near
PREFIX = "guess "
_LOOKS = {
    "right": LOOKS["done"]._replace(word="right"),
    "near": LOOKS["waiting"]._replace(word="near"),
    "wrong": LOOKS["failed"]._replace(word="wrong"),
}
_FORMS = {
    "number": "a number, such as 12",
    "list": 'a list, such as ["1", "5b"]',
    "table": 'a table, such as {"5": 0, "6": 10}',
    "yes or no": "True or False",
    "words": 'a text, such as "5b"',
}


class Guess(NamedTuple):
    """A prediction with the id "lesson.number", its outcome, and its verdict: "right", "near" or "wrong"."""

    id: str
    guess: Any
    outcome: Any
    verdict: str

    @property
    def kind(self) -> str:
        """The kind of question: "number", "list", "table", "yes or no" or "words"."""
        return kind_of(self.outcome)


def compare(id: str, guess: Any, outcome: Any) -> None:
    """Print a guess, the outcome, and the text that explains it; keep the first guess. ``...`` means no guess.

    The first line never names the outcome, because JupyterLab shows that line in place of a folded output. The text
    comes from `exercises.authors.reveals`, so the lesson itself doesn't give it away.

    Args:
        id: lesson and number of the prediction, such as "02.1".
        guess: what the learner expects.
        outcome: what the run showed: a number, a text, a truth value, a list (in any order), or a table of numbers.
    """
    shown = _shown(outcome)
    given = None if guess is ... else _read(guess, outcome)
    if guess is ...:
        print(f"No guess.\nIt was: {shown}")
    elif given is None:
        print(f"The guess {_shown(guess)} is not {_FORMS[kind_of(outcome)]}.\nIt was: {shown}")
    else:
        verdict = judged(given, outcome)
        print(
            f"Your guess: {_shown(given)}.\nIt was: {shown}. {record.marked(_LOOKS[verdict], f'{verdict.capitalize()}.')}"
        )
        if PREFIX + id not in record.kept():
            record.keep(PREFIX + id, {"guess": _plain(given), "outcome": _plain(outcome), "verdict": verdict})
    if text := reveal(id):
        print(f"\n{text}\n")


def judged(guess: Any, outcome: Any) -> str:
    """Return "right", "near" or "wrong"; the guess has the form of the outcome."""
    kind = kind_of(outcome)
    if kind == "number":
        if math.isclose(guess, outcome, rel_tol=1e-6):
            return "right"
        return "near" if abs(guess - outcome) <= NEAR * abs(outcome) else "wrong"
    if kind == "table":
        wanted = {str(id): value for id, value in outcome.items()}
        hits = sum(id in guess and math.isclose(guess[id], value, rel_tol=1e-6) for id, value in wanted.items())
        return _by_share(hits, len(wanted.keys() | guess.keys()))
    if kind == "list":
        wanted = Counter(map(_shown, outcome))
        both, either = Counter(guess) & wanted, Counter(guess) | wanted
        return _by_share(both.total(), either.total())
    return "right" if guess == outcome else "wrong"


def kind_of(outcome: Any) -> str:
    """Return what kind of answer it is: "number", "list", "table", "yes or no" or "words"."""
    if isinstance(outcome, bool):
        return "yes or no"
    if isinstance(outcome, Real):
        return "number"
    if isinstance(outcome, Mapping):
        return "table"
    return "list" if isinstance(outcome, Sequence | Set) and not isinstance(outcome, str) else "words"


def guesses() -> list[Guess]:
    """Return what was guessed so far, in the order of the lessons; entries that can't be read are left out."""
    found = []
    for name, entry in sorted(record.kept().items()):
        if name.startswith(PREFIX) and isinstance(entry, dict) and entry.get("verdict") in _LOOKS:
            found.append(Guess(name.removeprefix(PREFIX), entry.get("guess"), entry.get("outcome"), entry["verdict"]))
    return found


def board(chosen: Sequence[Guess]) -> Figure:
    """Show guesses with their outcomes, and how many of each kind were right or near."""
    counts = Counter(one.verdict for one in chosen)
    title = f"{len(chosen)} guesses: {', '.join(f'{counts[verdict]} {verdict}' for verdict in _LOOKS)}"
    rows = [Row([one.id, "", _shown(one.guess), _shown(one.outcome), one.kind], _LOOKS[one.verdict]) for one in chosen]
    return table(title, COLUMNS, rows, "; ".join(_by_kind(chosen)))


def _by_kind(chosen: Sequence[Guess]) -> list[str]:
    """Return for each kind how many of its guesses were right or near."""
    all_of = Counter(one.kind for one in chosen)
    good = Counter(one.kind for one in chosen if one.verdict != "wrong")
    return [f"{kind}: {good[kind]} of {all_of[kind]} right or near" for kind in sorted(all_of)]


def _by_share(hits: int, total: int) -> str:
    if hits == total:
        return "right"
    return "near" if hits >= HALF * total else "wrong"


def _read(guess: Any, outcome: Any) -> Any:
    """Return the guess in the form of the outcome, "5" for 5 and 5 for "5"; None where it has another form."""
    kind = kind_of(outcome)
    try:
        if kind == "number":
            number = float(guess)
            return None if isinstance(guess, bool) or math.isnan(number) else number
        if kind == "yes or no":
            words = {"yes": True, "true": True, "no": False, "false": False}
            return guess if isinstance(guess, bool) else words.get(str(guess).strip().lower())
        if kind == "table":
            return {str(id): float(value) for id, value in guess.items()}
        if kind == "list":
            members = [guess] if isinstance(guess, str | Real) else list(guess)
            return [_shown(member) for member in members]
        return None if isinstance(guess, Mapping | Set | list | tuple) else str(guess).strip()
    except (TypeError, ValueError, AttributeError):
        return None


def _plain(value: Any) -> Any:
    """Return a value as JSON can hold it."""
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, Sequence | Set) and not isinstance(value, str):
        return [_plain(each) for each in value]
    return value if isinstance(value, bool | int | float | str) else str(value)


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Real):
        return f"{float(value):.10g}"
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {_shown(each)}" for name, each in value.items()) or "none"
    if isinstance(value, Sequence | Set) and not isinstance(value, str):
        return ", ".join(map(_shown, value)) or "none"
    return str(value)
