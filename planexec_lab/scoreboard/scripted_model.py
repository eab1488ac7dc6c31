"""A scripted model that knows the task: it answers every variation's requests from the same knowledge.

Like a real model it reads only the request: the rules give the form, the record gives the done steps, the task gives the next
step. So one script answers every variation, and no variation gets a better model. An executor does only the task that it is
given; a role that sees the goal looks at the results.

`worlds.minds` has another scripted model, for the comparison: its plans carry criteria, by which an evaluator notices a
surprise, and it answers with a plan or a call.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from mock_llm.script import Reply, ToolUse
from mock_llm.types import Request
from planexec_lab.scoreboard.assumptions import seconds_of, tokens_in
from planexec_lab.scoreboard.faults import CLEAR, IN_THE_WAY, NO_FAULTS, Faults
from planexec_lab.scoreboard.knowledge import Part, parts_of, remaining, results_in
from planexec_lab.scoreboard.tasks import Task
from planexec_lab.timed_llm import TimedLLM
from planexec_lab.worlds.minds import Answer, entries_in, observed, value_of
from planexec_lite.plan import Step
from planexec_lite.tools import references

Content = str | dict[str, Any] | list[ToolUse]
"""An answer: words, JSON, or calls of tools."""


def model(task: Task, faults: Faults | None = None) -> TimedLLM:
    """Return the scripted model of `task`; `faults` may make its first plan a wrong one."""
    script = Script(task, faults or NO_FAULTS)
    return TimedLLM([{"name": f"the way in the world {task.name}", "reply": {"python": script.reply}}])


class Script:
    """The answers of a model that knows a task."""

    def __init__(self, task: Task, faults: Faults) -> None:
        self.task, self.faults = task, faults

    def reply(self, request: Request) -> Reply:
        """The answer to a request, and how long it takes."""
        answer: Content = "1"
        if "Role: planner" in request.system:
            answer = self._plan(request) if request.schema else self._list()
        elif "Role: executor" in request.system:
            answer = self._work(request)
        latency = seconds_of(request.model, tokens_in(json.dumps(answer, default=str)))
        if isinstance(answer, str):
            return Reply(text=answer, latency=latency)
        return Reply(json=answer, latency=latency) if isinstance(answer, dict) else Reply(calls=answer, latency=latency)

    # planners

    def _list(self) -> str:
        parts, _ = self.task.way.left([])
        lines = [part.description for part in parts]
        match self.faults.wrong_plan():
            case "missing step":
                lines = lines[:-1]
            case "dangling dependency":
                lines = [*lines, "Think about it"]
        return "\n".join(f"{number}. {line}" for number, line in enumerate(lines, 1))

    def _plan(self, request: Request) -> dict[str, Any]:
        """The steps that are left of what the goal stands for, as many as are asked for."""
        asked = request.conversation[0].text.removeprefix("Goal: ")
        goal = asked.partition("\n")[0]
        inner, entries = goal != self.task.goal, entries_in(asked)
        tasks = '"tool"' not in json.dumps(request.schema["properties"]["steps"])
        ahead = re.search(r"Write the next (?:([0-9]+) )?steps? only", request.system)
        at_most = re.search(r"at most ([0-9]+) steps", request.system)
        most = int(at_most[1]) if at_most and tasks else None
        voted = re.search(r"This is plan ([0-9]+) of", request.system)
        voter = int(voted[1]) if voted else None
        way = self.task.way.named(goal) if inner else []
        left, ids = remaining(parts_of(way, most), entries) if inner else self.task.way.left(entries, most, voter)
        steps = left[: int(ahead[1] or 1)] if ahead else left
        known = results_in(asked.partition("\n\nSo far:\n")[0]) if inner else {}
        written = [_written(part, ids, known, tasks) for part in steps]
        if len(request.conversation) == 1 and not entries and not inner:
            written = _spoiled(written, self.faults.wrong_plan(voter or 1))
        told = (
            [f"Result of step {step.id}: {{step_{ids[step.id]}_result}}" for step in way] if inner and not tasks else []
        )
        answer = "\n".join(told) or None
        return {"goal": goal, "steps": written, "rollback": [], "answer": answer, "complete": not ahead or not left}

    # executors

    def _work(self, request: Request) -> Content:
        """The next call of a task, or what came of it."""
        asked, *turns = request.conversation
        task = re.split(
            r"\n(?=Use: |Done when: |Text behind |Result of step )", asked.text.removeprefix("Task: "), maxsplit=1
        )[0]
        if task.startswith(self.task.goal):
            seen = [one for one in observed(request.body["messages"]) if not one.failed]
            blocked = bool(turns) and IN_THE_WAY in turns[-1].text
            match self.task.way.next(seen):
                case Answer(text):
                    return text
                case Step() as step:
                    step = CLEAR if blocked else step
                    return [ToolUse(str(step.tool), dict(step.params))]
        results, last = results_in(asked.text), "Done."
        todo = self.task.way.named(task)
        for turn in turns:
            if turn.role != "tool":
                continue
            last = turn.text
            if IN_THE_WAY in last:
                todo.insert(0, CLEAR)
            elif not re.match(r"\w+Error: ", last):
                results[todo.pop(0).id] = value_of(last)
        if task.startswith("Answer: "):
            return references.as_text([*results.values()][-1]) if results else "Nothing was found."
        if not todo:
            return last
        return [ToolUse(str(todo[0].tool), _filled(todo[0].params, {}, results))]


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
