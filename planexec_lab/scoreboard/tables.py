"""The scoreboard as figures: what follows from a variation's structure, and, apart from it, what follows from a script."""

from collections.abc import Sequence

from planexec_lab.scoreboard.advised import Verdict
from planexec_lab.scoreboard.figures import ROLES
from planexec_lab.scoreboard.trials import Row
from planexec_lab.views.charts import bars
from planexec_lab.views.drawing.figure import Figure
from planexec_lab.views.drawing.table import Row as Line
from planexec_lab.views.drawing.table import table
from planexec_lab.views.drawing.theme import LOOKS, Look
from planexec_lab.views.drawing.wording import count

PLAIN = LOOKS["waiting"]
MISSED = "missed"


def settings(rows: Sequence[Row]) -> Figure:
    """Horizon, trigger, executor, concurrency and calls of each variation, from its run on one task."""
    head = ("variation", "horizon", "asked again", "steps by", "at once", "calls")
    lines = []
    for row in rows:
        executors, workers = ", ".join(row.figures.executors), str(row.figures.workers)
        cells = [row.variation, _horizon(row), _asked_again(row), executors, workers, _by_role(row)]
        lines.append(Line(cells, PLAIN))
    return table(f"One loop, {count(len(rows), 'variation')}: {rows[0].task}", head, lines, columns=40)


def race(rows: Sequence[Row]) -> Figure:
    """The variations on one task by their seconds, with calls and cost. A variation that missed the goal is not in the title."""
    ordered = sorted(rows, key=lambda row: row.figures.seconds)
    arrived = [row for row in ordered if row.reached] or ordered
    first, last = arrived[0], arrived[-1]
    title = f"{first.variation} takes {first.figures.seconds:,.0f} s, {last.variation} {last.figures.seconds:,.0f} s: {first.task}"
    remarks = {
        row.variation: f"{count(row.figures.calls, 'call')}, ${row.figures.dollars:.4f}"
        + ("" if row.reached else f", goal {MISSED}")
        for row in ordered
    }
    return bars({row.variation: row.figures.seconds for row in ordered}, title, "seconds", remarks=remarks)


def _horizon(row: Row) -> str:
    steps = count(row.figures.horizon, "step")
    if not row.figures.complete:
        return steps
    return f"all {steps}" if row.figures.horizon > 1 else "the only step"


def _asked_again(row: Row) -> str:
    words = {
        "horizon": "horizon reached",
        "step": "after each step",
        "failure": "after a failure",
        "repair": "invalid plan",
    }
    asked = ({"failure": 0} if row.replan == "failure" else {}) | row.figures.reasons
    again = [f"{words.get(reason, reason)} {times} ×" for reason, times in asked.items() if reason != "first"]
    return ", ".join(again) or "never"


def _by_role(row: Row) -> str:
    usage = row.figures.usage
    return ", ".join(f"{role} {usage[role].calls}" for role in ROLES if role in usage)


WINNERS = {
    "planning": Look("✓", "planning", "#CFEBE0", "#005A42"),
    "the other side": Look("✗", "other side", "#FADBC8", "#8F3C00"),
    "tie": Look("=", "tie", "#D9DDE2", "#505050"),
}


def advice(verdicts: Sequence[Verdict]) -> Figure:
    """The advice, what each side took for it, and the winner's mark."""
    lines = []
    for row in verdicts:
        case, left, right = row.case, row.case.planning.figures, row.case.other.figures
        measured = "" if case.measured is None else f", {_numbers(*case.measured)}"
        cells = [
            row.advice.source,
            f"{'+' if row.advice.plan else '-'} {row.advice.words}",
            _numbers(left.calls, right.calls),
            _numbers(left.seconds, right.seconds),
            _numbers(100 * left.dollars, 100 * right.dollars),
            WINNERS[case.verdict].word,
            f"{case.by}{measured}",
        ]
        lines.append(Line(cells, WINNERS[case.verdict]))
    confirmed = sum(row.holds for row in verdicts)
    head = ("source", "advice", "calls", "seconds", "cents", "status", "by")
    return table(
        f"{confirmed} of {len(verdicts)} rows: the advised side wins by the row's own figures",
        head,
        lines,
        _SIDES,
        columns=40,
        lines=2,
    )


_SIDES = "+ says to plan, - not to. Numbers are planning's, then the other side's."


def _numbers(left: float, right: float) -> str:
    """Two numbers that can be compared, without more places than are needed."""
    places = 0 if (left == int(left) and right == int(right)) or min(left, right) >= 10 else 1
    return f"{left:,.{places}f}:{right:,.{places}f}"
