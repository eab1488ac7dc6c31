"""From a run to the lanes of a timeline, and the same in words: what `timeline` and `timelines` share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum

from planexec_lite.run import Run
from planexec_lite.views import predicted as forecast
from planexec_lite.views.bars import JUDGING, Bar, durations, lanes
from planexec_lite.views.chart import Lane, Panel
from planexec_lite.views.predicted import Span
from planexec_lite.views.words import fit_columns, listed, name_of, seconds, table

MOST_IDLE = 8


def panel_of(run: Run, found: Sequence[Bar], thought: Mapping[str, Span], end: float) -> Panel:
    """The lanes of a run: planner, slots, evaluators; each predicted span in the lane where its step began."""
    planner = [bar for bar in found if bar.step is None]
    shared = [Lane("planner", planner)] if planner else []
    left = dict(thought)
    for number, lane in enumerate(lanes([bar for bar in found if bar.step is not None and not bar.what]), 1):
        idle = round(run.makespan - fsum(bar.end - bar.start for bar in lane), 9)
        words = f"idle {seconds(idle, end)}" if idle > run.makespan / 1000 else ""
        here = [left.pop(bar.step) for bar in lane if bar.step in left]
        shared.append(Lane(f"slot {number}", lane, words, forecast.rows(here)))
    judges = lanes([bar for bar in found if bar.what == JUDGING])
    shared += [Lane("evaluator" + (f" {number}" if number > 1 else ""), lane) for number, lane in enumerate(judges, 1)]
    shared += [Lane("never began", [], "", forecast.rows(left.values()))] if left else []
    names = {id: name_of(step) for id, step in run.board.steps.items()}
    until = None if run.board.ended else run.status
    return Panel(shared if end else [], names, _critical(run)[0], run.makespan, now=until)


def rows(panel: Panel, thought: Mapping[str, Span], end: float) -> list[str]:
    """The lanes as lines of text, in the unit that suits `end` seconds."""
    found = []
    for lane in panel.lanes:
        for bar in lane.bars:
            span = None if bar.what or bar.attempt > 1 else thought.get(bar.step or "")
            found.append(
                [f"  {lane.name}", _word(bar), _name(bar, panel.names), seconds(bar.start, end), "–",
                 seconds(bar.end, end), bar.state, "critical" if bar.step in panel.path and not bar.what else "",
                 f"predicted {seconds(span.start, end)} – {seconds(span.end, end)}" if span else ""]
            )  # fmt: skip
    return table(found)


def idle_words(panel: Panel, end: float) -> list[str]:
    """The idle time of each slot in a sentence, in the unit that suits `end` seconds."""
    idle = [f"{lane.name} for {lane.idle.removeprefix('idle ')}" for lane in panel.lanes if lane.idle]
    more = f" and {len(idle) - MOST_IDLE} more" if len(idle) > MOST_IDLE else ""
    named = f"{', '.join(idle[:MOST_IDLE])}{more}" if more else listed(idle)
    each = " each" if len(idle) > 1 else ""
    return [f"Idle: {named}, of {seconds(panel.end, end)}{each}."] if idle else []


def spoken(found: Sequence[Bar], run: Run) -> list[str]:
    """The first bars, for the alternative text."""
    spans = [
        f"{_word(bar)} from {seconds(bar.start, run.makespan)} to {seconds(bar.end, run.makespan)}, {bar.state}"
        for bar in found[:12]
    ]
    return [*spans, *([f"and {len(found) - 12} more"] if len(found) > 12 else [])]


def short_words(bare: Sequence[Bar]) -> list[str]:
    """What the bars without a label are, in a sentence."""
    return [f"Too short for a label: {listed(dict.fromkeys(map(_word, bare)))}."] if bare else []


def _name(bar: Bar, names: Mapping[str, str]) -> str:
    return "" if bar.what or bar.step is None else fit_columns(names.get(bar.step, ""), 50)


def _word(bar: Bar) -> str:
    if bar.step is None:
        return bar.what or "planning"
    again = f", try {bar.attempt}" if bar.attempt > 1 else ""
    return f"{bar.what} {bar.step}" if bar.what else f"step {bar.step}{again}"


def _critical(run: Run) -> tuple[list[str], float]:
    """The chain of steps that takes longest; only of a run that finished, else it says nothing."""
    if run.status != "finished":
        return [], 0.0
    taken = durations(run)
    path, length = run.plan.critical_path({step.id: taken.get(step.id, 0.0) for step in run.plan.steps})
    return (path, length) if length else ([], 0.0)


def critical_words(run: Run, panel: Panel, end: float) -> str:
    """The critical path beside the length of the run, in the unit that suits `end` seconds; "" where there is none."""
    length = _critical(run)[1]
    if not panel.path:
        return ""
    less = run.makespan - length
    beside = f"{seconds(less, end)} less than" if less > run.makespan / 1000 else "as long as"
    return f"the critical path {' → '.join(panel.path)}, {seconds(length, end)}, {beside} the run"
