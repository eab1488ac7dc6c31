"""A planner's grades over a data set, as text and as data, alone or compared with another planner's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any

from planexec_lab.grade.answers import Answered
from planexec_lab.grade.dataset import GoldRow
from planexec_lab.grade.grading import METRICS, Grade, grade
from planexec_lab.grade.paired import Paired, paired
from planexec_lab.views.drawing.text_fitting import aligned, clean, fit_columns
from planexec_lite.meter import Usage
from planexec_lite.tools import Toolbox

_SHARES = ("valid", "criteria")


@dataclass(frozen=True, slots=True)
class Graded:
    """A planner's grades, one for each row of the data set, with its answers."""

    planner: str
    rows: tuple[GoldRow, ...]
    answers: tuple[Answered, ...]
    grades: tuple[Grade, ...]

    @classmethod
    def of(
        cls, planner: str, rows: Sequence[GoldRow], answers: Sequence[Answered], toolbox: Toolbox | None = None
    ) -> Graded:
        """Grade each answer against the gold plans of its row."""
        grades = [grade(answer.plan, row.golds, toolbox) for row, answer in zip(rows, answers, strict=True)]
        return cls(planner, tuple(rows), tuple(answers), tuple(grades))

    def numbers(self, metric: str) -> list[float | None]:
        """A metric of each grade, in the order of the rows; None where it was not measured."""
        return [METRICS[metric](one) for one in self.grades]

    def mean(self, metric: str) -> float | None:
        """The mean of a metric over the rows for which it was measured; None where it was for none."""
        measured = [number for number in self.numbers(metric) if number is not None]
        return fmean(measured) if measured else None

    @property
    def errors(self) -> dict[str, int]:
        """The endpoint's errors with their counts."""
        return dict(Counter(error for answer in self.answers for error in answer.errors))

    @property
    def usage(self) -> Usage:
        """The usage of the planner's model over all rows."""
        return Usage.of(call for answer in self.answers for call in answer.calls)


def compared(one: Graded, other: Graded) -> dict[str, Paired]:
    """The paired comparison of two planners on the same rows, by metric; metrics without measurements are left out."""
    numbers = {metric: (one.numbers(metric), other.numbers(metric)) for metric in METRICS}
    both = {
        metric: [a for a, b in zip(*pair, strict=True) if a is not None and b is not None]
        for metric, pair in numbers.items()
    }
    return {metric: paired(*pair) for metric, pair in numbers.items() if both[metric]}


def in_words(planners: Sequence[Graded], comparison: dict[str, Paired]) -> str:
    """The table of the means, one metric on each line, then unreadable answers, errors and usage.

    The first planner's column is called "planner", the second's "against".
    """
    names = ["planner", "against"][: len(planners)]
    table = [["metric", *names, *(["difference"] if comparison else [])]]
    for metric in METRICS:
        difference = [str(comparison[metric]) if metric in comparison else "not measured"] if comparison else []
        table.append([metric, *(_shown(one, metric) for one in planners), *difference])
    lines = [f"{name}: {clean(one.planner)}" for name, one in zip(names, planners, strict=True)] + aligned(table)
    for name, one in zip(names, planners, strict=True):
        none = sum(answer.plan is None for answer in one.answers)
        lines += [f"{name}: no plan in {none} of {counted_rows(len(one.rows))}"] if none else []
        codes = Counter(code for graded in one.grades for code in graded.problems if code != "no_plan")
        lines += [f"{name}: {times} × {code}" for code, times in sorted(codes.items())]
        lines += [f"{name}: {times} × {fit_columns(clean(error), 120)}" for error, times in one.errors.items()]
        lines += [f"{name}: {one.usage}"] if one.usage.calls else []
    return "\n".join(lines)


def as_data(planners: Sequence[Graded], comparison: dict[str, Paired]) -> dict[str, Any]:
    """The same for a machine: the means, and every row's grade."""
    return {
        "planners": [
            {
                "planner": one.planner,
                "means": {metric: one.mean(metric) for metric in METRICS},
                "measured": {metric: sum(n is not None for n in one.numbers(metric)) for metric in METRICS},
                "errors": one.errors,
                "usage": asdict(one.usage),
                "rows": [
                    {"row": row.name, "goal": row.goal, **_grade(graded), "why": answer.why}
                    for row, answer, graded in zip(one.rows, one.answers, one.grades, strict=True)
                ],
            }
            for one in planners
        ],
        "comparison": {metric: {**asdict(result), "told": result.told} for metric, result in comparison.items()},
    }


def _grade(graded: Grade) -> dict[str, Any]:
    return {**asdict(graded), "cost": None if graded.cost is None else graded.cost._asdict()}


def counted_rows(count: int) -> str:
    """The number of rows as text."""
    return "1 row" if count == 1 else f"{count} rows"


def _shown(one: Graded, metric: str) -> str:
    mean = one.mean(metric)
    if mean is None:
        return "-"
    number = f"{mean:.0%}".replace("%", " %") if metric in _SHARES else f"{mean:.2f}"
    measured = sum(value is not None for value in one.numbers(metric))
    return number if measured == len(one.rows) else f"{number} of {measured}"
