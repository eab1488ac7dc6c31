"""What was predicted, beside what happened: spans of time by step, and the difference in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from planexec_lite.run import Run
from planexec_lite.tools import suggest
from planexec_lite.views.bars import Bar, bars
from planexec_lite.views.words import count, listed, seconds

MOST = 8

Predicted = Run | Mapping[str, float] | Mapping[int, float]


class Span(NamedTuple):
    """From when to when a step was at work, or was thought to be, in seconds."""

    step: str
    start: float
    end: float


def spans(found: Iterable[Bar]) -> dict[str, Span]:
    """Return for each step the span from the start of its first try to the end of its last."""
    taken: dict[str, Span] = {}
    for bar in found:
        if bar.step is not None and not bar.what:
            start = taken[bar.step].start if bar.step in taken else bar.start
            taken[bar.step] = Span(bar.step, start, bar.end)
    return taken


def predict(what: Predicted, run: Run) -> dict[str, Span]:
    """Return the predicted spans of the steps: those of another run, or from start times by step id, in seconds.

    Where only a start was predicted, the span is as long as the step really took, and nothing for one that never began.
    Raises `ValueError` for a step that the run does not have, and for a start before zero.
    """
    if isinstance(what, Run):
        return spans(bars(what))
    actual, thought = spans(bars(run)), {}
    for id, start in ((str(id), start) for id, start in what.items()):
        if id not in run.board.steps:
            raise ValueError(f"predicted: there is no step {id!r}{suggest(id, run.board.steps)}")
        if not 0 <= start < float("inf"):
            raise ValueError(f"predicted: step {id} at {start}: a start is a number of seconds, zero or more")
        took = actual[id].end - actual[id].start if id in actual else 0.0
        thought[id] = Span(id, float(start), round(start + took, 9))
    return thought


def rows(thought: Iterable[Span]) -> list[list[Span]]:
    """Share spans out into rows in which none overlaps another."""
    shared: list[list[Span]] = []
    for span in sorted(thought, key=lambda span: span.start):
        free = next((row for row in shared if row[-1].end <= span.start + 1e-9), None)
        if free is None:
            shared.append(free := [])
        free.append(span)
    return shared


def finding(what: Predicted, run: Run) -> str:
    """Say how the run took its course, beside what was thought."""
    actual, thought = spans(bars(run)), predict(what, run)
    both = [id for id in actual if id in thought]
    off = [id for id in both if not _same(thought[id].start, actual[id].start, run)]
    began = f"{len(both) - len(off)} of {count(len(both), 'step')} began when predicted"
    if not isinstance(what, Run):
        first = min(off, key=lambda id: actual[id].start, default=None)
        return (
            f"All {count(len(both), 'step')} began when predicted"
            if first is None
            else f"{began}: step {first} is the first that did not"
        )
    if _same(what.makespan, run.makespan, run):
        return f"Took {seconds(run.makespan)}, as predicted; {began}"
    more = run.makespan - what.makespan
    took = f"Predicted {seconds(what.makespan, run.makespan)}, took {seconds(run.makespan)}"
    return f"{took}, {seconds(abs(more), run.makespan)} {'longer' if more > 0 else 'less'}; {began}"


def differences(what: Predicted, run: Run) -> list[str]:
    """Say in sentences which steps began or lasted otherwise than predicted."""
    actual, thought = spans(bars(run)), predict(what, run)
    both = [id for id in actual if id in thought]
    starts = {id: round(actual[id].start - thought[id].start, 9) for id in both}
    lengths = {id: round(_long(actual[id]) - _long(thought[id]), 9) for id in both}
    said = [
        _sentence(words, {id: sign * by for id, by in found.items() if sign * by > 0 and not _same(by, 0.0, run)}, run)
        for words, found, sign in (
            ("Later than predicted", starts, 1), ("Earlier than predicted", starts, -1),
            ("Longer than predicted", lengths, 1), ("Shorter than predicted", lengths, -1),
        )
    ]  # fmt: skip
    never = [id for id in thought if id not in actual]
    surprising = [id for id in actual if id not in thought]
    said += [f"Predicted, never started: {listed(never)}."] if never else []
    said += [f"Not predicted: {listed(surprising)}."] if surprising and isinstance(what, Run) else []
    return [sentence for sentence in said if sentence]


def _long(span: Span) -> float:
    return span.end - span.start


def _same(one: float, other: float, run: Run) -> bool:
    return abs(one - other) <= run.makespan / 1000


def _sentence(words: str, found: Mapping[str, float], run: Run) -> str:
    """Steps that are off by the same time are named together."""
    if not found:
        return ""
    by: dict[str, list[str]] = {}
    for id, time in found.items():
        by.setdefault(seconds(time, run.makespan), []).append(id)
    parts: Sequence[str] = [f"{listed(ids)} by {time}" for time, ids in by.items()]
    left = sum(map(len, list(by.values())[MOST:]))
    more = f"; and {count(left, 'more step')}" if left else ""
    return f"{words}: {'; '.join(parts[:MOST])}{more}."
