"""Undo (lesson 09): what a run has done, how each piece of it is undone, and in which order.

A completed step with an undo is undone once. If a step is repeated and a repeat does no harm, only its latest result is undone.
A verdict changes nothing in the world, so rejected results are undone too. A step that an agent carried out as a nested run is
undone by rolling back that run, unless the step itself has an undo.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from planexec_lite.capabilities.doubt import UNKNOWN, Doubt, StepLate, resolves
from planexec_lite.core import Board, Capability, Part
from planexec_lite.core.events import (
    Requeued,
    Reviewed,
    StepDone,
    StepFailed,
    StepPaused,
    StepStarted,
)
from planexec_lite.plan import Call, Plan, Problem, Step
from planexec_lite.tools import REPEATABLE, Effects, references, text_of

LISTED = "rollback "  # names a call of the plan's rollback: "rollback 1"; the id of a step never contains a space
UNSURE = "it is unknown whether it was undone"


class Piece(NamedTuple):
    """A piece of work: a result of a step, or its nested run.

    Args:
        number: its place in the order of the work; 0 for a call of the plan's rollback, which belongs to no piece.
        step: the step as it was then.
        effects: its effects; "none" for a nested run that has left nothing.
        inside: the number of the nested run, or 0.
        undo: the call that undoes it as JSON, because other objects share the step and might change it; None if there is none.
        results: the result of the step, and the results that the undo can refer to, as they were then; empty if it gave none.
    """

    number: int
    step: Step
    effects: Effects
    inside: int = 0
    undo: str | None = None
    results: Mapping[str, object] = {}

    @property
    def call(self) -> Call | None:
        """The call that undoes it."""
        return None if self.undo is None else Call.model_validate_json(self.undo)


class Undo(NamedTuple):
    """How a piece of work is undone: by a `call`, or, without one, by rolling back its nested run.

    `label` is the id of the step, or names a call of the plan's rollback, as in "rollback 1". `text` is equal for calls that do
    the same. `is_repeatable`: the undo, or the step whose nested run is rolled back, does no harm if it is done twice.
    `why_not`: why the piece can't be undone; "" if it can.
    """

    label: str
    piece: Piece
    is_repeatable: bool
    call: Call | None = None
    text: str = ""
    why_not: str = ""


class WorkDone(Part):
    """What the run has done, and which part of it is undone.

    Attributes:
        pieces: the pieces of work by number, in order. None: a rollback has nothing to undo or to list, because nothing was left,
            it is undone, or might be undone, or a repeat has replaced it.
        latest: the latest result of each step, undone or not.
        nested: the nested run of each step whose latest attempt was one.
        explained: how many failures in doubt of a step its nested run has reported.
        doubted: the steps that might have been done, without a result that counts, and why.
        listed: the rollback of the latest plan that can be carried out, each call as JSON.
        made: the undo calls that were made or might have been, in all rollbacks of the run.
        made_inside: by step, those in the rollbacks of its nested runs.
        unsure: the labels of the undos whose outcome is unknown.
    """

    pieces: dict[int, Piece | None] = {}
    latest: dict[str, Piece] = {}
    nested: dict[str, Piece] = {}
    explained: Counter[str] = Counter()
    doubted: dict[str, str] = {}
    listed: tuple[str, ...] = ()
    made: list[str] = []
    made_inside: defaultdict[str, list[str]] = defaultdict(list)
    unsure: list[str] = []

    @property
    def listed_calls(self) -> list[Call]:
        """The calls of the plan's rollback."""
        return [Call.model_validate_json(call) for call in self.listed]

    @property
    def left(self) -> bool:
        """Whether a rollback must undo or list anything."""
        return any(self.pieces.values())

    @property
    def next_number(self) -> int:
        """The number of the next piece of work."""
        return next(reversed(self.pieces), 0) + 1

    def add(self, piece: Piece) -> Piece:
        """Add a piece of work, or replace the one with its number, and return it."""
        is_left = piece.undo is not None or piece.effects != "none"
        self.pieces[piece.number] = piece if is_left else None
        return piece

    def take_back(self, undo: Undo) -> None:
        """An undo was made, or might have been made."""
        if undo.piece.number:
            self.pieces[undo.piece.number] = None
        if undo.call is not None:
            self.made.append(undo.text)


def _did(piece: Piece) -> str:
    """Return the call of a step's result and its undo, as a text that is equal for steps that did the same."""
    step, results = piece.step, piece.results
    inputs = [results.get(step_id) for step_id in step.depends_on] if step.tool is None else []
    params = references.resolved(step.params, results)
    return text_of([step.tool or step.description, params, inputs, piece.undo])


def _undo_of(board: Board, label: str, piece: Piece) -> Undo:
    call = piece.call
    if call is None:
        why_not = "" if piece.inside else "no undo of its own"
        return Undo(label, piece, board.repeatable(piece.step), why_not=why_not)
    effects = board.started.effects.get(call.tool, "none")
    params = references.resolved(call.params, piece.results)
    return Undo(label, piece, effects in REPEATABLE, call, text_of([call.tool, params]))


def undos(board: Board, to: str | None, made_before: tuple[str, ...]) -> Iterator[Undo]:
    """Yield what is undone, the latest first: results and nested runs, then the plan's rollback. Each call is yielded once.

    Step `to`, and everything that was done before it, stays done. What can't be undone is yielded with the reason.
    `made_before` has the undo calls that the rollbacks of earlier attempts have made.
    """
    mine = board[WorkDone]
    made = {*mine.made, *made_before}
    stays = 0 if to is None else mine.latest[to].number
    for number, piece in reversed(mine.pieces.items()):
        if number <= stays:
            return
        if piece is None:
            continue
        undo = _undo_of(board, piece.step.id, piece)
        if undo.text not in made_before or piece.effects not in REPEATABLE:
            made.add(undo.text)
            yield undo
    if not (mine.left or mine.made or any(mine.made_inside.values())):
        return
    for place, call in enumerate(mine.listed_calls, 1):
        named = [reference.step for reference in references.find(call.params)]
        missing = [step_id for step_id in named if step_id not in mine.latest]
        results = {one: mine.latest[one].results[one] for one in named if one not in missing}
        step, listed = Step(id=f"rollback-{place}"), mine.listed[place - 1]
        undo = _undo_of(board, f"{LISTED}{place}", Piece(0, step, "none", 0, listed, results))
        if missing:
            yield undo._replace(why_not=f"step {missing[0]} gave no result")
        elif undo.text not in made:
            made.add(undo.text)
            yield undo


def steps_in_doubt(board: Board) -> dict[str, str]:
    """Return why steps might have been done, by id: those that might have changed something."""
    mine, left = board[WorkDone], {}
    doubts = dict.fromkeys(board[Doubt].attempts - mine.explained, UNKNOWN)
    for step_id, why in (doubts | mine.doubted).items():
        nested = mine.nested.get(step_id)
        if nested and mine.pieces[nested.number]:
            continue  # the rollback of the nested run says what became of it
        if board.steps[step_id].undo is not None or board.effects[step_id] != "none":
            left[step_id] = why
    return left


def keeps_doubts(plan: Plan, board: Board, *_others: object) -> Iterator[Problem]:
    """Plan check: the id of a step that might have been done, or is still at work, names no other step.

    Otherwise a late result, or what a person says, would count for the other step.
    """
    doubts, doubt = steps_in_doubt(board), board[Doubt]
    unclear = {*board[WorkDone].doubted, *+doubt.attempts, *+doubt.overdue}
    for step in plan.steps:
        matters = step.id in doubts or board.effects_of(step) != "none"
        if step.id in unclear and matters and step != board.steps[step.id]:
            hint = f"give new work a new id, such as '{step.id}b'"
            yield Problem("id_in_doubt", step.id, f"step {step.id} might have been done", hint)


def list_calls(board: Board) -> None:
    """The rollback of the plan counts from now on, because the plan can be carried out. That of a rejected plan never counts."""
    if board.proposal is not None:
        board[WorkDone].listed = tuple(call.model_dump_json() for call in board.proposal.rollback)


def _step_started(board: Board, event: StepStarted) -> None:
    mine, step, effects = board[WorkDone], board.steps[event.step], board.effects[event.step]
    before = mine.nested.pop(step.id, None)
    if event.inside and effects != "none":
        if before and before.inside == event.inside:
            del mine.pieces[before.number]  # the same nested run continues
        mine.nested[step.id] = mine.add(Piece(mine.next_number, step, effects, event.inside))


def _report(board: Board, step_id: str, *, leaves: bool) -> Piece | None:
    """The nested run of a step has reported: it moves to the end, and is returned. None: the step has no nested run."""
    mine = board[WorkDone]
    piece = mine.nested.get(step_id)
    if piece is not None:
        del mine.pieces[piece.number]
        effects = board.effects[step_id] if leaves else "none"
        piece = mine.add(piece._replace(number=mine.next_number, effects=effects))
        mine.nested[step_id] = piece
    return piece


def _step_done(board: Board, event: StepDone) -> None:
    _complete(board, event.step, event.result, _report(board, event.step, leaves=event.leaves))


def _complete(board: Board, step_id: str, result: object, reported: Piece | None) -> None:
    """A step gave a result: from now on it can be undone. It belongs to the nested run that has `reported` it, if any."""
    mine, step, effects = board[WorkDone], board.steps[step_id], board.effects[step_id]
    mine.doubted.pop(step_id, None)
    undo, results = None, {step_id: result}
    if step.undo is not None:
        undo = step.undo.model_dump_json()
        results |= {one: board.results[one] for one in step.depends_on if one in board.results}
    before = mine.latest.get(step_id)
    if reported is None:
        piece = Piece(mine.next_number, step, effects, 0, undo, results)
    else:
        piece = reported._replace(undo=undo, results=results)
    mine.latest[step_id] = mine.add(piece)
    if undo is None:
        return
    if step_id in mine.nested:
        for number, one in mine.pieces.items():  # it undoes everything that its nested runs did
            if one and one.inside and one.undo is None and one.step.id == step_id:
                mine.pieces[number] = None
    if before and effects in REPEATABLE and _did(before) == _did(piece):
        mine.pieces[before.number] = None


def _step_paused(board: Board, event: StepPaused) -> None:
    _report(board, event.step, leaves=event.leaves)
    if event.made:
        calls = ", ".join(one.text for one in event.made)
        board[WorkDone].doubted[event.step] = f"it made {calls} before it paused"


def _step_failed(board: Board, event: StepFailed) -> None:
    reported = _report(board, event.step, leaves=event.leaves)
    if reported and event.in_doubt:
        board[WorkDone].explained[event.step] += 1


def _step_late(board: Board, event: StepLate) -> None:
    mine = board[WorkDone]
    if event.error is None:
        mine.explained -= Counter([event.step])
        if event.step not in mine.latest:
            mine.doubted[event.step] = "it was done after its timeout"


def _requeued(board: Board, event: Requeued) -> None:
    """A step is in doubt if it was interrupted, unless its nested run tells what it did."""
    job = board.in_flight[event.step]
    if not isinstance(job, StepStarted) or event.reason == "cancelled":
        return
    if not _report(board, job.step, leaves=True):
        board[WorkDone].doubted[job.step] = f"interrupted; {UNKNOWN}"


def _reviewed(board: Board, event: Reviewed) -> None:
    question = board.asked
    if resolves(question, event):
        mine, step_id = board[WorkDone], question.step or ""
        mine.doubted.pop(step_id, None)
        mine.explained &= board[Doubt].attempts - Counter(
            [step_id]
        )  # which doubt lowers after this
        if event.verdict == "done":  # its nested run might have done more than it has reported
            _complete(board, step_id, event.result, None)
            mine.nested.pop(step_id, None)


CAPABILITY = Capability(
    WorkDone,
    folds={
        StepStarted: _step_started,
        StepDone: _step_done,
        StepPaused: _step_paused,
        StepFailed: _step_failed,
        Reviewed: _reviewed,
        StepLate: _step_late,
        Requeued: _requeued,
    },
    plan_checks=(keeps_doubts,),
)
