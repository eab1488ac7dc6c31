"""Rollback (lesson 09): what was done is undone, the latest first.

A completed step with an undo is undone once. A step that does the same again counts once, with its latest result, if a
repeat does no harm. What a judge said of a result changes nothing in the world, so rejected steps are undone too. A step that
an agent carried out as a run of its own is undone by rolling back that run, unless the step has an undo of its own.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

from planexec_lite import references
from planexec_lite.capabilities.doubt import Doubt, StepLate, resolves
from planexec_lite.core import WAIT, Answer, Board, Capability, Event, IllegalTransition, Job, Outcome, Part
from planexec_lite.core.events import (
    Ended,
    Paused,
    PauseReason,
    PlanProposed,
    Requeued,
    Reviewed,
    StepDone,
    StepFailed,
    StepPaused,
    StepStarted,
    undo_in_words,
)
from planexec_lite.meter import ModelCall
from planexec_lite.plan import Call, Plan, Problem, Step

UNKNOWN = "nobody knows whether it was done"
LISTED = "rollback"  # names a call of the plan's rollback: "rollback 1"; no id of a step has a space


class Settings(Protocol):
    """The settings of this capability."""

    @property
    def rollback(self) -> Literal["never", "failed", "unfinished"]: ...

    @property
    def require_undo(self) -> bool: ...


def check(policy: Settings) -> None:
    """Raise `ValueError` for settings that make no sense."""
    if policy.rollback not in ("never", "failed", "unfinished"):
        raise ValueError(f"rollback={policy.rollback!r}: take back 'never', what has 'failed', or what is 'unfinished'")


@dataclass(frozen=True, slots=True)
class RollbackStarted(Event):
    """From here on no step runs: what was done is undone. `reason` says why.

    `to` names a step that stays as it is, with everything that was done before it; None: everything is undone. `made` are the
    undos that were made elsewhere, after another attempt of the step that this run is inside of.
    """

    reason: str
    to: str | None = None
    made: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UndoStarted(Job):
    """`call` is made, which undoes the effect of a step; or, without a call, run number `inside` in the step is rolled back.

    `step` is the step, or names a call of the plan's rollback, as in "rollback 1".
    """

    step: str
    call: Call | None = None
    inside: int = 0


@dataclass(frozen=True, slots=True)
class UndoDone(Outcome):
    """The undo gave a result (data: what JSON can hold), after `seconds` of work.

    After the rollback of a run inside the step, the result has three lists: the labels `undone`, what `remains` and why, and the
    calls that were `made`.
    """

    step: str
    result: Any
    seconds: float = 0.0
    calls: tuple[ModelCall, ...] = ()


@dataclass(frozen=True, slots=True)
class UndoFailed(Outcome):
    """The undo raised an error, or took longer than the timeout of its step. The rollback goes on.

    In doubt: nobody knows how much of it was done.
    """

    step: str
    error: str
    seconds: float = 0.0
    calls: tuple[ModelCall, ...] = ()
    in_doubt: bool = False


@dataclass(frozen=True, slots=True)
class UndoPaused(Outcome):
    """The rollback of the run inside the step waits for a person; `reason` says why. It goes on after the decision."""

    step: str
    reason: str
    inside: PauseReason
    seconds: float = 0.0
    calls: tuple[ModelCall, ...] = ()


class Completed(NamedTuple):
    """A step that gave a result, as it stood then. `undo` is its own as JSON: the step is an object that others hold too.

    `lasts`: it changed the world; `repeatable`: running it twice does no harm; `inside`: the number of its run, or 0.
    """

    step: Step
    result: object
    undo: str | None
    lasts: bool
    repeatable: bool
    inside: int

    @property
    def matters(self) -> bool:
        """Whether it can be undone, or changed the world and can't."""
        return self.undo is not None or self.lasts


class Undo(NamedTuple):
    """What undoes something: a call, of a completed step by its number, or one of the plan; or the rollback of a run inside."""

    label: str
    call: Call | None = None
    number: int = 0
    inside: int = 0

    @property
    def name(self) -> str:
        """What it is, in words."""
        return undo_in_words(self.label) if self.call else f"what was done inside step {self.label}"


@dataclass
class Rollback(Part):
    """The steps that gave a result, in that order, and what becomes of them in a rollback.

    Attributes:
        count: counts up; it numbers results, and what was last heard of runs inside steps.
        completed: the results by number; `latest` is the number of each step's latest result.
        gone: the numbers of what is undone, or was done again later.
        inside: the runs inside steps that may have left something, by step and their number, and when they were last heard of.
        made_inside: the undos that were made in runs inside a step.
        listed: the rollback of the latest plan that might be carried out, each call as JSON.
        started: the event that began the rollback; `again`: the run had ended before.
        opened: the calls that a person has allowed.
        left: what is still to be undone, the next one last; `calling`: what is being undone.
        waits, decided: the run inside that is rolled back waits for a person; what the person said.
        undone: the labels of what was undone; `made`: the calls that were made, in all rollbacks of the run.
        told: how many attempts of a step failed in doubt, and the run inside has told what is unknown.
        doubted: the steps whose outcome is unknown, and why; `unsure`: the undos whose outcome is unknown.
        remains: the labels of what was not undone, and why.
    """

    count: int = 0
    completed: dict[int, Completed] = field(default_factory=dict)
    latest: dict[str, int] = field(default_factory=dict)
    gone: set[int] = field(default_factory=set)
    inside: dict[tuple[str, int], int] = field(default_factory=dict)
    made_inside: dict[str, list[str]] = field(default_factory=dict)
    listed: tuple[str, ...] = ()
    started: RollbackStarted | None = None
    again: bool = False
    opened: set[str] = field(default_factory=set)
    left: list[Undo] = field(default_factory=list)
    calling: Undo | None = None
    waits: UndoPaused | None = None
    decided: Reviewed | None = None
    undone: list[str] = field(default_factory=list)
    made: list[str] = field(default_factory=list)
    told: Counter[str] = field(default_factory=Counter)
    doubted: dict[str, tuple[Step, str]] = field(default_factory=dict)
    unsure: list[Undo] = field(default_factory=list)
    remains: list[tuple[str, str]] = field(default_factory=list)

    @property
    def listed_calls(self) -> list[Call]:
        """The calls of the plan's rollback."""
        return [Call.model_validate_json(call) for call in self.listed]

    @property
    def undone_steps(self) -> list[str]:
        """The labels of the steps that were undone, in that order."""
        return [label for label in self.undone if LISTED + " " not in label]

    @property
    def called(self) -> list[str]:
        """The calls of a plan's rollback that were made, in that order."""
        return [label for label in self.undone if LISTED + " " in label]

    @property
    def asks(self) -> bool:
        """Whether a person has to be asked before the next undo."""
        if not self.left or (self.waits is None and self.left[-1].call is None):
            return False
        call = self.left[-1].call
        return self.waits is not None or (call is not None and call.gate and self.left[-1].label not in self.opened)

    @property
    def has_anything(self) -> bool:
        """Whether anything was done that can be undone, or that changed the world and can't be."""
        return bool(self.inside) or any(one.matters for n, one in self.completed.items() if n not in self.gone)

    def results_for(self, undo: Undo | None) -> dict[str, object]:
        """The results that a call may refer to, by step id: of its step and of those that were done before."""
        last = undo.number if undo and undo.number else next(reversed(self.completed), 0)
        return {one.step.id: one.result for number, one in self.completed.items() if number <= last}

    def in_full(self, undo: Undo) -> str:
        """The call as its tool receives it: the same for calls that do the same."""
        call = undo.call
        return "" if call is None else _written(call.tool, call.params, self.results_for(undo))

    def did(self, number: int) -> tuple[object, ...]:
        """What a completed step did, and what undoes it: equal for steps that did the same."""
        step = self.completed[number].step
        results = {one.step.id: one.result for n, one in self.completed.items() if n <= number}
        given = {} if step.tool else {step.description: [results.get(id) for id in step.depends_on]}
        return _written(step.tool, {**step.params, **given}, results), self.completed[number].undo

    def line_up(self, to: str | None) -> Iterator[Undo]:
        """Yield what is to be undone, the latest first: of steps, then what the plan lists."""
        settled = self.gone | {undo.number for undo in self.unsure}
        unsure = {(undo.label, undo.inside) for undo in self.unsure}
        skipped = self.started.made if self.started is not None else ()
        items = [(number, one.step.id, 0) for number, one in self.completed.items()]
        items += [(number, id, inside) for (id, inside), number in self.inside.items()]
        for number, id, inside in sorted(items, reverse=True):
            one = self.completed.get(number)
            if id == to and one is not None:
                return
            if inside and (id, inside) not in unsure:
                yield Undo(id, inside=inside)
            elif one is None or number in settled:
                continue
            elif one.undo is not None:
                undo = Undo(id, Call.model_validate_json(one.undo), number)
                if not (one.repeatable and self.in_full(undo) in skipped):
                    yield undo
            elif one.lasts and not one.inside:
                self.remains.append((id, "no undo of its own"))
        if to is None:
            yield from self._of_plan()

    def _of_plan(self) -> Iterator[Undo]:
        something = bool(self.inside) or any(one.matters for one in self.completed.values())
        for place, call in enumerate(self.listed_calls, 1):
            label = f"{LISTED} {place}"
            missing = [one.step for one in references.find(call.params) if one.step not in self.latest]
            if missing:
                self.remains.append((label, f"step {missing[0]} gave no result"))
            elif something:
                yield Undo(label, call)


def _step_started(board: Board, event: StepStarted) -> None:
    if event.inside and board.effects_of(board.steps[event.step]) != "none":
        mine = board[Rollback]
        mine.count += 1
        mine.inside[event.step, event.inside] = mine.count


def _heard_of(board: Board, id: str, leaves: bool) -> int:
    """Note when the run inside a step was last heard of, and return its number; 0 if there is none, or it has left nothing."""
    mine = board[Rollback]
    number = max((number for step, number in mine.inside if step == id), default=0) if mine.inside else 0
    if number and not leaves:
        del mine.inside[id, number]
    elif number:
        mine.count += 1
        mine.inside[id, number] = mine.count
    return number


def _step_done(board: Board, event: StepDone | Reviewed) -> None:
    """A step gave a result: it can be undone from now on."""
    mine, id = board[Rollback], event.step or ""
    step, inside = board.steps[id], _heard_of(board, id, event.leaves) if isinstance(event, StepDone) else 0
    if id in mine.doubted and mine.doubted[id][0] == step:
        del mine.doubted[id]
    undo = None if step.undo is None else step.undo.model_dump_json()
    if undo is not None and inside:  # the step's own undo stands for everything that was done inside
        mine.inside = {key: at for key, at in mine.inside.items() if key[0] != id}
    before = mine.latest.get(id)
    mine.count += 1
    number = mine.latest[id] = mine.count
    lasts = event.leaves if inside and isinstance(event, StepDone) else board.effects_of(step) != "none"
    mine.completed[number] = Completed(step, event.result, undo, lasts, board.repeatable(step), inside)
    if before is not None and mine.completed[number].repeatable and mine.did(before) == mine.did(number):
        mine.gone.add(before)


def _doubt(board: Board, id: str, why: str) -> None:
    """A step may have been done, or was, and has no result that counts."""
    board[Rollback].doubted[id] = (board.steps[id], why)


def _step_paused(board: Board, event: StepPaused) -> None:
    _heard_of(board, event.step, event.leaves)
    if event.made:
        _doubt(board, event.step, f"it made {', '.join(one.text for one in event.made)} before it paused")


def _step_failed(board: Board, event: StepFailed) -> None:
    if _heard_of(board, event.step, event.leaves) and event.in_doubt:
        board[Rollback].told[event.step] += 1


def _step_late(board: Board, event: StepLate) -> None:
    mine = board[Rollback]
    known = event.step in mine.latest or any(id == event.step for id, _ in mine.inside)
    if event.error is None and not known:
        _doubt(board, event.step, "it was done after it had been given up")


def _requeued(board: Board, event: Requeued) -> None:
    mine = board[Rollback]
    if mine.calling is not None:
        mine.left.append(mine.calling)
        mine.calling = None
        return
    ran = event.reason == "interrupted" and board.state.get(event.step or "") in ("waiting", "failed")
    if ran and not _heard_of(board, event.step or "", leaves=True):
        _doubt(board, event.step or "", "interrupted; nobody knows whether it was done")


def _plan_listed(board: Board, event: PlanProposed) -> None:
    if event.plan is not None and not event.problems and (not board.has_reviewer or event.granted_by):
        list_calls(board)


def list_calls(board: Board) -> None:
    """The rollback of the plan counts from now on: the plan may be carried out. Of a rejected plan it never counts."""
    if board.proposal is not None:
        board[Rollback].listed = tuple(call.model_dump_json() for call in board.proposal.rollback)


def _check_begin(board: Board, event: RollbackStarted) -> None:
    if board.in_flight:
        raise IllegalTransition("be rolled back", None, None, "work is in flight")
    if event.to is not None and event.to not in board[Rollback].latest:
        raise IllegalTransition("stay", event.to, None, "it gave no result")


def _begin(board: Board, event: RollbackStarted) -> None:
    mine = board[Rollback]
    mine.started, mine.calling, mine.undone, mine.opened = event, None, [], set()
    mine.again = board.ended is not None
    mine.remains = [*unknown(board)]
    made = [*mine.made, *event.made, *map(mine.in_full, mine.unsure)]
    line: list[Undo] = []
    for undo in mine.line_up(event.to):
        call = mine.in_full(undo)
        if undo.number or not call or call not in made:
            made.append(call)
            line.append(undo)
    mine.left = line[::-1]
    board.ended = board.paused = None


def leaves(board: Board) -> bool:
    """Whether a rollback of the run around this one has anything to undo or to name here."""
    mine = board[Rollback]
    return mine.has_anything or bool(mine.remains) or any(True for _ in unknown(board))


def unknown(board: Board) -> Iterator[tuple[str, str]]:
    """Yield the labels of what may have been done or undone, and nobody knows it, and why."""
    mine = board[Rollback]
    inside = {id for id, _ in mine.inside}
    attempts = board[Doubt].attempts
    doubts = {id: (board.steps[id], UNKNOWN) for id, count in attempts.items() if count > mine.told[id]}
    for id, (step, why) in (doubts | mine.doubted).items():
        if id not in inside and (step.undo is not None or board.effects_of(step) != "none"):
            yield id, why
    for undo in mine.unsure:
        yield undo.label, "nobody knows whether it was undone"


def _check_undo(board: Board, event: UndoStarted) -> None:
    left = board[Rollback].left
    if not left or left[-1].label != event.step:
        state = board.state.get(event.step)
        raise IllegalTransition("be undone", event.step, state, "it is not what is to be undone next" if state else "")


def _undo_started(board: Board, event: UndoStarted) -> None:
    board[Rollback].calling = board[Rollback].left.pop()


def _check_called(board: Board, event: UndoDone | UndoFailed | UndoPaused) -> None:
    calling = board[Rollback].calling
    if calling is None or calling.label != event.step:
        state = board.state.get(event.step)
        raise IllegalTransition("come to this end", event.step, state, "it is not being undone" if state else "")


def _called(board: Board) -> Undo:
    mine = board[Rollback]
    undo, mine.calling = mine.calling, None
    assert undo is not None
    mine.opened.discard(undo.label)  # another step may have had the id: the yes was about this call
    mine.waits = mine.decided = None
    return undo


def _undo_done(board: Board, event: UndoDone) -> None:
    mine, undo = board[Rollback], _called(board)
    if undo.inside:
        if not event.result["remains"]:
            del mine.inside[undo.label, undo.inside]
        mine.made_inside[undo.label] = [*mine.made_inside.get(undo.label, ()), *event.result["made"]]
        mine.undone += [f"{undo.label}/{label}" for label in event.result["undone"]]
        remains = [(f"{undo.label}/{label}" if label else undo.label, why) for label, why in event.result["remains"]]
        mine.remains += [one for one in dict.fromkeys(remains) if one not in mine.remains]
        number = mine.latest.get(undo.label, 0)
        stands = event.result["remains"] or not number or mine.completed[number].inside != undo.inside
        step = None if stands else mine.completed[number].step
    else:
        mine.undone.append(undo.label)
        mine.made.append(mine.in_full(undo))
        mine.gone.add(undo.number)
        step = mine.completed[undo.number].step if undo.number else None
    if step is not None and board.state[step.id] == "done" and board.steps[step.id] == step:
        board.state[step.id] = "undone"
        del board.results[step.id]


def _undo_failed(board: Board, event: UndoFailed) -> None:
    mine, undo = board[Rollback], _called(board)
    mine.remains.append((undo.label, event.error))
    if event.in_doubt and not _repeatable(board, undo):
        mine.unsure.append(undo)


def _undo_paused(board: Board, event: UndoPaused) -> None:
    mine = board[Rollback]
    mine.left.append(_called(board))
    mine.waits = event


def _repeatable(board: Board, undo: Undo) -> bool:
    if undo.call is None:
        return board.repeatable(board.steps[undo.label])
    return board.started.effects.get(undo.call.tool, "none") in ("none", "idempotent")


def _check_decision(board: Board, event: Reviewed) -> None:
    mine = board[Rollback]
    if mine.started is not None and (not mine.asks or f"undo {mine.left[-1].label}" != event.step):
        raise IllegalTransition(
            "be decided about", event.step, board.state.get(event.step or ""), "it is not what is to be undone next"
        )


def _reviewed(board: Board, event: Reviewed) -> None:
    mine = board[Rollback]
    if mine.started is None:
        if event.verdict == "done" and resolves(board, event):
            _step_done(board, event)
    elif mine.waits is not None:
        mine.waits, mine.decided = None, event
    elif event.verdict == "approve":
        mine.opened.add(mine.left[-1].label)
    else:
        why_not = f"{event.by} rejected it" + (f": {event.comment}" if event.comment else "")
        mine.remains.append((mine.left.pop().label, why_not))


CAPABILITY = Capability(
    Rollback,
    checks={
        RollbackStarted: _check_begin,
        UndoStarted: _check_undo,
        UndoDone: _check_called,
        UndoFailed: _check_called,
        UndoPaused: _check_called,
        Reviewed: _check_decision,
    },
    folds={
        StepStarted: _step_started,
        StepDone: _step_done,
        StepFailed: _step_failed,
        StepPaused: _step_paused,
        StepLate: _step_late,
        Requeued: _requeued,
        PlanProposed: _plan_listed,
        RollbackStarted: _begin,
        UndoStarted: _undo_started,
        UndoDone: _undo_done,
        UndoFailed: _undo_failed,
        UndoPaused: _undo_paused,
        Reviewed: _reviewed,
    },
)


def undo_next(board: Board, policy: object) -> Answer | None:
    """Once a rollback has started, undo one thing at a time. A failed undo does not stop the rollback."""
    mine = board[Rollback]
    if mine.started is None:
        return None
    if board.in_flight:
        return WAIT
    if not mine.left:
        return Ended(board.now, "rolled back", _summary(mine))
    undo = mine.left[-1]
    if not mine.asks:
        return UndoStarted(board.now, undo.label, undo.call, undo.inside)
    why, inside = (mine.waits.reason, mine.waits.inside) if mine.waits else ("", None)
    return Paused(board.now, "undo", undo.label, why=why, inside=inside)


def roll_back_first(board: Board, policy: Settings, event: Event, executor: Any) -> Answer:
    """Guard: a run that ends without success first undoes what it did, if the policy wants that."""
    if not isinstance(event, Ended) or board[Rollback].started or not board[Rollback].has_anything:
        return event
    wanted = event.status == "failed" or policy.rollback == "unfinished"
    if event.status == "finished" or policy.rollback == "never" or not wanted:
        return event
    return RollbackStarted(board.now, event.reason)


def undo_is_dropped(plan: Plan, board: Board, policy: Settings, executor: Any) -> Iterator[Problem]:
    """Plan check: a later plan keeps the calls of the rollback that undo done steps (`Policy.require_undo`)."""
    if not policy.require_undo:
        return
    before, now = (
        {named.step for named in references.find([call.params for call in calls])}
        for calls in (board[Rollback].listed_calls, plan.rollback)
    )
    for id in board.results:
        if id in before - now and board.steps[id].undo is None:
            hint = f"keep the call in rollback that uses {{step_{id}_result}}"
            yield Problem("no_undo", id, "it is done, and the plan drops the call that takes it back", hint)


def _summary(mine: Rollback) -> str:
    by_reason: dict[str, list[str]] = {}
    for label, why in mine.remains:
        by_reason.setdefault(why, []).append(label)
    words = [mine.started.reason] if mine.started else []
    words += [f"undone: {', '.join(mine.undone_steps)}"] if mine.undone_steps else []
    words += [f"called: {', '.join(mine.called)}"] if mine.called else []
    words += ["nothing was undone"] if not mine.undone else []
    words += [f"not undone: {', '.join(labels)} ({why})" for why, labels in by_reason.items()]
    return "; ".join(words)


def _written(tool: str | None, params: Mapping[str, object], results: Mapping[str, object]) -> str:
    """A call as its tool receives it, or, if it can't be made, as it was written."""
    with suppress(references.MissingResultError):
        params = references.resolve(params, results)
    return json.dumps([tool, params], sort_keys=True, default=repr)
