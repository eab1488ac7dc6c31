"""The scripted model's knowledge about a task: the remaining steps after a record, and the steps that a text names.

A `KnownWay` is a plan that reaches the goal. The end of an `UnknownWay` is not known in advance: a mind chooses the next step
from the results so far (`worlds.minds`), and a planner with a longer horizon relies on its expectations.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from planexec_lab.scoreboard.faults import CLEAR, IN_THE_WAY
from planexec_lab.worlds.minds import Answer, Entry, Mind, Seen, ahead, call_in, value_of
from planexec_lite.plan import Plan, Step
from planexec_lite.tools import references

AND = "; then "
"""Separates the steps that a task combines."""
_BETWEEN = re.compile(rf"{AND}|(?: Subtasks:|;) (?=[0-9]+[.] )")
_GIVEN = re.compile(r"^((?:Result of step [\w.-]+: )+)", re.M)
_TOLD = re.compile(r"^Result of step ([\w.-]+): (data: .*)$", re.M)
_CALL = re.compile(r"\[([0-9]+): (\w+\(.*?\))\](?=; |$)", re.M)


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the way that is planned as one step: one step, or several steps combined into one task."""

    id: str
    steps: tuple[Step, ...]
    depends_on: tuple[str, ...]
    attempt: int = 1

    @property
    def description(self) -> str:
        """The text of the part, by which an executor recognises it."""
        words = AND.join(step.description for step in self.steps)
        return f"Attempt {self.attempt}: {words}" if self.attempt > 1 else words


Left = tuple[list[Part], dict[str, str]]
"""The parts that are left, under the ids that they get now, and these ids by those that the steps of the way have."""


class KnownWay:
    """A plan that reaches the goal; every step has a number as id and a unique description."""

    def __init__(self, plan: Plan) -> None:
        by_id = {step.id: step for step in plan.steps}
        self.steps = [by_id[id] for wave in plan.waves() for id in wave]
        self.by_words = {step.description: step for step in (*self.steps, CLEAR)}

    def left(self, entries: Sequence[Entry], most: int | None = None, voter: int | None = None) -> Left:
        """Return the steps of the plan that are not done."""
        return remaining(as_voted(parts_of(self.steps, most), voter), entries)

    def named(self, text: str) -> list[Step]:
        """Return the steps whose descriptions are in the text."""
        return [self.by_words[line] for line in _lines(text) if line in self.by_words]

    def next(self, seen: Sequence[Seen]) -> None:
        """Return nothing: the list says it."""


class UnknownWay:
    """A way that shows step by step. The description of a step holds its call, since there is no list to look it up in."""

    def __init__(self, mind: Mind) -> None:
        self.mind = mind

    def left(self, entries: Sequence[Entry], most: int | None = None, voter: int | None = None) -> Left:
        """Return what the mind would do from here, if all is as it expects. Steps are counted on, so that no id comes twice."""
        known = [id for one in entries for id in (number_of(one.id), *(id for id, _ in _CALL.findall(one.step)))]
        number = max((int(id) for id in known if id.isdecimal()), default=0)
        steps = self.ahead(self.seen(entries), number)
        parts = as_voted(parts_of(steps, most, number + 1), voter)
        done = {one.id for one in entries if one.state == "done"}
        if CLEAR.id not in done and any(one.state == "failed" and IN_THE_WAY in one.text for one in entries):
            first = Part(CLEAR.id, (CLEAR,), ())
            parts = [first, *(Part(one.id, one.steps, one.depends_on or (CLEAR.id,)) for one in parts)]
        return parts, {step.id: part.id for part in parts for step in part.steps}

    def ahead(self, seen: Sequence[Seen] = (), number: int = 0) -> list[Step]:
        """Return the steps that the mind would take after what was `seen`, each with its call in its description."""
        steps, _ = ahead(self.mind, seen, number)
        return [_with_call(Step.model_validate(step)) for step in steps]

    def seen(self, entries: Sequence[Entry]) -> list[Seen]:
        """Return the calls that the record shows as done, each with what it gave."""
        results: dict[str, Any] = {}
        seen = []
        for one in entries:
            if one.state != "done" or one.id == CLEAR.id:
                continue
            calls = _CALL.findall(one.step) or [(one.id, one.step)]
            value = value_of(one.text)
            results |= listed_in(value) or {calls[-1][0]: value}
            for id, call in calls:
                tool, params = call_in(call)
                seen.append(Seen(tool, references.resolve(params, results), results[id]))
        return seen

    def named(self, text: str) -> list[Step]:
        """Return the steps whose calls are in the text."""
        named = []
        for line in _lines(text):
            if call := _CALL.search(line):
                tool, params = call_in(call[2])
                named.append(Step(id=call[1], description=line, tool=tool, params=params))
            elif line == CLEAR.description:
                named.append(CLEAR)
        return named

    def next(self, seen: Sequence[Seen]) -> Answer | Step:
        """Return the mind's choice; a list written before the first result is ignored."""
        act = self.mind.next([one for one in seen if not one.failed and one.tool != CLEAR.tool])
        return act if isinstance(act, Answer) else Step(id="next", tool=act.tool, params=dict(act.params))


Way = KnownWay | UnknownWay
"""The known steps."""


def parts_of(way: Sequence[Step], most: int | None, first: int = 1) -> list[Part]:
    """Return the way in at most `most` parts, each of steps that follow one another; joined ones are counted from `first`."""
    size = -(-len(way) // most) if most else 1
    groups = [tuple(way[start : start + size]) for start in range(0, len(way), max(size, 1))]
    named = {
        step.id: str(number) if size > 1 else step.id for number, group in enumerate(groups, first) for step in group
    }
    parts = []
    for group in groups:
        id = named[group[0].id]
        before = dict.fromkeys(named[other] for step in group for other in step.depends_on if other in named)
        parts.append(Part(id, group, tuple(other for other in before if other != id)))
    return parts


def as_voted(parts: Sequence[Part], voter: int | None) -> list[Part]:
    """Return a voter's version of the way: sequential, unchanged, or two parts at a time."""
    if voter is None or voter == 2:
        return list(parts)
    at_once = 1 if voter == 1 else 2
    others = []
    for place, part in enumerate(parts):
        before = [one.id for one in parts[: place - place % at_once]]
        others.append(Part(part.id, part.steps, tuple(dict.fromkeys([*part.depends_on, *before]))))
    return others


def remaining(parts: Sequence[Part], entries: Sequence[Entry]) -> Left:
    """Return the parts that the record does not show as done: what failed gets a new id, what was in the way is cleared first."""
    done = {number_of(one.id): one.id for one in entries if one.state == "done"}
    failed = {number_of(one.id): one for one in entries if one.state == "failed"}
    taken = {one.id for one in entries if one.state == "failed" or (one.state == "superseded" and one.text)}
    ids, left = {}, []
    for part in parts:
        free = (id for id in (part.id, *new_ids(part.id)) if id not in taken)
        ids[part.id] = done.get(part.id) or next(free)
    blocked = [
        id for id, entry in failed.items() if IN_THE_WAY in entry.text and id not in done and CLEAR.id not in done
    ]
    if blocked:
        ids[CLEAR.id] = CLEAR.id
        left.append(Part(CLEAR.id, (CLEAR,), ()))
    for part in parts:
        if part.id not in done:
            before = [*part.depends_on, *([CLEAR.id] if part.id in blocked else [])]
            attempt = 1 + sum(number_of(id) == part.id for id in taken)
            left.append(Part(ids[part.id], part.steps, tuple(ids[id] for id in before), attempt))
    return left, ids


def _with_call(step: Step) -> Step:
    return step.model_copy(update={"description": f"{step.description} [{step.id}: {step}]", "success_criteria": None})


def _lines(text: str) -> Iterator[str]:
    """The lines of a text, its numbered subtasks and the parts between `AND`, without numbers."""
    for part in _BETWEEN.split(text):
        for line in part.splitlines():
            yield re.sub(r"^(?:[0-9]+[.)] )?(?:Attempt [0-9]+: )?", "", line)


def results_in(text: str) -> dict[str, Any]:
    """The results that a step is given, by the id under which the way has their step, also those that a result lists."""
    results: dict[str, Any] = {}
    for id, data in _TOLD.findall(text):
        value = value_of(data)
        results |= listed_in(value) or {number_of(id): value}
    return results


def listed_in(answer: Any) -> dict[str, Any]:
    """The results that the answer of a run inside a step lists."""
    if not isinstance(answer, str):
        return {}
    _, *parts = _GIVEN.split(answer)
    pairs = zip(parts[::2], parts[1::2], strict=True)
    return {number_of(head.split()[-1].rstrip(":")): value_of(body.rstrip("\n")) for head, body in pairs}


def number_of(id: str) -> str:
    """The id under which the way has the step: "5b" is a second attempt at 5."""
    number = re.match(r"[0-9]+", id)
    return number[0] if number else id


def new_ids(id: str) -> Iterator[str]:
    """The ids of a step's new attempts: 5b, 5c …"""
    return (f"{id}{letter}" for letter in "bcdefghijklmnopqrstuvwxyz")
