"""What was predicted, beside what happened: spans of time by step, and the difference in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from planexec_lite.loop.run import Run
from planexec_lite.tools import suggest
from planexec_lite.views.drawing.wording import count, listed, seconds
from planexec_lite.views.timeline_drawing.bars import Span, bars, spans

MOST = 8

Predicted = Run | Mapping[str, float] | Mapping[int, float]


@dataclass(frozen=True)
class Prediction:
    """The predicted spans by step, and the predicted length of the run: None where only starts were predicted."""

    spans: Mapping[str, Span]
    makespan: float | None


def predict(predicted: Predicted, run: Run, actual: Mapping[str, Span]) -> Prediction:
    """Return the predicted spans of the steps: those of another run, or from start times by step id, in seconds.

    Where only a start was predicted, the span is as long as the step really took, and nothing for one that never began.
    Raises `ValueError` for a step that the run does not have, and for a start before zero.
    """
    if isinstance(predicted, Run):
        return Prediction(spans(bars(predicted)), predicted.makespan)
    by_step = {}
    for id, start in ((str(id), start) for id, start in predicted.items()):
        if id not in run.board.steps:
            raise ValueError(f"predicted: there is no step {id!r}{suggest(id, run.board.steps)}")
        if not 0 <= start < float("inf"):
            raise ValueError(f"predicted: step {id} at {start}: a start is a number of seconds, zero or more")
        took = actual[id].end - actual[id].start if id in actual else 0.0
        by_step[id] = Span(id, float(start), round(start + took, 9))
    return Prediction(by_step, None)


def finding(prediction: Prediction, actual: Mapping[str, Span], makespan: float) -> str:
    """Say how a run of `makespan` seconds took its course, beside what was predicted."""
    predicted = prediction.spans
    both = [id for id in actual if id in predicted]
    off = [id for id in both if not _same(predicted[id].start, actual[id].start, makespan)]
    began = f"{len(both) - len(off)} of {count(len(both), 'step')} began when predicted"
    if prediction.makespan is None:
        first = min(off, key=lambda id: actual[id].start, default=None)
        return (
            f"All {count(len(both), 'step')} began when predicted"
            if first is None
            else f"{began}: step {first} is the first that did not"
        )
    if _same(prediction.makespan, makespan, makespan):
        return f"Took {seconds(makespan)}, as predicted; {began}"
    more = makespan - prediction.makespan
    took = f"Predicted {seconds(prediction.makespan, makespan)}, took {seconds(makespan)}"
    return f"{took}, {seconds(abs(more), makespan)} {'longer' if more > 0 else 'less'}; {began}"


def differences(prediction: Prediction, actual: Mapping[str, Span], makespan: float) -> list[str]:
    """Say in sentences which steps of a run of `makespan` seconds began or lasted otherwise than predicted."""
    predicted = prediction.spans
    both = [id for id in actual if id in predicted]
    starts = {id: round(actual[id].start - predicted[id].start, 9) for id in both}
    lengths = {id: round(_long(actual[id]) - _long(predicted[id]), 9) for id in both}
    sentences = [
        _sentence(words, {id: sign * by for id, by in off.items() if sign * by > 0 and not _same(by, 0.0, makespan)}, makespan)
        for words, off, sign in (
            ("Later than predicted", starts, 1), ("Earlier than predicted", starts, -1),
            ("Longer than predicted", lengths, 1), ("Shorter than predicted", lengths, -1),
        )
    ]  # fmt: skip
    never = [id for id in predicted if id not in actual]
    surprising = [id for id in actual if id not in predicted]
    sentences += [f"Predicted, never started: {listed(never)}."] if never else []
    # who gives start times may leave steps out; a predicted run says of every other step that it does not happen
    sentences += [f"Not predicted: {listed(surprising)}."] if surprising and prediction.makespan is not None else []
    return [sentence for sentence in sentences if sentence]


def _long(span: Span) -> float:
    return span.end - span.start


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
