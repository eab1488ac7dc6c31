"""Undo (lesson 09): what a run has done, how each part of it is undone, and in which order.

A completed step with an undo is undone once. If a step is repeated and a repeat does no harm, only its latest result is undone.
A verdict changes nothing in the world, so rejected results are undone too. A step that an agent carried out as a nested run is
undone by rolling back that run, unless the step itself has an undo.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from planexec_lite.capabilities.doubt import UNKNOWN, Doubt, StepLate, resolves
from planexec_lite.core import Board, Capability, Part
from planexec_lite.core import events as e
from planexec_lite.core.questions import undo_in_words
from planexec_lite.plan import Call, Step
from planexec_lite.tools import REPEATABLE, references

LISTED = "rollback"  # names a call of the plan's rollback: "rollback 1"; the id of a step never contains a space


class Completed(NamedTuple):
    """A step's result, with the step as it was then. `undo` is JSON, because other objects share the step and might change it.

    `lasts`: the step changed the world; `repeatable`: running it twice does no harm; `inside`: the number of its nested run, or 0.
    """

    step: Step
    result: object
    undo: str | None
    lasts: bool
    repeatable: bool
    inside: int


class Undo(NamedTuple):
    """One thing to undo: by a `call`, of completed step `number` or of the plan's rollback (0); or nested run number `inside`.

    `why_not`: why it can't be undone; "" if it can.
    """

    label: str
    call: Call | None = None
    number: int = 0
    inside: int = 0
    why_not: str = ""

    @property
    def name(self) -> str:
        """The undo as a phrase."""
        return (
            undo_in_words(self.label) if self.call else f"what was done inside step {self.label}"
        )


@dataclass
class WorkDone(Part):
    """The results and nested runs of the run, and which of them are undone.

    Attributes:
        count: numbers the results and the reports of nested runs, in the order in which they came.
        completed: the results by number; `latest` is the number of each step's latest result.
        gone: the numbers of the results that are undone, might be undone, or were replaced by a repeat.
        inside: the nested runs that might have left something, by step and run number, and the number of their latest report.
        explained: how many failures in doubt of a step its nested run has reported.
        doubted: the steps that might have been done, and why.
        listed: the rollback of the latest plan that can be carried out, each call as JSON.
        made: the undo calls that were made, in all rollbacks of the run (""), and by step in those of its nested runs.
        unsure: the undos whose outcome is unknown. `partly`: the steps whose nested run was not rolled back completely.
    """

    count: int = 0
    completed: dict[int, Completed] = field(default_factory=dict)
    latest: dict[str, int] = field(default_factory=dict)
    gone: set[int] = field(default_factory=set)
    inside: dict[tuple[str, int], int] = field(default_factory=dict)
    explained: Counter[str] = field(default_factory=Counter)
    doubted: dict[str, tuple[Step, str]] = field(default_factory=dict)
    listed: tuple[str, ...] = ()
    made: dict[str, list[str]] = field(default_factory=dict)
    unsure: list[Undo] = field(default_factory=list)
    partly: set[str] = field(default_factory=set)

    @property
    def listed_calls(self) -> list[Call]:
        """The calls of the plan's rollback."""
        return [Call.model_validate_json(call) for call in self.listed]

    @property
    def has_anything(self) -> bool:
        """Whether the run did anything that can be undone, or that changed the world."""
        left = (one for number, one in self.completed.items() if number not in self.gone)
        return bool(self.inside) or any(one.undo is not None or one.lasts for one in left)

    def results_at(self, number: int, params: Any, more: Iterable[str] = ()) -> dict[str, object]:
        """The results that `params` refer to and those of the steps in `more`, by step id; up to result `number`, 0 for all."""
        results, last = {}, number or self.count
        for step_id in (*more, *(one.step for one in references.find(params))):
            at = self.latest.get(step_id, 0)
            if at > last:  # the step was repeated later
                at = max(
                    (
                        at
                        for at, one in self.completed.items()
                        if at <= last and one.step.id == step_id
                    ),
                    default=0,
                )
            if at:
                results[step_id] = self.completed[at].result
        return results

    def note_made(self, where: str, calls: Iterable[str]) -> None:
        """Undo calls were made in this run (""), or in a step's nested run."""
        self.made.setdefault(where, []).extend(calls)

    def settle(self, undo: Undo) -> None:
        """This is undone, or might be: it is not undone again."""
        self.gone.add(undo.number)
        self.inside.pop((undo.label, undo.inside), None)

    def call_text(self, undo: Undo) -> str:
        """The call of an undo as its tool receives it; equal for calls that do the same; "" for a nested run."""
        call = undo.call
        return (
            _written(call.tool, call.params, self.results_at(undo.number, call.params))
            if call
            else ""
        )

    def did(self, number: int) -> tuple[object, ...]:
        """Return the call of a completed step and its undo: equal for steps that did the same."""
        step = self.completed[number].step
        results = self.results_at(number, step.params, step.depends_on)
        given = (
            {}
            if step.tool
            else {step.description: [results.get(step_id) for step_id in step.depends_on]}
        )
        return _written(step.tool, {**step.params, **given}, results), self.completed[number].undo


def _written(tool: str | None, params: Mapping[str, object], results: Mapping[str, object]) -> str:
    """A call as its tool receives it; a call that can't be made, as the plan says it."""
    with suppress(references.MissingResultError):
        params = references.resolve(params, results)
    return json.dumps([tool, params], sort_keys=True, default=repr)


def undos(board: Board, to: str | None, made_before: tuple[str, ...]) -> Iterator[Undo]:
    """Yield what is undone, the latest first: results and nested runs, then the plan's rollback. Each call is yielded once.

    Step `to`, and everything that was done before it, stays done. What can't be undone is yielded with the reason.
    `made_before` has the undo calls that the rollbacks of earlier attempts have made.
    """
    mine = board[WorkDone]
    made = {*mine.made.get("", ()), *made_before, *map(mine.call_text, mine.unsure)}
    items = [(number, one.step.id, 0) for number, one in mine.completed.items()]
    items += [(number, step_id, inside) for (step_id, inside), number in mine.inside.items()]
    for number, step_id, inside in sorted(items, reverse=True):
        one = mine.completed.get(number)
        if one is None:
            yield Undo(step_id, inside=inside)
        elif step_id == to:
            return
        elif number not in mine.gone and one.undo is not None:
            undo = Undo(step_id, Call.model_validate_json(one.undo), number)
            if not (one.repeatable and mine.call_text(undo) in made_before):
                made.add(mine.call_text(undo))
                yield undo
        elif number not in mine.gone and one.lasts and not one.inside:
            yield Undo(step_id, why_not="no undo of its own")
    acted = (
        mine.inside
        or mine.unsure
        or any(one.undo is not None or one.lasts for one in mine.completed.values())
    )
    for place, call in enumerate(mine.listed_calls if to is None else (), 1):
        undo = Undo(f"{LISTED} {place}", call)
        missing = [one.step for one in references.find(call.params) if one.step not in mine.latest]
        if missing:
            yield undo._replace(why_not=f"step {missing[0]} gave no result")
        elif acted and (text := mine.call_text(undo)) not in made:
            made.add(text)
            yield undo


def unknown(board: Board) -> list[tuple[str, str]]:
    """Return the labels of the steps that might have been done and of the undos that might have been made, and why."""
    doubts = [(step_id, why) for step_id, (_, why) in steps_in_doubt(board).items()]
    return [
        *doubts,
        *((undo.label, "it is unknown whether it was undone") for undo in board[WorkDone].unsure),
    ]


def steps_in_doubt(board: Board) -> dict[str, tuple[Step, str]]:
    """Return the steps that might have been done and might have changed something, and why, by id."""
    mine = board[WorkDone]
    counted = board[Doubt].attempts.items()
    doubts = {
        step_id: (board.steps[step_id], UNKNOWN)
        for step_id, count in counted
        if count > mine.explained[step_id]
    } | mine.doubted
    inside = {
        step_id for step_id, _ in mine.inside
    }  # the rollback of a nested run says what became of it
    return {
        step_id: (step, why)
        for step_id, (step, why) in doubts.items()
        if step_id not in inside and (step.undo is not None or board.effects_of(step) != "none")
    }


def doubts_behind(board: Board, undo: Undo, before: dict[str, set[str]]) -> list[str]:
    """Return the steps in doubt that depend, directly or indirectly, on what `undo` undoes.

    A call of the plan's rollback can undo anything, so every doubt counts. `before` is a cache of the ids that a step
    depends on; the function adds to it.
    """
    mine = board[WorkDone]
    doubts = {step_id: step for step_id, (step, _) in steps_in_doubt(board).items()}
    doubts |= {
        one.label: board.steps[one.label] for one in mine.unsure if one.label in board.steps
    }
    doubts |= {step_id: board.steps[step_id] for step_id in mine.partly}
    doubts.pop(undo.label, None)
    if undo.label.startswith(LISTED):
        return [*doubts]
    for step_id in doubts.keys() - before.keys():
        before[step_id] = _all_before(board, doubts[step_id])
    return [step_id for step_id in doubts if undo.label in before[step_id]]


def _all_before(board: Board, step: Step) -> set[str]:
    """Return the ids of the steps that `step` depends on, directly or indirectly."""
    before: set[str] = set()
    left = [*step.depends_on]
    while left:
        step_id = left.pop()
        if step_id not in before and step_id in board.steps:
            before.add(step_id)
            left += board.steps[step_id].depends_on
    return before


def list_calls(board: Board) -> None:
    """The rollback of the plan counts from now on, because the plan can be carried out. That of a rejected plan never counts."""
    if board.proposal is not None:
        board[WorkDone].listed = tuple(call.model_dump_json() for call in board.proposal.rollback)


def _plan_proposed(board: Board, event: e.PlanProposed) -> None:
    if (
        event.plan is not None
        and not event.problems
        and (not board.has_reviewer or event.granted_by)
    ):
        list_calls(board)


def _step_started(board: Board, event: e.StepStarted) -> None:
    if event.inside and board.effects[event.step] != "none":
        mine = board[WorkDone]
        mine.count += 1
        mine.inside[event.step, event.inside] = mine.count


def _report(board: Board, step_id: str, *, leaves: bool) -> int:
    """The nested run of a step has reported. Return its number; 0 without a nested run, or if it has left nothing."""
    mine = board[WorkDone]
    if not mine.inside:
        return 0
    number = max((number for step, number in mine.inside if step == step_id), default=0)
    if number and not leaves:
        del mine.inside[step_id, number]
    elif number:
        mine.count += 1
        mine.inside[step_id, number] = mine.count
    return number


def _step_done(board: Board, event: e.StepDone) -> None:
    inside = _report(board, event.step, leaves=event.leaves)
    _complete(board, event.step, event.result, inside, lasts=event.leaves if inside else None)


def _complete(
    board: Board, step_id: str, result: object, inside: int = 0, *, lasts: bool | None = None
) -> None:
    """A step gave a result: from now on it can be undone."""
    mine, step = board[WorkDone], board.steps[step_id]
    if step_id in mine.doubted and mine.doubted[step_id][0] == step:
        del mine.doubted[step_id]
    undo = None if step.undo is None else step.undo.model_dump_json()
    if (
        undo is not None and inside
    ):  # the undo of the step undoes everything that its nested runs did
        mine.inside = {key: at for key, at in mine.inside.items() if key[0] != step_id}
    effects = board.effects[step_id]
    if lasts is None:
        lasts = effects != "none"
    repeatable = effects in REPEATABLE
    before = mine.latest.get(step_id)
    mine.count += 1
    number = mine.latest[step_id] = mine.count
    mine.completed[number] = Completed(step, result, undo, lasts, repeatable, inside)
    if before is not None and repeatable and mine.did(before) == mine.did(number):
        mine.gone.add(before)


def _doubt(board: Board, step_id: str, why: str) -> None:
    """A step might have been done, and has no result that counts."""
    board[WorkDone].doubted[step_id] = (board.steps[step_id], why)


def _step_paused(board: Board, event: e.StepPaused) -> None:
    _report(board, event.step, leaves=event.leaves)
    if event.made:
        _doubt(
            board,
            event.step,
            f"it made {', '.join(one.text for one in event.made)} before it paused",
        )


def _step_failed(board: Board, event: e.StepFailed) -> None:
    if _report(board, event.step, leaves=event.leaves) and event.in_doubt:
        board[WorkDone].explained[event.step] += 1


def _step_late(board: Board, event: StepLate) -> None:
    mine = board[WorkDone]
    known = event.step in mine.latest or any(step_id == event.step for step_id, _ in mine.inside)
    if event.error is None and not known:
        _doubt(board, event.step, "it was done after its timeout")


def step_requeued(board: Board, event: e.Requeued) -> None:
    """A step is in doubt if it was interrupted, unless its nested run tells what it did."""
    step_id = event.step or ""
    started = event.reason == "interrupted" and board.state.get(step_id) in ("waiting", "failed")
    if started and not _report(board, step_id, leaves=True):
        _doubt(board, step_id, f"interrupted; {UNKNOWN}")


def _reviewed(board: Board, event: e.Reviewed) -> None:
    question = board.asked
    if resolves(question, event):
        board[WorkDone].doubted.pop(question.step or "", None)
        if event.verdict == "done":
            _complete(board, question.step or "", event.result)


CAPABILITY = Capability(
    WorkDone,
    folds={
        e.PlanProposed: _plan_proposed,
        e.StepStarted: _step_started,
        e.StepDone: _step_done,
        e.StepPaused: _step_paused,
        e.StepFailed: _step_failed,
        e.Reviewed: _reviewed,
        StepLate: _step_late,
    },
)
