"""Rollback (lesson 09): what a run has done is undone, one undo at a time, the latest first.

An undo is planned, starts, and is then done, failed, in doubt or paused. A failed undo does not stop the rollback: the run names
what remains. `capabilities.undo` says what can be undone, and in which order.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from planexec_lite.capabilities.undo import LISTED, Undo, WorkDone, step_requeued, undos, unknown
from planexec_lite.core import WAIT, Answer, Board, Capability, IllegalTransition, Part
from planexec_lite.core import events as e
from planexec_lite.meter import ModelCall
from planexec_lite.plan import Call


@dataclass(frozen=True)
class Settings:
    """The settings of this capability."""

    rollback: Literal["never", "failed", "unfinished"] = "never"


def check(policy: Settings) -> None:
    """Raise `ValueError` for settings that make no sense."""
    if policy.rollback not in ("never", "failed", "unfinished"):
        raise ValueError(f"rollback={policy.rollback!r}: 'never', after a run has 'failed', or if it is 'unfinished'")


@dataclass(frozen=True, slots=True)
class RollbackStarted(e.Event):
    """The rollback begins, for this `reason`. From here on no step starts.

    Step `to` and everything that was done before it stays done; None: everything is undone. In a nested run, `made` has the
    undo calls that the rollbacks of earlier attempts of the step have made.
    """

    reason: str
    to: str | None = None
    made: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UndoStarted(e.Job):
    """`call` is made to undo a step's effect. Without a call, nested run number `inside` of the step is rolled back.

    `step` is the step, or names a call of the plan's rollback, as in "rollback 1".
    """

    step: str
    call: Call | None = None
    inside: int = 0


@dataclass(frozen=True, slots=True)
class UndoDone(e.Outcome):
    """The undo gave a result (data: what JSON can hold), after `seconds` of work.

    The rollback of a nested run gives three lists: the labels `undone`, what `remains` and why, and the calls that were `made`.
    """

    step: str
    result: Any
    seconds: float = 0.0
    calls: tuple[ModelCall, ...] = ()


@dataclass(frozen=True, slots=True)
class UndoFailed(e.Outcome):
    """The undo raised an error, or took longer than the timeout of its step. In doubt: it is unknown how much of it was done."""

    step: str
    error: str
    seconds: float = 0.0
    calls: tuple[ModelCall, ...] = ()
    in_doubt: bool = False


@dataclass(frozen=True, slots=True)
class UndoPaused(e.Outcome):
    """The rollback of the nested run waits for a person; `reason` says why. It continues after the decision."""

    step: str
    reason: str
    inside: e.PauseReason
    seconds: float = 0.0
    calls: tuple[ModelCall, ...] = ()


@dataclass
class Rollback(Part):
    """How far the rollback is.

    Attributes:
        started: the event that began it; `again`: the run had ended before.
        left: the undos that are still planned, the next one last; `calling`: the undo that is running.
        allowed: a person has allowed the next undo.
        undone: the labels of what was undone; `remains`: the labels of what was not undone, and why.
    """

    started: RollbackStarted | None = None
    again: bool = False
    left: list[Undo] = field(default_factory=list)
    calling: Undo | None = None
    allowed: bool = False
    undone: list[str] = field(default_factory=list)
    remains: list[tuple[str, str]] = field(default_factory=list)

    @property
    def undone_steps(self) -> list[str]:
        """The labels of the steps that were undone, in that order."""
        return [label for label in self.undone if LISTED + " " not in label]

    @property
    def called(self) -> list[str]:
        """The calls of a plan's rollback that were made, in that order."""
        return [label for label in self.undone if LISTED + " " in label]


def _check_begin(board: Board, event: RollbackStarted) -> None:
    if board.in_flight:
        raise IllegalTransition("be rolled back", None, None, "work is in flight")
    if event.to is not None and event.to not in board[WorkDone].latest:
        raise IllegalTransition("stay", event.to, None, "it gave no result")


def _check_undo(board: Board, event: UndoStarted | UndoDone | UndoFailed | UndoPaused) -> None:
    mine, starts = board[Rollback], isinstance(event, UndoStarted)
    due = mine.left[-1] if starts and mine.left else None if starts else mine.calling
    if due is None or due.label != event.step:
        what = "be undone" if starts else "come to this end"
        why = "it is not the undo that is due" if event.step in board.steps else ""
        raise IllegalTransition(what, event.step, board.state.get(event.step), why)


def _check_decision(board: Board, event: e.Reviewed) -> None:
    if board[Rollback].started and (board.paused is None or board.paused.gate != event.step):
        why = "the run does not wait for this decision"
        raise IllegalTransition("be decided about", event.step, board.state.get(event.step or ""), why)


def _begin(board: Board, event: RollbackStarted) -> None:
    mine, items = board[Rollback], [*undos(board, event.to, event.made)]
    mine.started, mine.again, mine.allowed, mine.undone = event, board.ended is not None, False, []
    mine.left = [one for one in reversed(items) if isinstance(one, Undo)]
    mine.remains = [*unknown(board), *(one for one in items if not isinstance(one, Undo))]
    board.ended = board.paused = None


def _start(board: Board, event: UndoStarted) -> None:
    mine = board[Rollback]
    mine.calling = mine.left.pop()


def _end(mine: Rollback) -> Undo:
    undo, mine.calling = mine.calling, None
    assert undo is not None
    return undo


def _done(board: Board, event: UndoDone) -> None:
    mine, work = board[Rollback], board[WorkDone]
    undo = _end(mine)
    mine.allowed, id = False, undo.label
    own = {"undone": [""], "remains": [], "made": [work.call_text(undo)]}
    result: dict[str, Any] = event.result if undo.inside else own
    remains = [(f"{id}/{label}" if label else id, why) for label, why in result["remains"]]
    mine.remains += [one for one in dict.fromkeys(remains) if one not in mine.remains]
    mine.undone += [f"{id}/{label}" if label else id for label in result["undone"]]
    work.note_made(id if undo.inside else "", result["made"])
    if remains:
        return
    work.settle(undo)
    one = work.completed.get(undo.number or work.latest.get(id, 0))
    stands = one is not None and undo.inside in (0, one.inside) and board.steps[id] == one.step
    if stands and board.state[id] == "done":
        board.state[id] = "undone"
        del board.results[id]


def _failed(board: Board, event: UndoFailed) -> None:
    mine, work = board[Rollback], board[WorkDone]
    undo = _end(mine)
    mine.allowed = False
    mine.remains.append((undo.label, event.error))
    effects = (
        board.started.effects.get(undo.call.tool, "none") if undo.call else board.effects_of(board.steps[undo.label])
    )
    if event.in_doubt and effects not in ("none", "idempotent"):
        work.unsure.append(undo)
        work.settle(undo)


def _planned_again(board: Board, event: UndoPaused | e.Requeued) -> None:
    mine = board[Rollback]
    if mine.calling is not None:
        mine.left.append(_end(mine))
    elif isinstance(event, e.Requeued):
        step_requeued(board, event)


def _reviewed(board: Board, event: e.Reviewed) -> None:
    mine, asked = board[Rollback], board.paused
    if mine.started is None or (asked is not None and asked.inside is not None):
        return
    if event.verdict == "approve":
        mine.allowed = True
    else:
        why_not = f"{event.by} rejected it" + (f": {event.comment}" if event.comment else "")
        mine.remains.append((mine.left.pop().label, why_not))


CAPABILITY = Capability(
    Rollback,
    checks={
        RollbackStarted: _check_begin,
        **dict.fromkeys((UndoStarted, UndoDone, UndoFailed, UndoPaused), _check_undo),
        e.Reviewed: _check_decision,
    },
    folds={
        RollbackStarted: _begin,
        UndoStarted: _start,
        UndoDone: _done,
        UndoFailed: _failed,
        UndoPaused: _planned_again,
        e.Requeued: _planned_again,
        e.Reviewed: _reviewed,
    },
)


def leaves(board: Board) -> bool:
    """Whether a rollback around this run must undo or name anything in it."""
    return board[WorkDone].has_anything or bool(board[Rollback].remains) or bool(unknown(board))


def undo_next(board: Board, policy: object) -> Answer | None:
    """Once a rollback has started, undo one thing at a time. An undo with a gate waits for a person."""
    mine = board[Rollback]
    if mine.started is None:
        return None
    if board.in_flight:
        return WAIT
    if not mine.left:
        return e.Ended(board.now, "rolled back", _summary(mine, mine.started.reason))
    undo = mine.left[-1]
    if undo.call is not None and undo.call.gate and not mine.allowed:
        return e.Paused(board.now, "undo", undo.label)
    return UndoStarted(board.now, undo.label, undo.call, undo.inside)


def roll_back_first(board: Board, policy: Settings, event: e.Ended, executor: Any) -> Answer:
    """Guard: a run that ends without success first undoes what it did, if the policy wants that."""
    if policy.rollback == "never" or event.status == "finished":
        return event
    wanted = event.status == "failed" or policy.rollback == "unfinished"
    if not wanted or board[Rollback].started or not board[WorkDone].has_anything:
        return event
    return RollbackStarted(board.now, event.reason)


def _summary(mine: Rollback, reason: str) -> str:
    by_reason: dict[str, list[str]] = {}
    for label, why in mine.remains:
        by_reason.setdefault(why, []).append(label)
    words = [reason]
    words += [f"undone: {', '.join(mine.undone_steps)}"] if mine.undone_steps else []
    words += [f"called: {', '.join(mine.called)}"] if mine.called else []
    words += ["nothing was undone"] if not mine.undone else []
    words += [f"not undone: {', '.join(labels)} ({why})" for why, labels in by_reason.items()]
    return "; ".join(words)
