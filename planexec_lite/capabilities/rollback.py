"""Rollback (lesson 09): what a run has done is undone, one undo at a time, the latest first.

An undo is planned, starts, and is then done, failed, in doubt or paused. A failed undo does not stop the rollback: the run
names what remains. If it is unknown whether a step was done, the steps that it depends on are not undone before a person
has said so; without a person, they are left. `capabilities.undo` says what can be undone, and in which order.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from planexec_lite.capabilities.doubt import question_about
from planexec_lite.capabilities.stepping import ToolExecutor, agent_inside, perform, too_long
from planexec_lite.capabilities.undo import (
    LISTED,
    UNSURE,
    Undo,
    WorkDone,
    steps_in_doubt,
    undos,
)
from planexec_lite.core import (
    WAIT,
    Board,
    Capability,
    Choice,
    Part,
    Task,
    Work,
)
from planexec_lite.core.events import (
    Ended,
    Event,
    Job,
    Outcome,
    Paused,
    Reviewed,
)
from planexec_lite.core.questions import ExactCall, Question
from planexec_lite.core.tasks import Finished, TimedOut
from planexec_lite.frozen import frozen
from planexec_lite.meter import ModelCall
from planexec_lite.plan import Call, Step
from planexec_lite.plan.graph import all_before
from planexec_lite.tools import digest_of, references


@dataclass(frozen=True)
class Settings:
    """When a run undoes what it has done. See `Policy`."""

    rollback: Literal["never", "failed", "unfinished"] = "never"


@frozen
class RollbackStarted(Event):
    """The rollback begins, for this `reason`. From here on no step starts.

    Step `to` and everything that was done before it stays done; None: everything is undone. In a nested run, `made` has the
    undo calls that the rollbacks of earlier attempts of the step have made.
    """

    reason: str
    to: str | None = None
    made: tuple[str, ...] = ()


@frozen
class UndoStarted(Job):
    """`call` is made to undo a step's effect. Without a call, nested run number `inside` of the step is rolled back.

    `step` is the step, or names a call of the plan's rollback, as in "rollback 1".
    """

    step: str
    call: Call | None = None
    inside: int = 0


@frozen
class UndoDone(Outcome):
    """The undo gave a result (data: what JSON can hold), after `seconds` of work.

    The rollback of a nested run gives the labels `undone`, what `remains` and why, the calls that were `made`, and whether it
    was undone only `partly`.
    """

    step: str
    result: Any
    seconds: float = 0.0
    calls: tuple[ModelCall, ...] = ()


@frozen
class UndoFailed(Outcome):
    """The undo raised an error, or took longer than the timeout of its step. In doubt: it is unknown how much of it was done."""

    step: str
    error: str
    seconds: float = 0.0
    calls: tuple[ModelCall, ...] = ()
    in_doubt: bool = False


@frozen
class UndoPaused(Outcome):
    """The rollback of the nested run asks a `question`, whose path begins with this step. It continues after the decision."""

    step: str
    question: Question
    seconds: float = 0.0
    calls: tuple[ModelCall, ...] = ()


@frozen
class UndoLeft(Event):
    """The undo is not made, for this `reason`: a step that depends on its step is in doubt."""

    step: str
    reason: str


class Rollback(Part):
    """How far the rollback is.

    Attributes:
        started: the event that began it; `again`: the run had ended before.
        left: the undos that are not done, the next or running one last.
        allowed: the undo that a person has allowed. `left_alone`: the steps in doubt about which a person said nothing.
        undone: the labels of what was undone.
        remains: the labels of what was not undone and why, and whether it has an undo. See `not_undone`.
        half: the steps whose nested run was rolled back only partly.
        _before: by step in doubt, the ids of the steps that it depends on; a cache.
    """

    started: RollbackStarted | None = None
    again: bool = False
    left: list[Undo] = []
    allowed: Undo | None = None
    left_alone: set[str] = set()
    undone: list[str] = []
    remains: dict[tuple[str, str], bool] = {}
    half: list[str] = []
    _before: dict[str, set[str]] = {}

    @property
    def undone_steps(self) -> list[str]:
        """The labels of the steps that were undone, in that order."""
        return [label for label in self.undone if LISTED not in label]

    @property
    def called(self) -> list[str]:
        """The calls of a plan's rollback that were made, in that order."""
        return [label for label in self.undone if LISTED in label]

    def give_up(self, why: str) -> None:
        """Leave the next undo, and note why."""
        self.remains[self.left.pop().label, why] = True


def _check_begin(board: Board, event: RollbackStarted) -> None:
    if board.in_flight:
        board.refuse("be rolled back", None, "work is in flight")
    results = board[WorkDone].latest
    if event.to is not None and event.to not in results:
        known = ", ".join(results) or "none"
        board.refuse("stay", event.to, f"it has no result; these have: {known}")


def _check_undo(board: Board, event: Any) -> None:
    due = [undo.label for undo in board[Rollback].left[-1:]]
    ends = isinstance(event, Outcome)
    if [event.step] != due or ends != (event.step in board.in_flight):
        board.refuse("be undone", event.step, "its undo is not due")


def _begin(board: Board, event: RollbackStarted) -> None:
    mine = board[Rollback]
    vars(mine).update(vars(Rollback()))
    mine.started, mine.again = event, board.ended is not None
    _plan(board, event)
    board.ended = board.paused = None


def _plan(board: Board, event: RollbackStarted) -> None:
    """Plan all undos that are left, the next one last, without those that failed or were rejected."""
    mine = board[Rollback]
    not_again = {label for label, _ in mine.remains}
    mine.left = []
    for undo in undos(board, event.to, event.made):
        if undo.why_not:
            mine.remains[undo.label, undo.why_not] = False
        elif undo.label not in not_again:
            mine.left.append(undo)
    mine.left.reverse()


def _done(board: Board, event: UndoDone) -> None:
    mine, work = board[Rollback], board[WorkDone]
    undo, inside = mine.left.pop(), event.result
    label = undo.label
    if undo.call is not None:
        mine.undone.append(label)
    else:
        mine.undone += [f"{label}/{one}" for one in inside["undone"]]
        remains = [(f"{label}/{one}".removesuffix("/"), why) for one, why in inside["remains"]]
        mine.remains |= dict.fromkeys(remains, False)
        work.made_inside[label] += inside["made"]
        if inside["partly"]:
            mine.half.append(label)
        if remains:
            return
    work.take_back(undo)
    # a step is undone, unless it has another result since then
    if label in board.results and work.latest[label] == undo.piece:
        board.take_back(label)


def _failed(board: Board, event: UndoFailed) -> None:
    mine, work = board[Rollback], board[WorkDone]
    undo = mine.left[-1]
    mine.give_up(event.error)
    if event.in_doubt and not undo.is_repeatable:
        work.unsure.append(undo.label)
        work.take_back(undo)


def _reviewed(board: Board, event: Reviewed) -> None:
    mine, question = board[Rollback], board.asked
    if mine.started is None or question.path:
        return
    if event.verdict == "approve":
        mine.allowed = mine.left[-1]
    elif event.verdict == "reject" and question.kind == "doubt":
        mine.left_alone.add(question.step or "")
    elif event.verdict == "reject":
        mine.give_up(f"{event.by} rejected it" + (f": {event.comment}" if event.comment else ""))
    else:  # a step in doubt was done, and can be undone, or was not done
        _plan(board, mine.started)


def not_undone(board: Board) -> dict[tuple[str, str], bool]:
    """Return the labels of what was not undone and why, and whether it has an undo, or might have been done or undone."""
    unsure = [(label, UNSURE) for label in board[WorkDone].unsure]
    in_doubt = [*steps_in_doubt(board).items(), *unsure]
    return dict.fromkeys(in_doubt, True) | board[Rollback].remains


def leaves(board: Board) -> bool:
    """Whether a rollback around this run must undo or name anything in it."""
    return bool(board[WorkDone].left or not_undone(board))


def undo_next(board: Board, _policy: object) -> Choice | None:
    """Once a rollback has started, undo one thing at a time. An undo with a gate waits for a person."""
    mine = board[Rollback]
    if mine.started is None:
        return None
    if board.in_flight:
        return WAIT
    if not mine.left:
        partly = mine.half or any(not_undone(board).values())
        return Ended(
            board.now,
            "partly rolled back" if partly else "rolled back",
            f"{mine.started.reason}; {_summary(board)}",
        )
    undo = mine.left[-1]
    label, call = undo.label, undo.call
    if (choice := _spare(board, label)) is not None:
        return choice
    if call is None:
        return UndoStarted(board.now, label, inside=undo.piece.inside)
    if call.gate and mine.allowed != undo:
        exact = ExactCall(call.tool, references.resolved(call.params, undo.piece.results))
        return Paused(board.now, Question("undo", GATE, "", label, call=exact))
    return UndoStarted(board.now, label, call)


GATE = {
    "approve": "Exactly this call is made.",
    "reject": "This call is not made, and the rollback continues.",
}
IN_ROLLBACK = {
    "done": "The step counts as done, and is undone first if it has an undo.",
    "not done": "The rollback continues with what the step depends on.",
    "reject": "What the step depends on is not undone.",
}


def _spare(board: Board, label: str) -> Choice | None:
    """Don't undo what a step in doubt depends on: ask whether that step was done, or leave the undo if nobody can say.

    Indirect dependencies count. A call of the plan's rollback can undo anything, so every doubt counts. A step that might
    have been undone, or was undone only partly, counts as in doubt.
    """
    mine, in_doubt = board[Rollback], steps_in_doubt(board)
    doubts = [
        one
        for one in dict.fromkeys([*in_doubt, *board[WorkDone].unsure, *mine.half])
        if one != label and one in board.steps
        if label.startswith(LISTED) or label in _all_before(board, one)
    ]
    for step_id in doubts:
        # a person was asked about an interrupted step anyway
        can_ask = board.has_reviewer or board.state[step_id] == "in doubt"
        if can_ask and step_id in in_doubt and step_id not in mine.left_alone:
            return Paused(board.now, question_about(board, step_id, IN_ROLLBACK))
    if doubts:
        reason = f"step {doubts[0]}, which depends on it, is in doubt"
        return UndoLeft(board.now, label, reason)
    return None


def _all_before(board: Board, step_id: str) -> set[str]:
    """Return the ids of the steps that a step depends on, directly or indirectly."""
    known = board[Rollback]._before
    if step_id not in known:
        graph = {one: step.depends_on for one, step in board.steps.items()}
        known[step_id] = all_before(graph, step_id)
    return known[step_id]


def roll_back_first(board: Board, policy: Settings, event: Ended, _executor: Any) -> Choice:
    """Guard: a run that ends without success first undoes what it did, if the policy wants that."""
    if policy.rollback == "never" or event.status == "finished":
        return event
    ended_badly = policy.rollback == "unfinished" or event.status == "failed"
    if ended_badly and not board[Rollback].started and board[WorkDone].left:
        return RollbackStarted(board.now, event.reason)
    return event


def _summary(board: Board) -> str:
    mine, by_reason = board[Rollback], dict[str, list[str]]()
    for label, why in not_undone(board):
        by_reason.setdefault(why, []).append(label)
    made = {"undone": mine.undone_steps, "called": mine.called}
    words = [f"{what}: {', '.join(labels)}" for what, labels in made.items() if labels]
    left = [f"not undone: {', '.join(labels)} ({why})" for why, labels in by_reason.items()]
    return "; ".join([*(words or ["nothing was undone"]), *left])


# How an undo is carried out


def _task(agent: Any, run: Any, job: UndoStarted) -> Task:
    """Return the task that undoes the step: a tool call with the timeout of that step, or the rollback of its nested
    run.
    """
    board, call = run.board, job.call
    undo = board[Rollback].left[-1]
    if call is None:
        inside = agent_inside(agent.executor, undo.piece.step)
        return Task(job, inside.undo_inside if inside is not None else _no_agent)
    step = Step(id=job.step.replace(" ", "-"), tool=call.tool, params=call.params)
    carry_out = (ToolExecutor(agent.tools), step, undo.piece.results)
    timeout = undo.piece.step.timeout
    return Task(job, perform, carry_out, timeout, repeatable=undo.is_repeatable)


def _no_agent() -> None:
    raise RuntimeError("the agent that carried out this step is no longer available")


def _context(_agent: Any, run: Any, job: UndoStarted) -> dict[str, Any]:
    """Return the idempotency key of an undo that is a call."""
    if job.call is None:
        return {}
    undo = run.board[Rollback].left[-1]
    return {"key": partial(digest_of, run.uid, "undo", undo.piece.number, undo.text)}


def _finished(job: UndoStarted, message: Finished) -> list[Event]:
    report, at, step_id = message.report, message.at, job.step
    usage = (message.seconds, report.calls)
    if report.waits is not None:
        return [UndoPaused(at, step_id, report.waits.question.inside(step_id), *usage)]
    if report.error is None:
        return [UndoDone(at, step_id, report.value, *usage)]
    return [UndoFailed(at, step_id, report.error, *usage, report.once or report.lost)]


def _timed_out(job: UndoStarted, message: TimedOut) -> list[Event]:
    return [UndoFailed(message.at, job.step, too_long(message), message.seconds, in_doubt=True)]


def _interrupted(board: Board, job: UndoStarted) -> UndoFailed | None:
    if board[Rollback].left[-1].is_repeatable:
        return None
    return UndoFailed(board.now, job.step, f"interrupted; {UNSURE}", in_doubt=True)


CAPABILITY = Capability(
    Rollback,
    checks={
        RollbackStarted: _check_begin,
        **dict.fromkeys((UndoStarted, UndoLeft, UndoDone, UndoFailed, UndoPaused), _check_undo),
    },
    folds={
        RollbackStarted: _begin,
        UndoDone: _done,
        UndoFailed: _failed,
        UndoLeft: lambda board, event: board[Rollback].give_up(event.reason),
        Reviewed: _reviewed,
    },
    work={UndoStarted: Work(_task, _finished, _timed_out, None, _interrupted)},
    context={UndoStarted: _context},
)
