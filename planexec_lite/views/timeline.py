"""The timeline of a run: one lane a slot, one bar a try of a step; waiting shows as space. Drawn by `chart`."""

from __future__ import annotations

from collections.abc import Mapping
from math import fsum

from planexec_lite import events as e
from planexec_lite.run import Run
from planexec_lite.views.bars import BY_VERDICT, JUDGING, Bar, bars, durations, lanes
from planexec_lite.views.chart import Lane, draw
from planexec_lite.views.figure import Figure
from planexec_lite.views.marks import told
from planexec_lite.views.words import clean, count, fit_columns, listed, name_of, seconds, table

MOST_VERDICTS = 6


def timeline(run: Run, title: str | None = None) -> Figure:
    """Draw who was busy when: the steps of a run in lanes, the planner and the evaluator in lanes of their own.

    The times are those of the workers: on the virtual clock of `Simulated` they are the same in every run.

    Args:
        run: a run, ended or not.
        title: the finding; by default one is worded from the times.
    """
    found = bars(run)
    names = {id: name_of(step) for id, step in run.board.steps.items()}
    path, length = _critical(run)
    title = clean(title) if title is not None else _finding(run, found)
    planner = [bar for bar in found if bar.step is None]
    shared = [Lane("planner", planner)] if planner else []
    slots = lanes([bar for bar in found if bar.step is not None and not bar.what])
    shared += [Lane(f"slot {number}", lane) for number, lane in enumerate(slots, 1)]
    judges = lanes([bar for bar in found if bar.what == JUDGING])
    shared += [Lane("evaluator" + (f" {number}" if number > 1 else ""), lane) for number, lane in enumerate(judges, 1)]
    notes = _notes(run, found)
    until = None if run.board.ended else run.status
    svg, bare = draw(title, shared if run.makespan else [], names, set(path), run.makespan, notes, until)
    said = [f"Thick outline: the critical path {' → '.join(path)}, {seconds(length)}."] if path else []
    said += [f"Too short for a label: {listed(map(_word, bare))}."] if bare else []
    caption = " ".join(said)
    rows = [
        [f"  {lane.name}", _word(bar), _name(bar, names), seconds(bar.start, run.makespan), "–",
         seconds(bar.end, run.makespan), bar.state, "critical" if bar.step in path and not bar.what else ""]
        for lane in shared for bar in lane.bars
    ]  # fmt: skip
    text = "\n".join([title, *table(rows), *notes, *([caption] if caption else [])])
    spans = [
        f"{_word(bar)} from {seconds(bar.start, run.makespan)} to {seconds(bar.end, run.makespan)}, {bar.state}"
        for bar in found[:12]
    ]
    more = [f"and {len(found) - 12} more"] if len(found) > 12 else []
    alt = f"Timeline: {title}. {'; '.join([*spans, *more])}. {' '.join(notes)}".strip()
    return Figure(title, text, alt, caption, 720, svg=svg)


def _name(bar: Bar, names: Mapping[str, str]) -> str:
    return "" if bar.what or bar.step is None else fit_columns(names.get(bar.step, ""), 50)


def _word(bar: Bar) -> str:
    if bar.step is None:
        return bar.what or "planning"
    return (
        f"{bar.what} {bar.step}"
        if bar.what
        else f"step {bar.step}" + (f", try {bar.attempt}" if bar.attempt > 1 else "")
    )


def _critical(run: Run) -> tuple[list[str], float]:
    """The chain of steps that takes longest; only of a run that finished, else it says nothing."""
    if run.status != "finished":
        return [], 0.0
    taken = durations(run)
    path, length = run.plan.critical_path({step.id: taken.get(step.id, 0.0) for step in run.plan.steps})
    return (path, length) if length else ([], 0.0)


def _finding(run: Run, found: list[Bar]) -> str:
    whole = run.makespan
    work = fsum(bar.end - bar.start for bar in found)
    planning = fsum(bar.end - bar.start for bar in found if bar.step is None)
    done = len(run.results)
    if run.status == "finished":
        steps = f"{count(done, 'step')} in {seconds(whole)}"
        judging = fsum(bar.end - bar.start for bar in found if bar.what == JUDGING)
        others = [f"{seconds(time)}{{}} {what}" for time, what in ((planning, "planning"), (judging, JUDGING)) if time]
        steps += f", {' and '.join(others)}".format(" of it", "") if others else ""
        if not whole:
            return f"{count(done, 'step')}, none of which takes any time"
        if work - whole > whole / 1000:
            return f"{steps}; one after the other they would take {seconds(work)}"
        return f"{steps}, one after the other" if done > 1 and not others else steps
    stand = f"{done} of {count(len(run.plan.steps), 'step')} done"
    if run.board.failed:
        id = next(iter(run.board.failed))
        at = max(bar.end for bar in found if bar.step == id)
        return f"Step {id} failed at {seconds(at)}; {stand}"
    return f"{run.status.capitalize()} at {seconds(whole)}: {stand}"


def _notes(run: Run, found: list[Bar]) -> list[str]:
    board, said = run.board, []
    for id, state in board.state.items():
        states = [bar.state for bar in found if bar.step == id and not bar.what]
        if tries := states.count("failed"):
            times = "" if tries == 1 else f" {tries} times"
            last = states[-1] if state == "failed" else state
            error = f": {fit_columns(clean(board.errors[id]), 110)}" if last == "failed" else f", then {last}."
            said.append(f"Step {id} failed{times}{error}")
    said += _verdicts(run) + told(board)
    skipped, superseded = (
        [id for id, state in board.state.items() if state == gone] for gone in ("skipped", "superseded")
    )
    started = {bar.step for bar in found}
    waiting = [id for id, state in board.state.items() if state == "waiting" and id not in started]
    said += [f"Skipped: {listed(skipped)}."] if skipped else []
    said += [f"Superseded by a later plan: {listed(superseded)}."] if superseded else []
    said += [f"Never started: {listed(waiting)}."] if waiting else []
    said += [] if run.makespan else ["There are no bars to draw: nothing declares how long it takes."]
    return said


def _verdicts(run: Run) -> list[str]:
    """What the evaluator held against results, and where it gave no verdict; the same said twice is said once."""
    said: dict[tuple[str, str], list[str]] = {}
    for event in run.events:
        if isinstance(event, e.Judged) and event.verdict != "accept":
            words = f"Step {event.step} {BY_VERDICT}", f"({event.verdict}): {fit_columns(clean(event.reason), 90)}."
        elif isinstance(event, e.JudgeFailed):
            words = f"No verdict on step {event.step}", f"({fit_columns(clean(event.error), 90)})."
        else:
            continue
        said.setdefault(words, []).append(seconds(event.at, run.makespan))
    lines = [f"{what} at {listed(times)} {why}" for (what, why), times in said.items()]
    more = [f"And {count(len(lines) - MOST_VERDICTS, 'more verdict')}."] if len(lines) > MOST_VERDICTS else []
    return lines[:MOST_VERDICTS] + more
