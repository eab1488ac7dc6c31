"""Rollback (lesson 09): what a run has done is undone, one undo at a time, the latest first.

An undo is planned, starts, and is then done, failed, in doubt or paused. A failed undo does not stop the rollback: the run
names what remains. What a step in doubt depends on is not undone before a person has said whether that step was done; if
nobody is there to ask, it is left. `capabilities.undo` says what can be undone, and in which order.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal

from planexec_lite.capabilities.doubt import question_about
from planexec_lite.capabilities.undo import (
    LISTED,
    Undo,
    WorkDone,
    doubts_behind,
    step_requeued,
    steps_in_doubt,
    undos,
    unknown,
)
from planexec_lite.core import WAIT, Board, Capability, Choice, IllegalTransition, Part, only_if
from planexec_lite.core import events as e
from planexec_lite.core.questions import ExactCall, Question
from planexec_lite.meter import ModelCall
from planexec_lite.plan import Call
from planexec_lite.tools import references


@dataclass(frozen=True)
class Settings:
    """When a run undoes what it has done. See `Policy`."""

    rollback: Literal["never", "failed", "unfinished"] = "never"


def check(policy: Settings) -> None:
    """Raise `ValueError` for an unknown word."""
    if policy.rollback not in ("never", "failed", "unfinished"):
        raise ValueError(
            f"rollback={policy.rollback!r}: 'never', after a run has 'failed', or if it is 'unfinished'"
        )


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

    The rollback of a nested run gives the labels `undone`, what `remains` and why, the calls that were `made`, and whether it
    was undone only `partly`.
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
    """The rollback of the nested run asks a `question`, whose path begins with this step. It continues after the decision."""

    step: str
    question: Question
    seconds: float = 0.0
    calls: tuple[ModelCall, ...] = ()


@dataclass(frozen=True, slots=True)
class UndoLeft(e.Event):
    """The undo is not made, for this `reason`: a step that depends on its step is in doubt."""

    step: str
    reason: str


@dataclass
class Rollback(Part):
    """How far the rollback is.

    Attributes:
        started: the event that began it; `again`: the run had ended before.
        left: the undos that are still planned, the next one last; `calling`: the undo that is running.
        allowed: a person has allowed the next undo. `left_alone`: the steps in doubt about which a person said nothing.
        undone: the labels of what was undone; `remains`: the labels of what was not undone, and why.
        partly: something that has an undo was not undone.
        before: by step in doubt, the ids of the steps that it depends on; a cache.
    """

    started: RollbackStarted | None = None
    again: bool = False
    left: list[Undo] = field(default_factory=list)
    calling: Undo | None = None
    allowed: bool = False
    left_alone: set[str] = field(default_factory=set)
    undone: list[str] = field(default_factory=list)
    remains: list[tuple[str, str]] = field(default_factory=list)
    partly: bool = False
    before: dict[str, set[str]] = field(default_factory=dict, compare=False)

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


def _check_undo(
    board: Board, event: UndoStarted | UndoLeft | UndoDone | UndoFailed | UndoPaused
) -> None:
    mine, starts = board[Rollback], isinstance(event, UndoStarted | UndoLeft)
    due = mine.left[-1] if starts and mine.left else None if starts else mine.calling
    if due is None or due.label != event.step:
        what = "be undone" if starts else "come to this end"
        why = "it is not the undo that is due" if event.step in board.steps else ""
        raise IllegalTransition(what, event.step, board.state.get(event.step), why)


def _begin(board: Board, event: RollbackStarted) -> None:
    mine = board[Rollback]
    mine.started, mine.again, mine.allowed, mine.undone = event, board.ended is not None, False, []
    mine.partly, mine.left_alone, mine.before = False, set(), {}
    _plan(board, event, set())
    board.ended = board.paused = None


def _plan(board: Board, event: RollbackStarted, not_again: set[str]) -> None:
    """Plan all undos that are left, the next one last; those in `not_again` failed or were rejected."""
    mine = board[Rollback]
    mine.left, mine.remains = [], [one for one in mine.remains if one[0] in not_again]
    for undo in undos(board, event.to, event.made):
        if undo.why_not:
            mine.remains.append((undo.label, undo.why_not))
        elif undo.label not in not_again:
            mine.left.append(undo)
    mine.left.reverse()
    mine.remains = list(dict.fromkeys(mine.remains))


def _start(board: Board, _event: UndoStarted) -> None:
    mine = board[Rollback]
    mine.calling = mine.left.pop()


def _end(mine: Rollback) -> Undo:
    undo, mine.calling = mine.calling, None
    assert undo is not None
    return undo


def _done(board: Board, event: UndoDone) -> None:
    mine, work = board[Rollback], board[WorkDone]
    undo = _end(mine)
    mine.allowed = False
    if not undo.inside:
        mine.undone.append(undo.label)
        work.note_made("", [work.call_text(undo)])
        _settle(board, undo)
        return
    inside, label = event.result, undo.label
    mine.undone += [f"{label}/{one}" if one else label for one in inside["undone"]]
    remains = [(f"{label}/{one}" if one else label, why) for one, why in inside["remains"]]
    mine.remains = list(dict.fromkeys([*mine.remains, *remains]))
    work.note_made(label, inside["made"])
    if inside["partly"]:
        mine.partly = True
        work.partly.add(label)
    if not remains:
        _settle(board, undo)


def _settle(board: Board, undo: Undo) -> None:
    """A step is undone, unless it has another result, or was planned again, since then."""
    work, label = board[WorkDone], undo.label
    work.partly.discard(label)
    work.settle(undo)
    one = work.completed.get(undo.number or work.latest.get(label, 0))
    if one is None or undo.inside not in (0, one.inside) or board.steps[label] != one.step:
        return
    if board.state[label] == "done":
        board.state[label] = "undone"
        del board.results[label]


def _failed(board: Board, event: UndoFailed) -> None:
    mine, work = board[Rollback], board[WorkDone]
    undo = _end(mine)
    mine.allowed, mine.partly = False, True
    mine.remains.append((undo.label, event.error))
    effects = (
        board.started.effects.get(undo.call.tool, "none")
        if undo.call
        else board.effects_of(board.steps[undo.label])
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


def _left(board: Board, event: UndoLeft) -> None:
    mine = board[Rollback]
    mine.partly = True
    mine.remains.append((mine.left.pop().label, event.reason))


def _reviewed(board: Board, event: e.Reviewed) -> None:
    mine, question = board[Rollback], board.asked
    if mine.started is None or question.path:
        return
    if event.verdict == "approve":
        mine.allowed = True
    elif event.verdict == "reject" and question.kind == "doubt":
        mine.left_alone.add(question.step or "")
    elif event.verdict == "reject":
        why_not = f"{event.by} rejected it" + (f": {event.comment}" if event.comment else "")
        mine.partly = True
        mine.remains.append((mine.left.pop().label, why_not))
    else:  # a step in doubt was done, and can be undone, or was not done
        _plan(board, mine.started, {label for label, _ in mine.remains})


def _ended(board: Board, _event: e.Ended) -> None:
    mine = board[Rollback]
    if mine.started is not None:
        mine.remains = [*unknown(board), *mine.remains]


def leaves(board: Board) -> bool:
    """Whether a rollback around this run must undo or name anything in it."""
    return board[WorkDone].has_anything or bool(board[Rollback].remains) or bool(unknown(board))


def undo_next(board: Board, _policy: object) -> Choice | None:
    """Once a rollback has started, undo one thing at a time. An undo with a gate waits for a person."""
    mine = board[Rollback]
    if mine.started is None:
        return None
    if board.in_flight:
        return WAIT
    if not mine.left:
        remains = [*unknown(board), *mine.remains]
        status: e.Status = "partly rolled back" if mine.partly or unknown(board) else "rolled back"
        return e.Ended(board.now, status, _summary(mine, remains, mine.started.reason))
    undo = mine.left[-1]
    if doubts := doubts_behind(board, undo, mine.before):
        return _spare(board, undo, doubts)
    if undo.call is not None and undo.call.gate and not mine.allowed:
        return e.Paused(board.now, _question(board, undo, undo.call))
    return UndoStarted(board.now, undo.label, undo.call, undo.inside)


def _spare(board: Board, undo: Undo, doubts: list[str]) -> Choice:
    """Ask whether a step that depends on this undo's step was done, or leave the undo if nobody can say."""
    askable = steps_in_doubt(board).keys() - board[Rollback].left_alone
    for step_id in doubts:
        # a person was asked about an interrupted step anyway
        if step_id in askable and (board.has_reviewer or board.state[step_id] == "in doubt"):
            return e.Paused(board.now, question_about(board, step_id, IN_ROLLBACK))
    return UndoLeft(board.now, undo.label, f"step {doubts[0]}, which depends on it, is in doubt")


IN_ROLLBACK = {
    "done": "The step counts as done, and is undone first if it has an undo.",
    "not done": "The rollback continues with what the step depends on.",
    "reject": "What the step depends on is not undone.",
}


def _question(board: Board, undo: Undo, call: Call) -> Question:
    params = dict(call.params)
    with suppress(references.MissingResultError):
        params = references.resolve(
            call.params, board[WorkDone].results_at(undo.number, call.params)
        )
    verdicts = {
        "approve": "Exactly this call is made.",
        "reject": "This call is not made, and the rollback continues.",
    }
    return Question("undo", verdicts, "", undo.label, call=ExactCall(call.tool, params))


@only_if(lambda policy, _started: policy.rollback != "never")
def roll_back_first(board: Board, policy: Settings, event: e.Ended, _executor: Any) -> Choice:
    """Guard: a run that ends without success first undoes what it did, if the policy wants that."""
    if event.status == "finished":
        return event
    wanted = event.status == "failed" or policy.rollback == "unfinished"
    if not wanted or board[Rollback].started or not board[WorkDone].has_anything:
        return event
    return RollbackStarted(board.now, event.reason)


def _summary(mine: Rollback, remains: list[tuple[str, str]], reason: str) -> str:
    by_reason: dict[str, list[str]] = {}
    for label, why in remains:
        by_reason.setdefault(why, []).append(label)
    words = [reason]
    words += [f"undone: {', '.join(mine.undone_steps)}"] if mine.undone_steps else []
    words += [f"called: {', '.join(mine.called)}"] if mine.called else []
    words += ["nothing was undone"] if not mine.undone else []
    words += [f"not undone: {', '.join(labels)} ({why})" for why, labels in by_reason.items()]
    return "; ".join(words)


CAPABILITY = Capability(
    Rollback,
    checks={
        RollbackStarted: _check_begin,
        **dict.fromkeys((UndoStarted, UndoLeft, UndoDone, UndoFailed, UndoPaused), _check_undo),
    },
    folds={
        RollbackStarted: _begin,
        UndoStarted: _start,
        UndoDone: _done,
        UndoFailed: _failed,
        UndoLeft: _left,
        UndoPaused: _planned_again,
        e.Requeued: _planned_again,
        e.Reviewed: _reviewed,
        e.Ended: _ended,
    },
    check_settings=check,
)
