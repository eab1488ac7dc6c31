"""What is written below a timeline: failures, verdicts, news, limits, and steps that were never started, in words."""

from __future__ import annotations

from collections.abc import Sequence

from planexec_lite import events as e
from planexec_lite.run import Run
from planexec_lite.views.bars import BY_VERDICT, Bar
from planexec_lite.views.marks import told
from planexec_lite.views.words import clean, count, fit_columns, listed, seconds

MOST_VERDICTS = 6


def notes(run: Run, found: Sequence[Bar]) -> list[str]:
    """Return in sentences what the bars of a timeline can't show."""
    board, said = run.board, []
    for id, state in board.state.items():
        states = [bar.state for bar in found if bar.step == id and not bar.what]
        if tries := states.count("failed"):
            times = "" if tries == 1 else f" {tries} times"
            last = states[-1] if state == "failed" else state
            error = f": {fit_columns(clean(board.errors[id]), 110)}" if last == "failed" else f", then {last}."
            said.append(f"Step {id} failed{times}{error}")
    said += _verdicts(run) + _late(run) + told(board)
    skipped, superseded = (
        [id for id, state in board.state.items() if state == gone] for gone in ("skipped", "superseded")
    )
    started = {bar.step for bar in found}
    waiting = [id for id, state in board.state.items() if state == "waiting" and id not in started]
    said += [f"Skipped: {listed(skipped)}."] if skipped else []
    said += [f"Superseded by a later plan: {listed(superseded)}."] if superseded else []
    said += [f"Never started: {listed(waiting)}."] if waiting else []
    said += [] if run.makespan else ["There are no bars to draw: nothing declares how long it takes."]
    return said + _limits(run, found)


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


def _late(run: Run) -> list[str]:
    """Steps that had been given up and came to an end all the same."""
    return [
        f"Step {event.step} had been given up; what it gave at {seconds(event.at, run.makespan)} does not count."
        for event in run.events
        if isinstance(event, e.StepLate)
    ]


def _limits(run: Run, found: Sequence[Bar]) -> list[str]:
    """What only so many steps may use at once, and which steps did."""
    started = dict.fromkeys(bar.step for bar in found if bar.step in run.board.steps and not bar.what)
    said = []
    for limit in run.board.limits:
        users = [id for id in started if id is not None and (run.board.steps[id].tool or "") in limit.tools]
        said += [f"{clean(limit.name)}: {limit.slots} at once, used by {listed(users)}."] if len(users) > 1 else []
    return said
