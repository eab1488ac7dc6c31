"""The parts of `Plan.parse`: the forms that people and models write, and the words for each fault.

This file also reads the steps of a plan that a model is still writing, and defines the digests of steps, `Problem` and `PlanError`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from typing import Any

from pydantic_core import ErrorDetails

from planexec_lite.frozen import frozen
from planexec_lite.plan.step import PlanContent, Step, canonical
from planexec_lite.tools import escaped, shown, suggest
from planexec_lite.tools.signature import Data

_FENCED = re.compile(r"(`{3,}+|~{3,}+)[ \t]*\w*(?P<inside>.*)\1", re.DOTALL)
SHAPE = 'write {"goal": …, "steps": [{"id": …, "tool": …, "params": {…}, "depends_on": […]}]}'

_LISTS = ("steps", "tasks", "plan")  # the names of the list of steps
_MARK = re.compile(r'\\.|["{}\[\]]', re.DOTALL)
_LIST = re.compile(r'(?<!\\)"(?:steps|tasks|plan)"\s*:\s*$')  # before its bracket

MOST_SHOWN = 20  # problems in the message of a `PlanError`
ID_TAKES = "an id takes the letters a to z and A to Z, digits, '_', '.' and '-'"


@frozen
class Problem:
    """One fault: a short `code`, the id of the `step` (None: the whole plan), a `message`, and a `hint` for the fix."""

    code: str
    step: str | None
    message: str
    hint: str = ""

    def __str__(self) -> str:
        where = "plan" if self.step is None else f"step {self.step}"
        hint = f" — {self.hint}" if self.hint else ""
        return escaped(f"{where}: {self.message} [{self.code}]{hint}")


class PlanError(ValueError):
    """A plan could not be read or is invalid. `problems` lists every problem; `text` is the input."""

    def __init__(
        self,
        problems: Iterable[Problem],
        text: str = "",
    ) -> None:
        self.problems = tuple(problems)
        self.text = text
        super().__init__(self.problems, text)

    def __str__(self) -> str:
        count = len(self.problems)
        lines = ["the plan has 1 problem:" if count == 1 else f"the plan has {count} problems:"]
        lines += [f"  {problem}" for problem in self.problems[:MOST_SHOWN]]
        if count > MOST_SHOWN:
            lines.append(f"  … and {count - MOST_SHOWN} more")
        return "\n".join(lines)


def unfenced(text: str) -> str:
    """Return the JSON inside a fence, ```` ```json … ``` ````, or any other text unchanged.

    A fence around the JSON is unambiguous, so it is removed. Text outside the fence could change the meaning of the
    plan, and with two blocks it is unclear which one is the plan, so neither is read as JSON.
    """
    fenced = _FENCED.fullmatch(text.strip())
    return fenced["inside"] if fenced else text


def as_object(data: Any) -> Data:
    """Bring the outer shapes to ``{"goal": …, "steps": […]}``."""
    if isinstance(data, list | tuple):
        data = {"steps": data}
    if not isinstance(data, Mapping):
        raise _no_steps(f"a plan is an object or a list, not a {type(data).__name__}")
    named = [name for name in _LISTS if name in data]
    if len(named) != 1:
        fields = ", ".join(map(repr, data)) or "no fields"
        raise _no_steps(f"a plan needs one list of steps; it has {fields}")
    plan = {name: value for name, value in data.items() if value is not None}
    plan["steps"] = _numbered(plan.pop(named[0], None))
    return plan


def _numbered(steps: Any) -> Any:
    """Number a list of tasks: if no step has an id or a dependency, each depends on the previous one."""
    if not isinstance(steps, list | tuple):
        raise _no_steps(f"steps are a list, not a {type(steps).__name__}")
    tasks: list[Data] = []
    for number, step in enumerate(steps, 1):
        task = {"description": step} if isinstance(step, str) else step
        if not isinstance(task, Mapping) or {"id", "depends_on"} & task.keys():
            return steps
        own = {"id": number, "depends_on": number - 1 or None}
        tasks.append({**own, **task})
    return tasks


def _no_steps(message: str) -> PlanError:
    return PlanError([Problem("no_steps", None, message, SHAPE)])


def problem_of(details: ErrorDetails, data: Data) -> Problem:
    """Return the problem of one field in the words of plans; `data` is what pydantic read."""
    step = None
    fields, place = PlanContent.model_fields, details["loc"]
    if len(place) >= 2 and place[0] == "steps" and isinstance(place[1], int):
        written = data["steps"][place[1]]
        name = written.get("id") if isinstance(written, Mapping) else None
        step = str(name) if isinstance(name, str | int) else f"#{place[1] + 1}"
        fields, place = Step.model_fields, place[2:]
    field = ".".join(map(str, place)) or "it"
    kind = details["type"]
    if kind == "missing":
        return Problem("missing_field", step, f"{field!r} is missing", SHAPE)
    if kind == "extra_forbidden":
        message = f"there is no field {field!r}{suggest(field, fields)}"
        return Problem("unknown_field", step, message, "known: " + ", ".join(fields))
    words, given = details["msg"], shown(details["input"])
    if kind == "string_pattern_mismatch":
        words, given = ID_TAKES, given.encode("ascii", "backslashreplace").decode()
    return Problem("wrong_field", step, f"{field!r}: {words[0].lower()}{words[1:]}; got {given}")


def word_for_word(step: Step) -> str:
    """Return a digest of `step`: different steps have different digests."""
    return _digest(canonical(step))


def lineages(
    steps: Mapping[str, Step],
    ids: Collection[str],
    known: dict[str, str] | None = None,
) -> set[str]:
    """Return a digest of the lineage of each of `ids`. It changes if the step or one of its direct or indirect
    dependencies changes.

    `steps` are all steps by id. `known` is a cache of digests by step id; the function adds to it. Ids that later plans use
    again can form a cycle: a step does not count among its own dependencies.
    """
    digests = {} if known is None else known
    left, around = [*ids], set[str]()
    while left:
        step = left[-1]
        before = [other for other in steps[step].depends_on if other in steps]
        if waiting := [other for other in before if other not in digests and other not in around]:
            around.add(step)
            left += waiting
            continue
        left.pop()
        if step not in digests:
            lineage = sorted(digests[other] for other in before if other in digests)
            digests[step] = _digest([canonical(steps[step]), lineage])
    return {digests[step] for step in ids}


def _digest(content: Any) -> str:
    text = json.dumps(content, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


class StepReader:
    """Reads JSON text piece by piece and returns each step when it is complete.

    It reads the list under "steps", "tasks" or "plan" of an object, or a bare list. It reads every character once.
    Invalid text yields no steps; at the end `Plan.parse` reads the whole text and reports the problems.
    """

    def __init__(self) -> None:
        self.text = ""
        self._at = 0  # position in the text
        self._open = ""  # open brackets
        self._steps: str | None = None  # the open brackets inside the list of steps
        self._step_from = 0
        self._in_string = False

    def feed(self, piece: str) -> list[Data]:
        """Add more text and return the steps that it completes."""
        self.text += piece
        steps = []
        for match in _MARK.finditer(self.text, self._at):
            mark, self._at = match[0], match.end()
            if mark == '"':
                self._in_string = not self._in_string
            elif self._in_string:
                continue
            elif mark in "{[":
                self._opens(mark, match.start())
            elif mark in "}]":
                self._open = self._open[:-1]
                if mark == "}" and self._open == self._steps:
                    with suppress(ValueError, RecursionError):
                        steps.append(json.loads(self.text[self._step_from : self._at]))
                elif len(self._open) < len(self._steps or ""):
                    self._steps = None
        # a backslash at the end belongs to the next character
        self._at = max(self._at, len(self.text) - self.text.endswith("\\"))
        return steps

    def _opens(self, bracket: str, begin: int) -> None:
        if self._open == self._steps:
            self._step_from = begin
        elif not self._open and self.text[:begin].strip():
            return  # text or a fence around the JSON: `Plan.parse` reads the whole answer
        elif bracket == "[":
            named = self._open == "{" and _LIST.search(self.text, max(begin - 100, 0), begin)
            if named or not self._open:
                self._steps = self._open + bracket
        self._open += bracket
