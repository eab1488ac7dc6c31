"""A timeline as text: the finding, the bars as lines, and sentences about things that bars can't show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum

from planexec_lab.views.drawing.text_fitting import aligned, clean, fit_columns
from planexec_lab.views.drawing.wording import count, few, in_a_row, listed, seconds
from planexec_lab.views.step_remarks import latest_news
from planexec_lab.views.timeline_drawing.bars import BACKOFF, BY_VERDICT, JUDGING, UNDOING, Bar
from planexec_lab.views.timeline_drawing.model import MOST_LANES, Timeline
from planexec_lite.capabilities.rollback import Rollback, not_undone
from planexec_lite.run import Run
from planexec_lite.run import events as e

MOST_IDLE = 8
MOST_SPOKEN = 12
MOST_NOTES = 40
NO_TIME = "There are no bars to draw: it all took 0 s. On a simulated clock, a tool takes the time that it declares."


def finding(shown: Timeline) -> str:
    """How long the run took, or how far it came, in one sentence."""
    run, whole = shown.run, shown.run.makespan
    work = fsum(bar.end - bar.start for bar in shown.bars if bar.what != BACKOFF.what and bar.state != "interrupted")
    planning = fsum(bar.end - bar.start for bar in shown.bars if bar.step is None)
    done = len(run.results)
    if run.status == "finished":
        steps = f"{count(done, 'step')} in {seconds(whole)}"
        judging = fsum(bar.end - bar.start for bar in shown.bars if bar.what == JUDGING.what)
        others = [
            f"{seconds(time)}{{}} {what}" for time, what in ((planning, "planning"), (judging, JUDGING.what)) if time
        ]
        steps += f", {' and '.join(others)}".format(" of it", "") if others else ""
        if work - whole > whole / 1000:
            return f"{steps}; one after the other they would take {seconds(work, whole)}"
        return f"{steps}, one after the other" if whole and done > 1 and not others else steps
    stand = f"{done} of {count(len(run.plan.steps), 'step')} done"
    if run.status in ("rolled back", "partly rolled back"):
        undone = list(run.board.state.values()).count("undone")
        stand = f"{undone} of {count(undone + done, 'done step')} undone by {seconds(whole)}"
        if not run.board.failed:
            return f"{run.status.capitalize()}: {stand}"
    if run.board.failed:
        id = next(iter(run.board.failed))
        at = max(bar.end for bar in shown.bars if bar.step == id and bar.what != UNDOING.what)
        return f"Step {id} failed at {seconds(at)}; {stand}"
    return f"{run.status.capitalize()} at {seconds(whole)}: {stand}"


def rows(shown: Timeline, end: float) -> list[str]:
    """The lanes as lines of text, in the unit that suits `end` seconds."""
    cells = []
    for lane in shown.lanes_to(end):
        for bar in lane.bars:
            # only the first attempt shows the prediction, which is one span for all attempts
            span = None if bar.what or bar.attempt > 1 else shown.predicted.get(bar.step or "")
            cells.append(
                [f"  {lane.name}", _bar(bar), _name(bar, shown.names), seconds(bar.start, end), "–",
                 seconds(bar.end, end), bar.state, "critical" if bar in shown.critical else "",
                 f"predicted {seconds(span.start, end)} – {seconds(span.end, end)}" if span else ""]
            )  # fmt: skip
    return aligned(cells)


def idle(shown: Timeline, end: float) -> list[str]:
    """The idle time of each slot in a sentence, in the unit that suits `end` seconds."""
    slots = [f"{lane.name} for {seconds(lane.idle, end)}" for lane in shown.lanes if lane.idle]
    each = " each" if len(slots) > 1 else ""
    return [f"Idle: {few(slots, MOST_IDLE)}, of {seconds(shown.run.makespan, end)}{each}."] if slots else []


def critical_path(shown: Timeline, end: float) -> str:
    """The critical path and its share of the run, in the unit for `end` seconds; "" if there is no path."""
    if not shown.path:
        return ""
    less = shown.run.makespan - shown.length
    beside = f"{seconds(less, end)} less than" if less > shown.run.makespan / 1000 else "as long as"
    return f"the critical path {in_a_row(shown.path)}, {seconds(shown.length, end)}, {beside} the run"


def spoken(shown: Timeline) -> str:
    """The first bars, for the alternative text."""
    longest = shown.run.makespan
    named = [
        f"{_bar(bar)} from {seconds(bar.start, longest)} to {seconds(bar.end, longest)}, {bar.state}"
        for bar in shown.bars[:MOST_SPOKEN]
    ]
    more = [f"and {len(shown.bars) - MOST_SPOKEN} more"] if len(shown.bars) > MOST_SPOKEN else []
    return "; ".join([*named, *more])


def too_short(unlabelled: Sequence[Bar]) -> list[str]:
    """A sentence about the bars without a label."""
    return [f"Too short for a label: {few(list(dict.fromkeys(map(_bar, unlabelled))))}."] if unlabelled else []


def notes(shown: Timeline) -> list[str]:
    """Sentences about failures, verdicts, news, limits and steps that were never started."""
    run, board = shown.run, shown.run.board
    skipped, superseded = (
        [id for id, state in board.state.items() if state == gone] for gone in ("skipped", "superseded")
    )
    started = {bar.step for bar in shown.bars}
    waiting = [id for id, state in board.state.items() if state == "waiting" and id not in started]
    late = [
        f"Step {event.step} had timed out; its result at {seconds(event.at, run.makespan)} does not count."
        for event in run.events
        if isinstance(event, e.StepLate)
    ]
    sentences = [*_failures(shown), *_verdicts(run), *late, *latest_news(board)]
    sentences += [f"Skipped: {few(skipped)}."] if skipped else []
    sentences += [f"Superseded by a later plan: {few(superseded)}."] if superseded else []
    sentences += [f"Never started: {few(waiting)}."] if waiting else []
    rollback = board[Rollback]
    sentences += [f"Undone: {few(rollback.undone_steps)}."] if rollback.undone_steps else []
    sentences += [f"Called: {listed(rollback.called)}."] if rollback.called else []
    remains = not_undone(board) if rollback.started and board.ended else rollback.remains
    sentences += [f"Not undone: {clean(label)} ({fit_columns(clean(why), 90)})." for label, why in remains]
    sentences += [] if run.makespan else [NO_TIME]
    sentences += _limits(shown)
    if len(sentences) > MOST_NOTES:
        sentences = [*sentences[:MOST_NOTES], f"And {len(sentences) - MOST_NOTES:,} more notes."]
    lanes = len(shown.lanes)
    sentences += [f"Drawn: the first {MOST_LANES} of {lanes:,} lanes."] if lanes > MOST_LANES else []
    return sentences


def _failures(shown: Timeline) -> list[str]:
    """Which steps failed, how often, and what became of them."""
    board, sentences = shown.run.board, []
    tries: dict[str | None, list[str]] = {}
    for bar in shown.bars:
        if not bar.what:
            tries.setdefault(bar.step, []).append(bar.state)
    for id, state in board.state.items():
        states = tries.get(id, [])
        if failed := states.count("failed"):
            times = "" if failed == 1 else f" {failed} times"
            # the last verdict decides about a failed step, even after failed attempts; an undone step gets its own
            # sentence
            undone = state == "undone" and states[-1] == "done"
            last = states[-1] if state == "failed" or undone else state
            error = f": {fit_columns(clean(board.errors[id]), 110)}" if last == "failed" else f", then {last}."
            sentences.append(f"Step {id} failed{times}{error}")
    return sentences


def _verdicts(run: Run) -> list[str]:
    """The evaluator's objections, and the results without a verdict; equal verdicts are named once."""
    times_of: dict[tuple[str, str], list[str]] = {}
    for event in run.events:
        if isinstance(event, e.Judged) and event.error is None and event.verdict != "accept":
            words = f"Step {event.step} {BY_VERDICT}", f"({event.verdict}): {fit_columns(clean(event.reason), 90)}."
        elif isinstance(event, e.Judged) and event.error is not None:
            words = f"No verdict on step {event.step}", f"({fit_columns(clean(event.error), 90)})."
        else:
            continue
        times_of.setdefault(words, []).append(seconds(event.at, run.makespan))
    return [f"{what} at {listed(times)} {why}" for (what, why), times in times_of.items()]


def _limits(shown: Timeline) -> list[str]:
    """The limits that several steps shared, and these steps; a limit with a single user is left out."""
    board = shown.run.board
    started = dict.fromkeys(bar.step for bar in shown.bars if bar.step in board.steps and not bar.what)
    sentences = []
    for limit in board.started.limits:
        users = [id for id in started if id is not None and (board.steps[id].tool or "") in limit.tools]
        sentences += [f"{clean(limit.name)}: {limit.slots} at once, used by {few(users)}."] if len(users) > 1 else []
    return sentences


def _name(bar: Bar, names: Mapping[str, str]) -> str:
    return "" if bar.what or bar.step is None else fit_columns(names.get(bar.step, ""), 50)


def _bar(bar: Bar) -> str:
    if bar.step is None:
        return bar.what or "planning"
    if " " in bar.step:  # a call of the plan's rollback
        return bar.step
    again = f", try {bar.attempt}" if bar.attempt > 1 else ""
    return f"{bar.what} {bar.step}" if bar.what else f"step {bar.step}{again}"
