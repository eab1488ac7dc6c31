"""What can be measured of an answer: a yes or a no."""

from __future__ import annotations

from collections.abc import Callable

from planexec_lite.plan import Plan, PlanError, StepReader
from planexec_lite.prompts.datasets import Row
from planexec_lite.recorded import RecordedAnswer
from planexec_lite.tools import suggest

Measure = Callable[[RecordedAnswer, Row], bool]


def _valid(answer: RecordedAnswer, row: Row) -> bool:
    if answer.finish_reason == "length":
        return False
    try:
        plan = Plan.parse(answer.text)
    except PlanError:
        return False
    return not plan.problems(row.toolbox, done=row.board.results.keys())


def _ends_a_step(answer: RecordedAnswer, row: Row) -> bool:
    return bool(StepReader().feed(answer.text))


MEASURES: dict[str, Measure] = {"valid": _valid, "ends a step": _ends_a_step}
"""By name: the answer is a valid plan; its first step was finished before it was."""


def measure_of(measure: str | Measure) -> tuple[str, Measure]:
    """Return a measure with its name. Raises `ValueError` for an unknown name."""
    if callable(measure):
        return getattr(measure, "__name__", "the measure given").replace("_", " "), measure
    if measure not in MEASURES:
        raise ValueError(
            f"there is no measure {measure!r}{suggest(measure, MEASURES)}; there are: {', '.join(MEASURES)}, or give a function"
        )
    return measure, MEASURES[measure]
