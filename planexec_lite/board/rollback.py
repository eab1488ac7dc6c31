"""What a rollback has to take back, and how far it has come."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from planexec_lite import references
from planexec_lite.board.part import Part
from planexec_lite.board.transitions import IllegalTransition, State
from planexec_lite.events import RollbackBegun, undo_in_words
from planexec_lite.plan import Call, Step

LISTED = "rollback"  # names a call of the plan's rollback: "rollback 1"; no id of a step has a space
DEEPER = "/"  # "1/a" is step a of the run inside step 1; no id of a step has it


class Completed(NamedTuple):
    """A step that gave a result, as it stood then. `undo` is its own as JSON: the step is an object that others hold too.

    `label` is its id, behind the labels of the steps that it was done inside of: "1/a". `lasts`: it changed the world;
    `repeatable`: carrying it out twice does no harm.
    """

    label: str
    step: Step
    result: object
    undo: str | None
    at: float
    lasts: bool
    repeatable: bool

    @property
    def matters(self) -> bool:
        """Whether it can be taken back, or changed the world and can't."""
        return self.undo is not None or self.lasts


class Undo(NamedTuple):
    """A call that takes something back: that of a completed step, by its number, or one of a plan's rollback."""

    label: str
    call: Call
    number: int | None = None

    @property
    def name(self) -> str:
        """What is called, in words."""
        return undo_in_words(self.label)

    @property
    def path(self) -> str:
        """Inside which steps it takes something back: "1/" of "1/a"; "" of what the run did itself."""
        return path_of(self.label)


class LeftInside(NamedTuple):
    """What the runs inside steps have to do with a rollback of the run around them, beside the steps that they did.

    `remains`: what they could not take back themselves, and why; `settled`: what is not called again; `made`: what they have
    called; `listed`: what their plans list for a rollback, by the path of the run: "1/".
    """

    remains: Sequence[tuple[str, str]] = ()
    settled: Set[str] = frozenset()
    made: Sequence[str] = ()
    listed: Mapping[str, Sequence[Call]] = {}


@dataclass(slots=True, repr=False)
class Rollback(Part):
    """The steps that gave a result, in that order, and what becomes of them in a rollback.

    What a judge said of a result changes nothing in the world, so a step that failed by verdict is here as well.
    A step that does the same again is here once, with its latest result, where a repeat does no harm.
    The steps of a run inside a step are here too, before that step: an undo of the step's own stands for all of them.
    """

    completed: dict[int, Completed] = field(default_factory=dict)  # by a number that counts up
    latest: dict[str, int] = field(default_factory=dict)  # by label, the number of its latest result
    gone: set[int] = field(default_factory=set)  # undone, or the same was done again later, or an undo stands for it
    paths: set[str] = field(default_factory=set)  # of the steps inside which something was done: "1/"
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

    def complete(self, one: Completed) -> None:
        """A step gave a result."""
        if one.label in self.doubted and self.doubted[one.label][0] == one.step:
            del self.doubted[one.label]
        before = self.latest.get(one.label)
        number = self.latest[one.label] = next(reversed(self.completed), 0) + 1
        self.completed[number] = one
        if DEEPER in one.label:
            self.paths |= {*paths_of(one.label)}
        if one.undo is not None and one.label + DEEPER in self.paths:
            self.forget(one.label + DEEPER)
        if before is not None and one.repeatable and self._did(before) == self._did(number):
            self.gone.add(before)

    def forget(self, path: str) -> None:
        """What was done inside a step is not to be taken back one by one."""
        self.gone |= {number for number, one in self.completed.items() if one.label.startswith(path)}

    def undone_inside(self, label: str) -> None:
        """The run inside a step has taken back what its step did, the latest result first."""
        standing = (n for n, one in reversed(self.completed.items()) if one.label == label and n not in self.gone)
        self.gone |= {*islice(standing, 1)}

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

    def has_anything(self) -> bool:
        """Whether anything was done that can be taken back, or that changed the world and can't."""
        return any(one.matters for number, one in self.completed.items() if number not in self.gone)

    def begin(self, event: RollbackBegun, remains: Iterable[tuple[str, str]], inside: LeftInside) -> None:
        """Line up what is to be called: the steps' undo, the latest result first, then the plan's rollback in its order.

        `remains` are the labels of what can't be taken back, since nobody knows what became of it, and why. What the plan of a
        run inside lists comes behind all that was done there.
        """
        if event.to is not None and event.to not in self.latest:
            raise IllegalTransition("stay", event.to, None, "it gave no result")
        self.begun, self.calling, self.undone, self.opened = event, None, [], set()
        self.remains = [*dict.fromkeys([*remains, *inside.remains])]
        steps = [*self._of_steps(event.to, inside)]
        made = [*self.made, *inside.made, *map(self._in_full, [*self.unsure, *(undo for _, undo in steps if undo)])]
        line: list[Undo] = []
        begins: dict[str, int] = {}  # by path, the first that was done there
        for number, one in self._in_time():
            for path in paths_of(one.label):
                begins.setdefault(path, number)
        for number, undo in steps:
            line += [undo] if undo else []
            for path in paths_of(self.completed[number].label):
                if begins[path] == number:
                    line += self._of_plan(path, inside.listed.get(path, ()), inside, made)
        line += self._of_plan("", self.listed_calls, inside, made) if event.to is None else []
        self.left = line[::-1]

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
        """The results that a call may refer to, by step id: those of its own run."""
        last = undo.number if undo and undo.number else next(reversed(self.completed), 0)
        return self._results(undo.path if undo else "", last)

    def _results(self, path: str, last: int) -> dict[str, object]:
        done = {one.label: one.result for number, one in self.completed.items() if number <= last}
        if not self.paths:
            return done
        return {label.removeprefix(path): result for label, result in done.items() if path_of(label) == path}

    def finish(self, label: str, state: State | None, error: str | None = None, *, unsure: bool = False) -> Step | None:
        """The call came to its end, or, with `error`, to none. Returns the step that is undone now, if it is one.

        `unsure`: it may have been made all the same, and may be made once. A step with a run inside is undone with the last
        thing that was done there.
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
        outermost = label.partition(DEEPER)[0]
        number = undo.number if outermost == label else self.latest.get(outermost)
        return None if number is None or self._stands(outermost + DEEPER) else self.completed[number].step

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
        one = self.completed[number]
        step, results = one.step, self._results(path_of(one.label), number)
        given = {} if step.tool else {step.description: [results.get(id) for id in step.depends_on]}
        return _written(step.tool, {**step.params, **given}, results), one.undo

    @property
    def timeout(self) -> float | None:
        """How long the call that is made may take: as long as its step."""
        number = self.calling.number if self.calling else None
        return self.completed[number].step.timeout if number else None

    def _in_time(self) -> list[tuple[int, Completed]]:
        """What was done, in the order in which it was: a run inside a step is told when the step has ended."""
        return sorted(self.completed.items(), key=lambda item: item[1].at)

    def _stands(self, path: str) -> bool:
        """Whether anything that was done inside a step is still there."""
        if path not in self.paths:
            return False
        inside = ((number, one) for number, one in self.completed.items() if one.label.startswith(path))
        return any(one.matters and number not in self.gone for number, one in inside)

    def _of_steps(self, to: str | None, inside: LeftInside) -> Iterator[tuple[int, Undo | None]]:
        """The steps by their numbers, the latest first, each with its undo, where that is to be called."""
        settled = self.gone | {undo.number for undo in self.unsure}
        for number, one in reversed(self._in_time()):
            if one.label == to:
                return
            undo = None
            if number not in settled and one.label not in inside.settled:
                if one.undo is not None:
                    undo = Undo(one.label, Call.model_validate_json(one.undo), number)
                elif one.lasts:
                    self.remains.append((one.label, "no undo of its own"))
            yield number, undo

    def _of_plan(self, path: str, listed: Sequence[Call], inside: LeftInside, made: list[str]) -> Iterator[Undo]:
        """The calls that a plan lists and that have something to take back, but for those that are made as it is."""
        done = ((number, one) for number, one in self.completed.items() if one.label.startswith(path))
        something = any(one.matters and not (path and number in self.gone) for number, one in done)
        for place, call in enumerate(listed, 1):
            label = f"{path}{LISTED} {place}"
            missing = [one.step for one in references.find(call.params) if path + one.step not in self.latest]
            if label in inside.settled:
                continue
            if missing:
                self.remains.append((label, f"step {missing[0]} gave no result"))
            elif something and (call_in_full := self._in_full(undo := Undo(label, call))) not in made:
                made.append(call_in_full)
                yield undo


def path_of(label: str) -> str:
    """Inside which steps something was done: "1/" of "1/a"; "" of what the run did itself."""
    around, deeper, _ = label.rpartition(DEEPER)
    return around + deeper


def paths_of(label: str) -> list[str]:
    """The same of all levels, the innermost first: "1/m/" and "1/" of "1/m/a"."""
    path = path_of(label)
    return [path, *paths_of(path.removesuffix(DEEPER))] if path else []


def _written(tool: str | None, params: Mapping[str, object], results: Mapping[str, object]) -> str:
    """A call as its tool receives it, or, where it can't be made, as it was written."""
    with suppress(references.MissingResultError):
        params = references.resolve(params, results)
    return json.dumps([tool, params], sort_keys=True, default=repr)
