"""A scripted model that knows the way: whatever an agent asks, in whatever variation, it answers from the task's plan.

It reads the request as a model would, and nothing else: the rules say what form is wanted, the record says what is done, the task
says what is to be done now. So one script answers every variation of a task, and none gets a better model than another.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mock_llm import MockLLM
from mock_llm.script import Reply, ToolUse
from mock_llm.types import Request
from planexec_lite import references
from planexec_lite.plan import Step
from planexec_lite.scoreboard.assumptions import seconds_of
from planexec_lite.scoreboard.faults import CLEAR, IN_THE_WAY, Faults
from planexec_lite.scoreboard.reading import Entry, entries_in, new_ids, number_of, results_in, value_of
from planexec_lite.scoreboard.tasks import Task

AND = "; then "
"""Between the steps of the way that one task stands for."""
Answer = str | dict[str, Any] | list[ToolUse]
"""An answer: words, JSON, or calls of tools."""


def model(task: Task, faults: Faults | None = None) -> MockLLM:
    """Return the scripted model of `task`; `faults` may make its first plan a wrong one."""
    script = Script(task, faults or Faults())
    return MockLLM([{"name": f"the way in the world {task.name}", "reply": {"python": script.reply}}])


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the way that is planned as one step: a step of it, or several of which one task is made."""

    id: str
    steps: tuple[Step, ...]
    depends_on: tuple[str, ...]
    attempt: int = 1

    @property
    def description(self) -> str:
        """The part in words, from which an executor knows it again."""
        words = AND.join(step.description for step in self.steps)
        return f"Attempt {self.attempt}: {words}" if self.attempt > 1 else words


class Script:
    """What a model says that knows the plan of a task."""

    def __init__(self, task: Task, faults: Faults) -> None:
        self.task, self.faults = task, faults
        by_id = {step.id: step for step in task.plan.steps}
        self.way = [by_id[id] for wave in task.plan.waves() for id in wave]
        self.by_words = {step.description: step for step in (*self.way, CLEAR)}

    def reply(self, request: Request) -> Reply:
        """The answer to a request, and how long it takes."""
        answer: Answer = "1"
        if request.role == "planner":
            answer = self._plan(request) if request.schema else self._list()
        elif request.role == "executor":
            answer = self._work(request)
        latency = seconds_of(request.model, json.dumps(answer, default=str))
        if isinstance(answer, str):
            return Reply(text=answer, latency=latency)
        return Reply(json=answer, latency=latency) if isinstance(answer, dict) else Reply(calls=answer, latency=latency)

    # planners

    def _list(self) -> str:
        lines = [step.description for step in self.way]
        match self.faults.wrong_plan():
            case "missing step":
                lines = lines[:-1]
            case "dangling dependency":
                lines = ["Think about it", *lines]
        return "\n".join(f"{number}. {line}" for number, line in enumerate(lines, 1))

    def _plan(self, request: Request) -> dict[str, Any]:
        """The steps that are left of what the goal stands for, as many as are asked for."""
        asked = request.conversation[0].text.removeprefix("Goal: ")
        goal = asked.partition("\n")[0]
        inner, entries = goal != self.task.goal, entries_in(asked)
        way = self._named(goal) if inner else self.way
        tasks = '"tool"' not in json.dumps(request.schema["properties"]["steps"])
        ahead = re.search(r"Write the next (?:([0-9]+) )?steps? only", request.system)
        most = re.search(r"at most ([0-9]+) steps", request.system)
        voter = re.search(r"This is plan ([0-9]+) of", request.system)
        parts = _parts(way, int(most[1]) if most and tasks else len(way))
        if voter:
            parts = _other(parts, int(voter[1]))
        left, ids = _left(parts, entries)
        steps = left[: int(ahead[1] or 1)] if ahead else left
        known = results_in(asked) if inner else {}
        written = [_written(part, ids, known, tasks) for part in steps]
        if len(request.conversation) == 1 and not entries and not inner:
            written = _spoiled(written, self.faults.wrong_plan(int(voter[1]) if voter else 1))
        told = (
            [f"Result of step {step.id}: {{step_{ids[step.id]}_result}}" for step in way] if inner and not tasks else []
        )
        answer = "\n".join(told) or None
        return {"goal": goal, "steps": written, "rollback": [], "answer": answer, "complete": not ahead or not left}

    # executors

    def _work(self, request: Request) -> Answer:
        """The next call of a task, or what came of it."""
        asked, *turns = request.conversation
        task = re.split(r"\n(?=Use: |Done when: |Result of step )", asked.text.removeprefix("Task: "), maxsplit=1)[0]
        results, last = results_in(asked.text), "Done."
        todo = self._named(task)
        for turn in turns:
            if turn.role != "tool":
                continue
            last = turn.text
            if IN_THE_WAY in last:
                todo.insert(0, CLEAR)
            elif not re.match(r"\w+Error: ", last):
                results[todo.pop(0).id] = value_of(last)
        if task.startswith("Answer: "):
            return references.as_text(list(results.values())[-1])
        if not todo:
            return last
        return [ToolUse(str(todo[0].tool), _filled(todo[0].params, {}, results))]

    def _named(self, text: str) -> list[Step]:
        """The steps of the way that a task or a list of subtasks stands for."""
        lines = (
            re.sub(r"^(?:[0-9]+[.)] )?(?:Attempt [0-9]+: )?", "", line)
            for part in text.split(AND)
            for line in part.splitlines()
        )
        return [self.by_words[line] for line in lines if line in self.by_words]


def _parts(way: Sequence[Step], most: int) -> list[Part]:
    """The way in at most `most` parts, each of steps that follow one another."""
    size = -(-len(way) // most)
    groups = [tuple(way[start : start + size]) for start in range(0, len(way), size)]
    named = {step.id: str(number) if size > 1 else step.id for number, group in enumerate(groups, 1) for step in group}
    parts = []
    for group in groups:
        id = named[group[0].id]
        before = dict.fromkeys(named[other] for step in group for other in step.depends_on if other in named)
        parts.append(Part(id, group, tuple(other for other in before if other != id)))
    return parts


def _other(parts: Sequence[Part], number: int) -> list[Part]:
    """The way as voter `number` plans it: one part after the other, or as it is, or two at a time."""
    if number == 2:
        return list(parts)
    at_once = 1 if number == 1 else 2
    others = []
    for place, part in enumerate(parts):
        before = [one.id for one in parts[: place - place % at_once]]
        others.append(Part(part.id, part.steps, tuple(dict.fromkeys([*part.depends_on, *before]))))
    return others


def _left(parts: Sequence[Part], entries: Sequence[Entry]) -> tuple[list[Part], dict[str, str]]:
    """The parts that are not done, under the ids that they get now, and these ids by the parts' own.

    What failed gets a new id; what was in the way is cleared first.
    """
    done = {number_of(one.id): one.id for one in entries if one.state == "done"}
    failed = {number_of(one.id): one for one in entries if one.state == "failed"}
    taken = {one.id for one in entries if one.state == "failed" or (one.state == "superseded" and one.text)}
    ids, left = {}, []
    for part in parts:
        free = (id for id in (part.id, *new_ids(part.id)) if id not in taken)
        ids[part.id] = done.get(part.id) or next(free)
    blocked = [
        id for id, entry in failed.items() if IN_THE_WAY in entry.text and id not in done and "clear" not in done
    ]
    if blocked:
        ids["clear"] = "clear"
        left.append(Part("clear", (CLEAR,), ()))
    for part in parts:
        if part.id not in done:
            before = [*part.depends_on, *(["clear"] if part.id in blocked else [])]
            attempt = 1 + sum(number_of(id) == part.id for id in taken)
            left.append(Part(ids[part.id], part.steps, tuple(ids[id] for id in before), attempt))
    return left, ids


def _written(part: Part, ids: Mapping[str, str], known: Mapping[str, Any], tasks: bool) -> dict[str, Any]:
    words = {"id": part.id, "description": part.description, "depends_on": [*part.depends_on], "success_criteria": None}
    if tasks:
        return words
    step = part.steps[0]
    return {**words, "tool": step.tool, "params": _filled(step.params, ids, known)}


def _filled(value: Any, ids: Mapping[str, str], known: Mapping[str, Any]) -> Any:
    """`value` with references to what is known resolved, and the others under the ids that the steps have now."""
    if isinstance(value, Mapping):
        return {name: _filled(part, ids, known) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_filled(part, ids, known) for part in value]
    whole = references.whole(value)
    if whole and whole.step in known:
        return references.look_up(whole, known)
    for one in references.find(value):
        now = (
            references.as_text(references.look_up(one, known))
            if one.step in known
            else str(one._replace(step=ids[one.step]))
        )
        value = value.replace(str(one), now)
    return value


def _spoiled(steps: list[dict[str, Any]], wrong: str | None) -> list[dict[str, Any]]:
    """The same steps with what is wrong with them."""
    if wrong == "missing step":
        return steps[:-1]
    if wrong == "dangling dependency":
        return [*steps[:-1], {**steps[-1], "depends_on": [*steps[-1]["depends_on"], "99"]}]
    return steps
