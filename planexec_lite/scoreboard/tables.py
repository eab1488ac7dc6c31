"""The scoreboard as figures: what follows from a variation's structure, and, apart from it, what follows from a script."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from planexec_lite.meter import Usage
from planexec_lite.scoreboard.rows import Row
from planexec_lite.scoreboard.sweep import Share
from planexec_lite.views.charts import bars
from planexec_lite.views.drawing.figure import Figure
from planexec_lite.views.drawing.table import WHOLE, table
from planexec_lite.views.drawing.table import Row as Line
from planexec_lite.views.drawing.theme import LOOKS
from planexec_lite.views.drawing.wording import count, listed

PLAIN = LOOKS["waiting"]
MISSED = "missed"
_ROLES = ("planner", "executor", "evaluator")


def settings(rows: Sequence[Row]) -> Figure:
    """Horizon, trigger, who carries out a step, how many at once, and calls of each variation, as its run on one task shows."""
    head = ("variation", "horizon", "asked again", "steps by", "at once", "calls")
    lines = []
    for row in rows:
        hands, workers = ", ".join(row.figures.hands), str(row.figures.workers)
        cells = [row.variation, _horizon(row), _asked_again(row), hands, workers, _by_role(row)]
        lines.append(Line(cells, PLAIN))
    return table(f"One loop, {count(len(rows), 'variation')}: {rows[0].task}", head, lines, columns=40)


def structure(rows: Sequence[Row]) -> Figure:
    """Seconds, calls, tokens and dollars of each run: they follow from the variation, the plan and the assumptions.

    Tokens stand as they were read and written, and, read and written together, by role. Who missed the goal is no candidate for
    the title.
    """
    head = ("variation", "task", "seconds", "calls", "read", "written", *_ROLES, "cost", "goal")
    lines = []
    for row in rows:
        figures, usage = row.figures, _sum(row.figures.usage.values())
        numbers = [f"{figures.seconds:,.1f}", str(figures.calls), f"{usage.input_tokens:,}", f"{usage.output_tokens:,}"]
        by_role = [_tokens(figures.usage.get(role)) for role in _ROLES]
        cells = [row.variation, row.task, *numbers, *by_role, f"${figures.dollars:.4f}", "" if row.reached else MISSED]
        lines.append(Line(cells, PLAIN))
    quickest, fewest = _least(rows, "seconds"), _least(rows, "calls")
    title = f"{listed(quickest)} {'is' if len(quickest) == 1 else 'are'} the quickest, "
    title += f"{listed(fewest)} {'asks' if len(fewest) == 1 else 'ask'} least"
    return table(title, head, lines, "These columns follow from the structure of a run.")


def goals(rows: Sequence[Row]) -> Figure:
    """Which goals each variation reached, as the worlds show it, and which it missed though nothing went wrong."""
    by_variation: dict[str, dict[str, bool]] = {}
    for row in rows:
        by_variation.setdefault(row.variation, {})[row.task] = row.reached
    lines = []
    for name, tasks in by_variation.items():
        missed = [task for task, reached in tasks.items() if not reached]
        lines.append(Line([name, f"{len(tasks) - len(missed)} of {len(tasks)}", ", ".join(missed)], PLAIN))
    always = [name for name, tasks in by_variation.items() if all(tasks.values())]
    title = (
        f"{len(always)} of {count(len(by_variation), 'variation')} reach{'es' if len(always) == 1 else ''} every goal"
    )
    missing = len(always) < len(by_variation)
    return table(title, ("variation", "reached", "missed"), lines, _MISSING if missing else "")


_MISSING = """Where a goal is missed, steps were done on what a plan took for granted. \
That an executor looks no further than its task is the script's word."""


def robustness(shares: Sequence[Share]) -> Figure:
    """How often the goal was reached under faults: it follows from what the script does when it is asked again."""
    columns = list(dict.fromkeys((one.kind, one.rate) for one in shares))
    by_variation: dict[str, dict[tuple[str, float], Share]] = {}
    for one in shares:
        by_variation.setdefault(one.variation, {})[one.kind, one.rate] = one
    head = ("variation", *(f"{kind} {rate:.0%}" for kind, rate in columns), "calls", "wasted", "replans")
    lines = []
    for name, cells in by_variation.items():
        reached = [f"{cells[column].reached} of {cells[column].runs}" if column in cells else "" for column in columns]
        means = [
            sum(getattr(one, what) for one in cells.values()) / len(cells) for what in ("calls", "wasted", "replans")
        ]
        lines.append(Line([name, *reached, *(f"{mean:.1f}" for mean in means)], PLAIN))
    reached_by = {name: sum(one.reached for one in cells.values()) for name, cells in by_variation.items()}
    best = [name for name, times in reached_by.items() if times == max(reached_by.values())]
    reach = "reaches" if len(best) == 1 else "reach"
    caption = "These columns follow from scripts: a scripted model always knows what to do, once it is asked. No merit of a model."
    return table(f"Under faults, {listed(best)} {reach} the goal most often", head, lines, caption, lines=WHOLE)


def race(rows: Sequence[Row]) -> Figure:
    """The variations on one task by their seconds, with calls and cost. Who missed the goal stands in it, and not in its title."""
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
    again = [
        f"{words.get(reason, reason)} {times} ×" for reason, times in row.figures.reasons.items() if reason != "first"
    ]
    return ", ".join(again) or "never"


def _by_role(row: Row) -> str:
    usage = row.figures.usage
    return ", ".join(f"{role} {usage[role].calls}" for role in _ROLES if role in usage)


def _sum(usages: Iterable[Usage]) -> Usage:
    every = list(usages)
    return Usage(
        sum(one.calls for one in every),
        sum(one.input_tokens for one in every),
        sum(one.output_tokens for one in every),
        sum(one.seconds for one in every),
    )


def _tokens(usage: Usage | None) -> str:
    return f"{usage.input_tokens + usage.output_tokens:,}" if usage else ""


def _least(rows: Sequence[Row], what: str) -> list[str]:
    """The variations that have least of something, over all their rows, of those that missed no goal."""
    missed = {row.variation for row in rows if not row.reached}
    sums: dict[str, float] = {}
    for row in [row for row in rows if row.variation not in missed] or rows:
        sums[row.variation] = sums.get(row.variation, 0) + getattr(row.figures, what)
    return [name for name, most in sums.items() if most == min(sums.values())]
