"""The advice: every row of the sources' tables on when to plan, with the case that tests it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from planexec_lab.comparison import trials
from planexec_lab.comparison.sides import Case
from planexec_lab.comparison.trials import Compare
from planexec_lab.views.drawing.figure import Figure
from planexec_lab.views.drawing.table import Row as Line
from planexec_lab.views.drawing.table import table
from planexec_lab.views.drawing.theme import Look

NOTES, ARTICLE, REFERENCE = "notes", "article", "reference"
"""The sources: "Planner-Executor Pattern (interview notes)", "The Planner-Executor pattern explained", and "Planner-Executor
architecture"; the other two have no such table."""


class Advice(NamedTuple):
    """A row of a source's table in our words: whether it recommends planning, and the case that tests it."""

    source: str
    plan: bool
    words: str
    case: Compare


class Row(NamedTuple):
    """An advice with what came of it."""

    advice: Advice
    case: Case

    @property
    def holds(self) -> bool:
        """Whether the case bears the advice out; where it says not to plan, a tie is enough."""
        return self.advice.plan == (self.case.verdict == "planning")


ADVICE = (
    Advice(NOTES, True, "strong planning, cheap execution", trials.team),
    Advice(NOTES, True, "several executors in parallel", trials.dinner),
    Advice(NOTES, True, "an executor for several planners", trials.twice),
    Advice(NOTES, False, "a simple task of one step", trials.trivial),
    Advice(NOTES, False, "plan and work tightly coupled", trials.bisection),
    Advice(ARTICLE, True, "a complex task of many steps", trials.report),
    Advice(ARTICLE, True, "the order matters", trials.order),
    Advice(ARTICLE, True, "failure has consequences", trials.order),
    Advice(ARTICLE, True, "a person oversees it", trials.asked),
    Advice(ARTICLE, True, "steps can run in parallel", trials.release),
    Advice(ARTICLE, True, "a rollback might be needed", trials.broken),
    Advice(ARTICLE, False, "a simple task", trials.trivial),
    Advice(ARTICLE, False, "exploratory work", trials.exploration),
    Advice(ARTICLE, False, "the number of steps is unknown", trials.exploration),
    Advice(ARTICLE, False, "interactive, a conversation", trials.booking),
    Advice(REFERENCE, True, "steps are hard to list up front", trials.gap),
    Advice(REFERENCE, True, "a person approves beforehand", trials.unseen),
    Advice(REFERENCE, True, "each step can be validated alone", trials.retried),
    Advice(REFERENCE, True, "an audit: what was done, and why", trials.audited),
    Advice(REFERENCE, True, "replanning on failure matters", trials.mended),
    Advice(REFERENCE, False, "one call or ReAct is enough", trials.trivial),
    Advice(REFERENCE, False, "latency is critical", trials.first),
    Advice(REFERENCE, False, "the plan would be trivial", trials.one_step),
    Advice(REFERENCE, False, "exploratory, not to be planned", trials.exploration),
    Advice(REFERENCE, False, "tools too unreliable for a plan", trials.unreliable),
)
"""All rows of these tables."""


def cases(advice: Iterable[Advice] = ADVICE) -> tuple[Row, ...]:
    """Carry out every case, once each, on the scripted model and a virtual clock, and return a row for each advice."""
    advice = tuple(advice)
    carried_out = {case: case() for case in dict.fromkeys(one.case for one in advice)}
    return tuple(Row(one, carried_out[one.case]) for one in advice)


LOOKS = {
    "planning": Look("✓", "planning", "#CFEBE0", "#005A42"),
    "the other side": Look("✗", "other side", "#FADBC8", "#8F3C00"),
    "tie": Look("=", "tie", "#D9DDE2", "#505050"),
}


def as_figure(rows: Sequence[Row]) -> Figure:
    """Return the table, with the winner's mark in each row."""
    lines = []
    for row in rows:
        case, left, right = row.case, row.case.planning, row.case.other
        own = "" if left.own is None else f", {_numbers(left.own, right.own or 0)}"
        cells = [
            row.advice.source,
            f"{'+' if row.advice.plan else '-'} {row.advice.words}",
            _numbers(left.calls, right.calls),
            _numbers(left.seconds, right.seconds),
            _numbers(100 * left.dollars, 100 * right.dollars),
            LOOKS[case.verdict].word,
            f"{case.by}{own}",
        ]
        lines.append(Line(cells, LOOKS[case.verdict]))
    borne_out = sum(row.holds for row in rows)
    head = ("source", "advice", "calls", "seconds", "cents", "status", "by")
    return table(f"{borne_out} of {len(rows)} pieces of advice are borne out", head, lines, _NOTE, columns=40, lines=2)


_NOTE = "+ says to plan, - not to. Numbers are planning's, then the other side's."


def _numbers(left: float, right: float) -> str:
    """Two numbers that can be compared, without more places than are needed."""
    places = 0 if (left == int(left) and right == int(right)) or min(left, right) >= 10 else 1
    return f"{left:,.{places}f}:{right:,.{places}f}"
