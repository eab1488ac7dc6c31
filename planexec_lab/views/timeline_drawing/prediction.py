"""Predicted and real start times of steps: spans of time by step, and a sentence about the difference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from planexec_lab.views.drawing.wording import count, listed, seconds
from planexec_lab.views.timeline_drawing.bars import Span
from planexec_lite.run import Run
from planexec_lite.tools import suggest

MOST = 8


def predict(starts: Mapping[str, float], run: Run, actual: Mapping[str, Span]) -> dict[str, Span]:
    """Return the predicted spans of the steps, from their start times in seconds by step id.

    Each span is as long as the step really took; a step that never began has none.
    Raises `ValueError` for a step that the run does not have, and for a start before zero.
    """
    by_step = {}
    for id, start in starts.items():
        if id not in run.board.steps:
            raise ValueError(f"predicted: there is no step {id!r}{suggest(id, run.board.steps)}")
        if not 0 <= start < float("inf"):
            raise ValueError(f"predicted: step {id} at {start}: a start is a number of seconds, zero or more")
        took = actual[id].end - actual[id].start if id in actual else 0.0
        by_step[id] = Span(id, float(start), round(start + took, 9))
    return by_step


def finding(predicted: Mapping[str, Span], actual: Mapping[str, Span], makespan: float) -> str:
    """Say how many steps of a run of `makespan` seconds began when they were predicted to."""
    both = [id for id in actual if id in predicted]
    off = [id for id in both if not _same(predicted[id].start, actual[id].start, makespan)]
    if not off:
        return f"All {count(len(both), 'step')} began when predicted"
    first = min(off, key=lambda id: actual[id].start)
    began = f"{len(both) - len(off)} of {count(len(both), 'step')} began when predicted"
    return f"{began}: step {first} is the first that did not"


def differences(predicted: Mapping[str, Span], actual: Mapping[str, Span], makespan: float) -> list[str]:
    """Say in sentences which steps of a run of `makespan` seconds began otherwise than predicted, or never."""
    off = {id: round(span.start - predicted[id].start, 9) for id, span in actual.items() if id in predicted}
    off = {id: by for id, by in off.items() if not _same(by, 0.0, makespan)}
    later, earlier = ({id: sign * by for id, by in off.items() if sign * by > 0} for sign in (1, -1))
    sentences = [
        _sentence("Later than predicted", later, makespan),
        _sentence("Earlier than predicted", earlier, makespan),
    ]
    never = [id for id in predicted if id not in actual]
    sentences += [f"Predicted, never started: {listed(never)}."] if never else []
    return [sentence for sentence in sentences if sentence]


def _same(one: float, other: float, makespan: float) -> bool:
    """A thousandth of the run is less than a pixel: what can't be seen is not called a difference."""
    return abs(one - other) <= makespan / 1000


def _sentence(words: str, off: Mapping[str, float], makespan: float) -> str:
    """Steps that are off by the same time are named together."""
    if not off:
        return ""
    by: dict[str, list[str]] = {}
    for id, time in off.items():
        by.setdefault(seconds(time, makespan), []).append(id)
    parts: Sequence[str] = [f"{listed(ids)} by {time}" for time, ids in by.items()]
    left = sum(map(len, list(by.values())[MOST:]))
    more = f"; and {count(left, 'more step')}" if left else ""
    return f"{words}: {'; '.join(parts[:MOST])}{more}."
