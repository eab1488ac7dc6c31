"""The wording of steps, results, times, numbers and lists of ids in all pictures."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace

from planexec_lab.views.drawing.text_fitting import clean
from planexec_lite.plan import Step
from planexec_lite.run.events import Question
from planexec_lite.tools import shown


def name_of(step: Step) -> str:
    """The name of a step in all pictures: its description or, without one, its call."""
    return clean(step.description or step)


def asked(question: Question) -> str:
    """What a question asks for, without its details: "a yes before step 3"."""
    return clean(replace(question, call=None, amounts={}, why=""))


def value(result: object) -> str:
    """A result as a line of JSON; a value that JSON can't hold is described."""
    try:
        return clean(json.dumps(result, ensure_ascii=False, default=str))
    except Exception:  # what was emitted inside a step may raise anything
        return clean(shown(result))


def seconds(time: float, longest: float | None = None) -> str:
    """A time such as ``0.5 s``, ``103 s`` or ``62 min``, in the unit of the figure's `longest` time."""
    factor, unit = scale(time if longest is None else longest)
    return f"{round(time / factor, 1 if time / factor >= 10 else 2):g} {unit}"


def scale(longest: float) -> tuple[float, str]:
    """The unit that suits a figure whose `longest` time is given in seconds, as (seconds in it, its name)."""
    minutes = longest >= 600 or (longest >= 300 and longest % 60 == 0)
    return (60.0, "min") if minutes else (0.001, "ms") if 0 < longest < 0.1 else (1.0, "s")


def listed(ids: Iterable[str]) -> str:
    """Ids as a person says them: ``1, 2 and 3``."""
    *others, last = list(ids) or [""]
    return f"{', '.join(others)} and {last}" if others else last


def few(ids: Sequence[str], most: int = 12) -> str:
    """Ids as `listed` says them; of more than `most`, the first ones, and how many more there are."""
    return listed(ids) if len(ids) <= most else f"{', '.join(ids[:most])} and {len(ids) - most:,} more"


def in_a_row(ids: Sequence[str], most: int = 40) -> str:
    """Ids one after the other, ``1 → 4 → 7``; of a long path the first ones, and how many more there are."""
    return " → ".join(ids if len(ids) <= most else [*ids[:most], f"{len(ids) - most:,} more"])


def count(number: int, noun: str) -> str:
    """A number and its noun: ``1 step``, ``2 steps``, ``1,000 steps``."""
    return f"{number} {noun}" if number == 1 else f"{number:,} {noun}s"


def numeral(value: float) -> str:
    """A number with four digits, or more where it has more before its point: ``15.23``, ``11,868``."""
    return f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}"
