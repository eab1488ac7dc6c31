"""From the events of a run to bars: what was worked on, from when to when, and how it ended."""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heappop, heappush
from typing import NamedTuple, TypeVar

from planexec_lite.run import Run
from planexec_lite.run import events as e

REASONS = {
    "first": "planning", "repair": "repair", "horizon": "planning on", "failure": "replanning after a failure",
    "news": "replanning after news", "step": "replanning after a step", "stall": "replanning after a stall",
}  # fmt: skip
INTERRUPTED = "interrupted"
WAITED = "paused"  # the run inside waits for a decision
BY_VERDICT = "failed by verdict"


class Beside(NamedTuple):
    """A kind of work about a step, other than its execution: the job and its outcomes, and how it is drawn.

    `what` stands before the step's name, `lane` is the name of its lane, and `look` one of `theme.LOOKS`. Work that went well
    is in the state `done`, with the `sign`; a verdict has states of its own.
    """

    what: str
    events: tuple[type[e.Event], ...]
    lane: str
    look: str
    done: str
    sign: str


BACKOFF = Beside("backoff of", (e.BackoffStarted, e.BackoffEnded), "backoff", "waiting", "waited", "…")
JUDGING = Beside("judging", (e.JudgeStarted, e.Judged), "evaluator", "judging", "accepted", "✓\u00a0accepted")
_UNDO = (e.UndoStarted, e.UndoDone, e.UndoFailed, e.UndoPaused)
UNDOING = Beside("undo of", _UNDO, "rollback", "undone", "undone", "↺")
BESIDE = (BACKOFF, JUDGING, UNDOING)
"""In the order of their lanes."""


class Bar(NamedTuple):
    """A piece of work from `start` to `end`, in seconds.

    It is an attempt of a step or, as `what` says, the evaluator that judges the step, the undo of the step or its wait
    before a retry. If `step` is None, it is the planner, and `what` is the reason for the request.
    """

    step: str | None
    start: float
    end: float
    state: str
    attempt: int = 1
    what: str = ""


class Span(NamedTuple):
    """From when to when a step was at work, or was thought to be, in seconds."""

    step: str
    start: float
    end: float


Timed = TypeVar("Timed", Bar, Span)


def bars(run: Run) -> list[Bar]:
    """Return the pieces of work in the order of their starts; work in flight lasts until now.

    Work that was cancelled before it began has no bar. The bar of interrupted work ends at the interruption.
    """
    begun: list[Bar] = []
    last: dict[tuple[str | None, str], int] = {}  # (step, what is done about it) -> place of its latest bar in `begun`
    cancelled: set[int] = set()
    for event in run.events:
        step, kind = getattr(event, "step", None), _kind(event)
        what = "" if kind is None else kind.what
        match event:
            case e.PlanStarted():
                last[None, ""] = len(begun)
                begun.append(Bar(None, event.at, run.board.now, "running", what=REASONS.get(event.reason, "planning")))
            case e.StepStarted():
                last[step, ""] = len(begun)
                begun.append(Bar(step, event.at, run.board.now, "running", event.attempt))
            case e.Job():
                last[step, what] = len(begun)
                begun.append(Bar(step, event.at, run.board.now, "running", what=what))
            case e.Requeued() | e.StepInDoubt():
                # it names only the step: the bar in flight is the step's work or other work about it
                for place in [last[step, each] for each in ("", *(one.what for one in BESIDE)) if (step, each) in last]:
                    if begun[place].state == "running":
                        begun[place] = begun[place]._replace(end=event.at, state=INTERRUPTED)
                        if getattr(event, "reason", "") == "cancelled":
                            cancelled.add(place)
            case e.StepPaused() | e.UndoPaused():
                begun[last[step, what]] = begun[last[step, what]]._replace(end=event.at, state=WAITED)
            case e.Outcome():
                # an outcome without a job has no bar: a plan from outside, a step after its timeout
                if (number := last.get((step, what))) is not None and begun[number].state == "running":
                    # from the moment when the worker began, which can be later than the event that started the job
                    start = max(round(event.at - getattr(event, "seconds", 0.0), 9), 0.0)
                    begun[number] = begun[number]._replace(start=start, end=event.at, state=_state(event))
                if isinstance(event, e.Judged) and event.verdict != "accept" and (step, "") in last:
                    # the step's own bar was "done" until now; its time was worked all the same
                    number = last[step, ""]
                    begun[number] = begun[number]._replace(state=BY_VERDICT)
    return [bar for number, bar in enumerate(begun) if number not in cancelled]


def lanes(pieces: Iterable[Timed]) -> list[list[Timed]]:
    """Share bars or spans out so that none overlaps another: each goes to the first lane that is free when it starts."""
    shared: list[list[Timed]] = []
    free: list[int] = []  # heaps: the lanes that are free, and when the others are
    busy: list[tuple[float, int]] = []
    for piece in sorted(pieces, key=lambda piece: piece.start):
        # times are sums of floats: a lane that ends a hair later than the next piece starts is free
        while busy and busy[0][0] <= piece.start + 1e-9:
            heappush(free, heappop(busy)[1])
        if not free:
            shared.append([])
        lane = heappop(free) if free else len(shared) - 1
        shared[lane].append(piece)
        heappush(busy, (piece.end, lane))
    return shared


def spans(worked: Iterable[Bar]) -> dict[str, Span]:
    """Return for each step the span from the start of its first try to the end of its last."""
    by_step: dict[str, Span] = {}
    for bar in worked:
        if bar.step is not None and not bar.what:
            start = by_step[bar.step].start if bar.step in by_step else bar.start
            by_step[bar.step] = Span(bar.step, start, bar.end)
    return by_step


def _kind(event: object) -> Beside | None:
    """The kind of work about the event's step, other than its execution."""
    return next((one for one in BESIDE if isinstance(event, one.events)), None)


def _state(event: e.Outcome) -> str:
    if getattr(event, "error", None) is not None:
        return "failed"
    if isinstance(event, e.Judged) and event.verdict != "accept":
        return event.verdict
    if (kind := _kind(event)) is not None:
        return kind.done
    invalid = isinstance(event, e.PlanProposed) and (event.problems or event.plan is None)
    return "invalid" if invalid else "done"
