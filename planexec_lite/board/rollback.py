"""What a rollback has to take back, and how far it has come."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple

from planexec_lite import references
from planexec_lite.board.part import Part
from planexec_lite.board.transitions import IllegalTransition, State
from planexec_lite.events import RollbackBegun
from planexec_lite.plan import Call, Step
from planexec_lite.tools import Effects

LISTED = "rollback"  # names a call of the plan's rollback: "rollback 1"; no id of a step has a space


class Completed(NamedTuple):
    """A step that gave a result, as it stood then. `undo` is its own as JSON: the step is an object that others hold too."""

    step: Step
    result: object
    undo: str | None

    def matters(self, effects: Mapping[str, Effects]) -> bool:
        """Whether it can be taken back, or changed the world and can't."""
        return self.undo is not None or self.step.effects_with(effects) != "none"


class Undo(NamedTuple):
    """A call that takes something back: that of a completed step, by its number, or one of the plan's rollback."""

    label: str
    call: Call
    number: int | None = None

    @property
    def name(self) -> str:
        """What is called, in words."""
        if self.number is None:
            return f"call {self.label.removeprefix(LISTED).strip()} of the plan's rollback"
        return f"the undo of step {self.label}"


@dataclass(slots=True, repr=False)
class Rollback(Part):
    """The steps that gave a result, in that order, and what becomes of them in a rollback.

    What a judge said of a result changes nothing in the world, so a step that failed by verdict is here as well.
    A step that does the same again is here once, with its latest result, where a repeat does no harm.
    """

    completed: dict[int, Completed] = field(default_factory=dict)  # by a number that counts up
    latest: dict[str, int] = field(default_factory=dict)  # by step id, the number of its latest result
    gone: set[int] = field(default_factory=set)  # undone, or the same was done again later
    listed: tuple[str, ...] = ()  # the rollback of the latest plan that might be carried out, each call as JSON
    begun: RollbackBegun | None = None
    opened: set[str] = field(default_factory=set)  # calls that a person has said yes to
    left: list[Undo] = field(default_factory=list)  # the next one is the last of the list
    calling: Undo | None = None
    undone: list[str] = field(default_factory=list)
    made: list[str] = field(default_factory=list)  # what was called, in all rollbacks of the run
    doubted: dict[str, tuple[Step, str]] = field(default_factory=dict)  # steps that were given up or cut off, and why
    unsure: list[Undo] = field(default_factory=list)  # may have been made, and may be made once
    remains: list[tuple[str, str]] = field(default_factory=list)  # what was not taken back, and why

    def complete(self, step: Step, result: object, *, repeatable: bool) -> None:
        """A step gave a result. `repeatable`: carrying it out twice does no harm."""
        if step.id in self.doubted and self.doubted[step.id][0] == step:
            del self.doubted[step.id]
        before = self.latest.get(step.id)
        number = self.latest[step.id] = next(reversed(self.completed), 0) + 1
        self.completed[number] = Completed(step, result, None if step.undo is None else step.undo.model_dump_json())
        if before is not None and repeatable and self._did(before) == self._did(number):
            self.gone.add(before)

    def list_calls(self, calls: Iterable[Call]) -> None:
        """A plan that might be carried out lists these for a rollback."""
        self.listed = tuple(call.model_dump_json() for call in calls)

    @property
    def listed_calls(self) -> list[Call]:
        """What the latest plan that might be carried out lists for a rollback."""
        return [Call.model_validate_json(call) for call in self.listed]

    def doubt(self, step: Step, why: str) -> None:
        """A step may have been done, or was, and has no result that counts."""
        self.doubted[step.id] = (step, why)

    def has_anything(self, effects: Mapping[str, Effects]) -> bool:
        """Whether anything was done that can be taken back, or that changed the world and can't."""
        return any(one.matters(effects) for number, one in self.completed.items() if number not in self.gone)

    def begin(self, event: RollbackBegun, doubted: Iterable[Step], effects: Mapping[str, Effects]) -> None:
        """Line up what is to be called: the steps' undo, the latest result first, then the plan's rollback in its order.

        `doubted` are the steps of which nobody knows whether they were done.
        """
        if event.to is not None and event.to not in self._given:
            raise IllegalTransition("stay", event.to, None, "it gave no result")
        self.begun, self.calling, self.undone, self.opened = event, None, [], set()
        unknown = {step.id: (step, "nobody knows whether it was done") for step in doubted} | self.doubted
        self.remains = [(id, why) for id, (step, why) in unknown.items() if _matters(step, effects)]
        self.remains += [(undo.label, "nobody knows whether it was undone") for undo in self.unsure]
        line = [*self._of_steps(event.to, effects)]
        if event.to is None:
            line += self._of_plan([*self.made, *map(self._in_full, [*self.unsure, *line])], effects)
        self.left = line[::-1]

    @property
    def asks(self) -> bool:
        """Whether a person has to be asked before the next call."""
        return bool(self.left) and self.left[-1].call.gate and self.left[-1].label not in self.opened

    def answer(self, label: str, why_not: str) -> None:
        """A person has decided about the next call. `why_not`: it is not made; "": it may be."""
        if not self.asks or self.left[-1].label != label:
            raise IllegalTransition("be decided about", label, None, "it is not what is to be undone next")
        if why_not:
            self.remains.append((self.left.pop().label, why_not))
        else:
            self.opened.add(label)

    def start(self, label: str, state: State | None) -> None:
        """The next call is made. `state` is that of the step."""
        if not self.left or self.left[-1].label != label:
            raise IllegalTransition("be undone", label, state, "it is not what is to be undone next" if state else "")
        self.calling = self.left.pop()

    def inputs(self) -> dict[str, object]:
        """The results that the call that is made may refer to, by step id: of its step and of those that were done before."""
        return self.inputs_of(self.calling)

    def inputs_of(self, undo: Undo | None) -> dict[str, object]:
        """The results that a call may refer to, by step id."""
        return self._results(undo.number if undo and undo.number else next(reversed(self.completed), 0))

    def _results(self, last: int) -> dict[str, object]:
        return {one.step.id: one.result for number, one in self.completed.items() if number <= last}

    def finish(self, label: str, state: State | None, error: str | None = None, *, unsure: bool = False) -> Step | None:
        """The call came to its end, or, with `error`, to none. Returns the step that is undone now, if it is one.

        `unsure`: it may have been made all the same, and may be made once.
        """
        undo = self._called(label, state)
        self.opened.discard(label)  # another step may have had the id: the yes was about this call
        if error is not None:
            self.unsure += [undo] if unsure else []
            self.remains.append((label, error))
            return None
        self.undone.append(label)
        self.made.append(self._in_full(undo))
        if undo.number is None:
            return None
        self.gone.add(undo.number)
        return self.completed[undo.number].step

    def put_back(self, label: str, state: State | None) -> None:
        """The call was not made: it is the next one again."""
        self.left.append(self._called(label, state))

    def _called(self, label: str, state: State | None) -> Undo:
        undo = self.calling
        if undo is None or undo.label != label:
            raise IllegalTransition("come to this end", label, state, "it is not being undone" if state else "")
        self.calling = None
        return undo

    def _in_full(self, undo: Undo) -> str:
        """The call as its tool receives it: the same for calls that do the same, whether a person is asked or not."""
        return _written(undo.call.tool, undo.call.params, self.inputs_of(undo))

    def _did(self, number: int) -> tuple[object, ...]:
        """What a completed step did, and what takes it back: equal for steps that did the same."""
        (step, _, undo), results = self.completed[number], self._results(number)
        given = {} if step.tool else {step.description: [results.get(id) for id in step.depends_on]}
        return _written(step.tool, {**step.params, **given}, results), undo

    @property
    def timeout(self) -> float | None:
        """How long the call that is made may take: as long as its step."""
        number = self.calling.number if self.calling else None
        return self.completed[number].step.timeout if number else None

    @property
    def _given(self) -> set[str]:
        return {one.step.id for one in self.completed.values()}

    def _of_steps(self, to: str | None, effects: Mapping[str, Effects]) -> Iterator[Undo]:
        settled = self.gone | {undo.number for undo in self.unsure}
        for number, one in reversed(self.completed.items()):
            if one.step.id == to:
                return
            if number not in settled and one.undo is not None:
                yield Undo(one.step.id, Call.model_validate_json(one.undo), number)
            elif number not in settled and one.matters(effects):
                self.remains.append((one.step.id, "no undo of its own"))

    def _of_plan(self, made: list[str], effects: Mapping[str, Effects]) -> Iterator[Undo]:
        """The calls of the plan's rollback that have something to take back, and are made neither before nor as a step's undo."""
        something = any(one.matters(effects) for one in self.completed.values())
        for number, call in enumerate(self.listed_calls, 1):
            missing = [one.step for one in references.find(call.params) if one.step not in self._given]
            if missing:
                self.remains.append((f"{LISTED} {number}", f"step {missing[0]} gave no result"))
            elif something and (call_in_full := self._in_full(undo := Undo(f"{LISTED} {number}", call))) not in made:
                made.append(call_in_full)
                yield undo


def _matters(step: Step, effects: Mapping[str, Effects]) -> bool:
    return step.undo is not None or step.effects_with(effects) != "none"


def _written(tool: str | None, params: Mapping[str, object], results: Mapping[str, object]) -> str:
    """A call as its tool receives it, or, where it can't be made, as it was written."""
    with suppress(references.MissingResultError):
        params = references.resolve(params, results)
    return json.dumps([tool, params], sort_keys=True, default=repr)
