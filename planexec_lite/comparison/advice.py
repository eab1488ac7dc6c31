"""The advice: every row of the tables in which the sources say when to plan and when not, each beside the case that tries it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import NamedTuple

from planexec_lite.comparison import planned, unplanned
from planexec_lite.comparison.sides import Case, Compare
from planexec_lite.views.drawing.figure import Figure
from planexec_lite.views.drawing.table import Row as Line
from planexec_lite.views.drawing.table import table
from planexec_lite.views.drawing.text_fitting import aligned, wrapped
from planexec_lite.views.drawing.theme import Look

NOTES = "Planner-Executor Pattern (interview notes)"
ARTICLE = "The Planner-Executor pattern explained"
REFERENCE = "Planner-Executor architecture"
OURS = "beyond the sources"
SHORT = {NOTES: "notes", ARTICLE: "article", REFERENCE: "reference", OURS: "ours"}


class Advice(NamedTuple):
    """A row of a source's table: whether it says to plan, in words of our own, and the case that tries it."""

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
    Advice(NOTES, True, "strong planning, cheap execution", planned.team),
    Advice(NOTES, True, "several executors in parallel", planned.dinner),
    Advice(NOTES, True, "an executor for several planners", planned.twice),
    Advice(NOTES, False, "a simple task of one step", unplanned.trivial),
    Advice(NOTES, False, "plan and work tightly coupled", unplanned.bisection),
    Advice(ARTICLE, True, "a complex task of many steps", planned.report),
    Advice(ARTICLE, True, "the order matters", planned.order),
    Advice(ARTICLE, True, "failure has consequences", planned.order),
    Advice(ARTICLE, True, "a person oversees it", planned.asked),
    Advice(ARTICLE, True, "steps can run in parallel", planned.release),
    Advice(ARTICLE, True, "a rollback may be needed", planned.broken),
    Advice(ARTICLE, False, "a simple task", unplanned.trivial),
    Advice(ARTICLE, False, "exploratory work", unplanned.exploration),
    Advice(ARTICLE, False, "nobody knows how many steps", unplanned.exploration),
    Advice(ARTICLE, False, "interactive, a conversation", unplanned.booking),
    Advice(REFERENCE, True, "steps are hard to list up front", planned.gap),
    Advice(REFERENCE, True, "a person approves beforehand", planned.unseen),
    Advice(REFERENCE, True, "each step can be validated alone", planned.retried),
    Advice(REFERENCE, True, "an audit: what was done, and why", planned.audited),
    Advice(REFERENCE, True, "replanning on failure matters", planned.mended),
    Advice(REFERENCE, False, "one call or ReAct is enough", unplanned.trivial),
    Advice(REFERENCE, False, "latency is critical", unplanned.first),
    Advice(REFERENCE, False, "the plan would be trivial", unplanned.one_step),
    Advice(REFERENCE, False, "exploratory, not to be planned", unplanned.exploration),
    Advice(REFERENCE, False, "tools too unreliable for a plan", unplanned.unreliable),
)
"""All rows of the three sources that have such a table; the other two have none."""

BEYOND = (
    Advice(OURS, True, "such tools, steps in parallel", unplanned.unreliable_in_parallel),
    Advice(OURS, True, "such tools, with retries", unplanned.unreliable_with_retries),
)
"""What the last row leaves open."""


def cases(advice: Iterable[Advice] = (*ADVICE, *BEYOND)) -> tuple[Row, ...]:
    """Carry out every case, once each, on the scripted model and a virtual clock, and return a row for each advice."""
    advice = tuple(advice)
    carried_out = {case: case() for case in dict.fromkeys(one.case for one in advice)}
    return tuple(Row(one, carried_out[one.case]) for one in advice)


HEAD = ("advice", "case", "calls", "seconds", "cents", "wins", "by")
LOOKS = {
    "planning": Look("✓", "planning", "#CFEBE0", "#005A42"),
    "the other side": Look("✗", "other side", "#FADBC8", "#8F3C00"),
    "tie": Look("=", "tie", "#D9DDE2", "#505050"),
}


def as_text(rows: Sequence[Row]) -> str:
    """The table in text: an advice with + says to plan, one with - not to; numbers are planning's, then the other side's."""
    cells = [[f"  {cell}" if not at else cell for at, cell in enumerate(_cells(row)[:-1])] for row in rows]
    lines = aligned([HEAD[:-1], *cells])
    parts, place = [lines[0]], 1
    for source, group in groupby(rows, key=lambda row: row.advice.source):
        count = len(list(group))
        parts += [source, *lines[place : place + count]]
        place += count
    return "\n".join(parts)


def reasons(rows: Sequence[Row]) -> str:
    """What the verdict of each case came from, and what in it is the script's word, in text."""
    parts = []
    for case in {row.case.name: row.case for row in rows}.values():
        own = "" if case.planning.own is None else f", {_numbers(case.planning.own, case.other.own or 0)}"
        parts.append(f"{case.name}: {case.planning.way} against {case.other.way}")
        parts.append(wrapped(f"    {LOOKS[case.verdict].word}, by {case.by}{own}"))
        parts += [wrapped(f"    scripted: {case.scripted}")] if case.scripted else []
    return "\n".join(parts)


def as_figure(rows: Sequence[Row]) -> Figure:
    """The table as a figure, with the winner's mark. It is as wide as a figure may be without the names of the cases."""
    lines = []
    for row in rows:
        words, _, *rest = _cells(row)
        lines.append(Line([SHORT[row.advice.source], words, *rest], LOOKS[row.case.verdict]))
    of_sources = [row for row in rows if row.advice.source != OURS]
    borne_out = sum(row.holds for row in of_sources)
    head = ("source", "advice", "calls", "seconds", "cents", "status", "by")
    return table(
        f"{borne_out} of {len(of_sources)} pieces of advice are borne out", head, lines, _NOTE, columns=40, lines=2
    )


_NOTE = "+ says to plan, - not to. Numbers are planning's, then the other side's."


def _cells(row: Row) -> list[str]:
    case, left, right = row.case, row.case.planning, row.case.other
    own = "" if left.own is None else f", {_numbers(left.own, right.own or 0)}"
    return [
        f"{'+' if row.advice.plan else '-'} {row.advice.words}",
        case.name,
        _numbers(left.calls, right.calls),
        _numbers(left.seconds, right.seconds),
        _numbers(100 * left.dollars, 100 * right.dollars),
        LOOKS[case.verdict].word,
        f"{case.by}{own}",
    ]


def _numbers(left: float, right: float) -> str:
    """Two numbers that can be compared, without more places than are needed."""
    places = 0 if (left == int(left) and right == int(right)) or min(left, right) >= 10 else 1
    return f"{left:,.{places}f}:{right:,.{places}f}"
