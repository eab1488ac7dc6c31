"""A timeline: everything that the figure of a run is made of, computed once and handed on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum

from planexec_lab.views.drawing.wording import name_of
from planexec_lab.views.timeline_drawing.bars import BESIDE, Bar, Span, bars, lanes, spans
from planexec_lab.views.timeline_drawing.prediction import predict
from planexec_lite.run import Run

MOST_LANES = 100  # that are drawn


@dataclass(frozen=True)
class Lane:
    """A lane: its bars in order, its idle seconds, and its rows of predicted spans."""

    name: str
    bars: Sequence[Bar]
    idle: float = 0.0
    predicted: Sequence[Sequence[Span]] = ()


@dataclass(frozen=True)
class Timeline:
    """The data of a timeline.

    Args:
        run: the run.
        bars: the pieces of work in the order of their starts.
        lanes: the planner, the slots, backoff, the evaluators, the rollback, and a lane for predicted steps that never began.
        names: the names of the steps, by id.
        actual: start and end of each step, by id.
        path: the critical path as step ids, `length` its seconds, and `critical` its bars: empty and 0 unless the run has finished.
        predicted: the predicted spans by step; empty without a prediction.
    """

    run: Run
    bars: Sequence[Bar]
    lanes: Sequence[Lane]
    names: Mapping[str, str]
    actual: Mapping[str, Span]
    path: Sequence[str]
    length: float
    critical: frozenset[Bar]
    predicted: Mapping[str, Span]

    @classmethod
    def of(cls, run: Run, starts: Mapping[str, float] | None = None) -> Timeline:
        """Return a run's timeline; raises as `predict` does."""
        worked = bars(run)
        actual = spans(worked)
        predicted = predict(starts or {}, run, actual)
        shared = _lanes(worked, run.makespan, predicted)
        names = {id: name_of(step) for id, step in run.board.steps.items()}
        return cls(run, worked, shared, names, actual, *_critical(run, worked), predicted)

    @property
    def end(self) -> float:
        """When the last bar or predicted span ends, in seconds."""
        return max([self.run.makespan, *(span.end for span in self.predicted.values())])

    def lanes_to(self, end: float) -> Sequence[Lane]:
        """The lanes to draw on an axis of `end` seconds: none where it has no length, since there is nothing to draw on."""
        return self.lanes[:MOST_LANES] if end else []


def durations(run: Run) -> dict[str, float]:
    """Return the seconds of work that each step of a run took, its tries together: what `graph` takes.

    Work counts from when all that the step waits for was done, and no second counts twice.
    """
    return _by_step(_work(run, bars(run)))


def _work(run: Run, worked: Sequence[Bar]) -> list[tuple[Bar, float]]:
    """The tries of steps that count, each with its seconds."""
    ended = {id: span.end for id, span in spans(worked).items()}
    since = {step.id: max((ended.get(one, 0.0) for one in step.depends_on), default=0.0) for step in run.plan.steps}
    counted = []
    for bar in worked:
        if bar.step is not None and not bar.what and bar.end >= (start := since.get(bar.step, 0.0)):
            counted.append((bar, bar.end - max(bar.start, start)))
            since[bar.step] = bar.end
    return counted


def _by_step(counted: Sequence[tuple[Bar, float]]) -> dict[str, float]:
    taken: dict[str, float] = {}
    for bar, seconds in counted:
        taken[bar.step or ""] = round(taken.get(bar.step or "", 0.0) + seconds, 9)
    return taken


def _lanes(worked: Sequence[Bar], makespan: float, predicted: Mapping[str, Span]) -> list[Lane]:
    """Planner, slots, backoff, evaluators, rollback; a predicted span lies in the lane where its step began, to be compared."""
    planner = [bar for bar in worked if bar.step is None]
    shared = [Lane("planner", planner)] if planner else []
    unplaced = dict(predicted)
    for number, lane in enumerate(lanes([bar for bar in worked if bar.step is not None and not bar.what]), 1):
        idle = round(makespan - fsum(bar.end - bar.start for bar in lane), 9)
        here = [unplaced.pop(bar.step) for bar in lane if bar.step in unplaced]
        # less than a thousandth of the run can't be seen, and is no more than rounding
        shared.append(Lane(f"slot {number}", lane, idle if idle > makespan / 1000 else 0.0, lanes(here)))
    for kind in BESIDE:
        beside = lanes([bar for bar in worked if bar.what == kind.what])
        shared += [
            Lane(kind.lane + (f" {number}" if number > 1 else ""), lane) for number, lane in enumerate(beside, 1)
        ]
    return [*shared, *([Lane("never began", [], 0.0, lanes(unplaced.values()))] if unplaced else [])]


def _critical(run: Run, worked: Sequence[Bar]) -> tuple[list[str], float, frozenset[Bar]]:
    """The chain of steps that takes longest; of a run that has not finished, no chain is known to be the longest."""
    if run.status != "finished":
        return [], 0.0, frozenset()
    counted = _work(run, worked)
    taken = _by_step(counted)
    path, length = run.plan.critical_path({step.id: taken.get(step.id, 0.0) for step in run.plan.steps})
    return (path if length else []), length, frozenset(bar for bar, _ in counted if length and bar.step in path)
