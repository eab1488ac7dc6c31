"""Reads plans in the forms that people and models write, even while a model is still writing.

This file also defines the canonical form of a plan, the digests of steps, and `Problem`.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from planexec_lite.plan.step import Step
from planexec_lite.tools import escaped, shown, suggest

P = TypeVar("P", bound=BaseModel)  # the class of plans

_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[ \t]*(\w*)", re.MULTILINE)
_PART = re.compile(r'("(?:[^"\\]|\\.)*+")(?=\s*:)|"(?:[^"\\]|\\.)*+"|[{}]')  # of a JSON text
_SHAPE = 'write {"goal": …, "steps": [{"id": …, "tool": …, "params": {…}, "depends_on": […]}]}'

ID_TAKES = "an id takes the letters a to z and A to Z, digits, '_', '.' and '-'"


@dataclass(frozen=True, slots=True)
class Problem:
    """One fault: a short `code`, the id of the `step` (None: the whole plan), a `message`, and a `hint` for the fix."""

    code: str
    step: str | None
    message: str
    hint: str = ""

    def __str__(self) -> str:
        where = "plan" if self.step is None else f"step {self.step}"
        return escaped(f"{where}: {self.message} [{self.code}]" + (f" — {self.hint}" if self.hint else ""))


class PlanError(ValueError):
    """A plan could not be read or is invalid. `problems` lists every problem; `text` is the input."""

    def __init__(self, problems: Iterable[Problem], text: str = "") -> None:
        self.problems = tuple(problems)
        self.text = text
        many = "1 problem" if len(self.problems) == 1 else f"{len(self.problems)} problems"
        shown = [f"  {problem}" for problem in self.problems[:20]]
        more = [f"  … and {len(self.problems) - 20} more"] if len(self.problems) > 20 else []
        super().__init__("\n".join([f"the plan has {many}:", *shown, *more]))

    def __reduce__(self) -> tuple[type[PlanError], tuple[tuple[Problem, ...], str]]:
        return PlanError, (self.problems, self.text)


def read(kind: type[P], source: Any) -> P:
    """Read `source` into a plan of the class `kind`; raise `PlanError` with every problem and the text read."""
    text = source.decode(errors="replace") if isinstance(source, bytes | bytearray) else source
    text = text if isinstance(text, str) else ""
    try:
        if isinstance(source, str | bytes | bytearray):
            written = source if isinstance(source, str) else bytes(source).decode()
            text_alone = unfenced(written.removeprefix("\ufeff"))
            data = from_json(text_alone, allow_inf_nan=False)
            named_once(text_alone)
        else:
            data = source
            json.dumps(data, ensure_ascii=False, default=str).encode()
        return kind.model_validate(_as_object(data))
    except ValidationError as error:
        raise PlanError(_from_pydantic(error, _as_object(data), kind), text) from None
    except PlanError as error:
        raise PlanError(error.problems, text) from None
    except (ValueError, TypeError, RecursionError) as error:
        hint = "answer with the JSON alone, no text before or after it; " + _SHAPE
        raise PlanError([Problem("not_json", None, f"this is not JSON: {error}", hint)], text) from None


def unfenced(text: str) -> str:
    """Return the JSON inside a fence, ```` ```json … ``` ````, or a text without a fence unchanged. Raises `ValueError`
    with the problem.

    A fence around the JSON is unambiguous, so it is removed. Text outside the fence could change the meaning of the
    plan, and with two blocks it is unclear which one is the plan, so both are errors.
    """
    opening = _FENCE.search(text)
    if opening is None or text[: opening.start()].lstrip()[:1] in ("{", "["):  # JSON that contains a fence in a string
        return text
    closing = re.compile(rf"{opening[1]}[ \t\r]*$", re.MULTILINE).search(text, opening.end())
    if closing is None:
        raise ValueError("the fence is not closed; the answer was probably cut off")
    before, after = text[: opening.start()].strip(), text[closing.end() :].strip()
    if _FENCE.search(after):
        raise ValueError("there are 2 fenced blocks or more, and only one can be the plan")
    if before or after:
        raise ValueError(f"there is text {'before' if before else 'after'} the fenced block")
    return text[opening.end() : closing.start()]


def named_once(text: str, start: int = 0, end: int = sys.maxsize) -> None:
    """Raise `ValueError` with the line if an object in the JSON `text` contains a name twice: its value is ambiguous."""
    names: list[set[str]] = []
    for part in _PART.finditer(text, start, end):
        if part[0] == "{":
            names.append(set())
        elif part[0] == "}":
            names.pop()
        elif part[1] and (name := json.loads(part[1])) in names[-1]:
            raise ValueError(f"line {1 + text.count(chr(10), 0, part.start())}: {name!r} occurs twice in one object")
        elif part[1]:
            names[-1].add(name)


def received(kind: type[P], given: Any, giver: str) -> P:
    """Return a validated copy of a caller's plan, made only from its fields.

    The caller can change the original later, pass a subclass with other behavior, or build it without validation; none
    of this affects the copy. Raises `TypeError` if `given` is not a plan, and `PlanError` if its fields are invalid.
    """
    if not isinstance(given, kind):
        raise TypeError(f"{giver} gave a {type(given).__name__} instead of a Plan; Plan.parse reads one")
    text = b""
    try:
        text = kind.__pydantic_serializer__.to_json(given, warnings=False)
        return kind.model_validate_json(text)
    except ValidationError as error:
        raise PlanError(_from_pydantic(error, json.loads(text), kind), text.decode()) from None
    except (ValueError, TypeError, RecursionError) as error:
        message = f"{giver} gave a plan that JSON can't represent: {error}"
        raise PlanError([Problem("not_json", None, message)]) from None


def canonical(plan: Any) -> dict[str, Any]:
    """Return the plan as plain data without defaults: fields in the order of the classes, arguments in alphabetical
    order.
    """
    return {
        "goal": plan.goal,
        "steps": [plain(step) for step in plan.steps],
        **plain(plan, leave_out={"goal", "steps"}),
    }


def _as_object(data: Any) -> dict[str, Any]:
    """Bring the outer shapes to ``{"goal": …, "steps": […]}``."""
    if isinstance(data, Mapping):
        named = [key for key in ("steps", "tasks", "plan") if key in data]
        if len(named) != 1:
            present = "it has " + (", ".join(map(repr, data)) or "no fields")
            raise PlanError([Problem("no_steps", None, f"a plan needs one list of steps; {present}", _SHAPE)])
        rest = {key: value for key, value in data.items() if key != named[0] and value is not None}
        return {**rest, "steps": _numbered(data[named[0]])}
    if isinstance(data, Sequence) and not isinstance(data, str | bytes | bytearray):
        return {"steps": _numbered(data)}
    raise PlanError([Problem("no_steps", None, f"a plan is an object or a list, not a {type(data).__name__}", _SHAPE)])


def _numbered(steps: Any) -> Any:
    """Number a list of tasks: if no step has an id or a dependency, each depends on the previous one."""
    if not isinstance(steps, list | tuple):
        raise PlanError([Problem("no_steps", None, f"steps are a list, not a {type(steps).__name__}", _SHAPE)])
    tasks = [{"description": step} if isinstance(step, str) else step for step in steps]
    if not all(isinstance(task, Mapping) and not {"id", "depends_on"} & task.keys() for task in tasks):
        return steps
    return [{"id": n, "depends_on": [n - 1] if n > 1 else [], **task} for n, task in enumerate(tasks, 1)]


def plain(model: BaseModel, leave_out: set[str] = frozenset()) -> dict[str, Any]:  # type: ignore[assignment]
    """Return a plan, step or call as plain data without defaults, with arguments in alphabetical order."""
    data = model.model_dump(mode="json", exclude_defaults=True, exclude=leave_out)
    return {key: _sorted(value) if key in ("params", "undo", "rollback") else value for key, value in data.items()}


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value, key=lambda key: (key != "tool", key))}
    return [_sorted(part) for part in value] if isinstance(value, list) else value


def _from_pydantic(error: ValidationError, data: dict[str, Any], kind: type[BaseModel]) -> list[Problem]:
    problems = []
    for e in error.errors(include_url=False):
        loc, step = list(e["loc"]), None
        if len(loc) >= 2 and loc[0] == "steps" and isinstance(loc[1], int):
            step, loc = _name_of(data["steps"], loc[1]), loc[2:]
        field = ".".join(map(str, loc)) or "it"
        if e["type"] == "missing":
            problems.append(Problem("missing_field", step, f"{field!r} is missing", _SHAPE))
        elif e["type"] == "extra_forbidden":
            known = list(kind.model_fields if step is None else Step.model_fields)
            message = f"there is no field {field!r}{suggest(field, known)}"
            problems.append(Problem("unknown_field", step, message, "known: " + ", ".join(known)))
        elif e["type"] == "string_pattern_mismatch":
            given = shown(e["input"]).encode("ascii", "backslashreplace").decode()
            problems.append(Problem("wrong_field", step, f"{field!r}: {ID_TAKES}; got {given}"))
        else:
            message = f"{field!r}: {e['msg'][0].lower()}{e['msg'][1:]}; got {shown(e['input'])}"
            problems.append(Problem("wrong_field", step, message))
    return problems


def _name_of(steps: Any, index: int) -> str:
    step = steps[index]
    named = step.get("id") if isinstance(step, Mapping) else getattr(step, "id", None)
    return str(named) if isinstance(named, str | int) else f"#{index + 1}"


def word_for_word(step: Step) -> str:
    """Return a digest of `step`: different steps have different digests."""
    return _digest(plain(step))


def lineages(steps: Mapping[str, Step], ids: Iterable[str], known: dict[str, str] | None = None) -> set[str]:
    """Return a digest of the lineage of each of `ids`. It changes if the step or one of its direct or indirect
    dependencies changes.

    `steps` are all steps by id, without a cycle. `known` is a cache of digests by step id; the function adds to it.
    """
    digests = {} if known is None else known
    ids = tuple(ids)
    left = [*ids]
    while left:
        id = left[-1]
        before = [other for other in steps[id].depends_on if other in steps]
        if waiting := [other for other in before if other not in digests]:
            left += waiting
            continue
        left.pop()
        if id not in digests:
            digests[id] = _digest([plain(steps[id]), [digests[other] for other in before]])
    return {digests[id] for id in ids}


def _digest(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


_LISTS = ("steps", "tasks", "plan")


_INSIDE_STRING = re.compile(r'(?:[^"\\]|\\.)*+', re.DOTALL)


class StepReader:
    """Reads JSON text piece by piece and returns each step when it is complete.

    It reads the list under "steps", "tasks" or "plan" of an object, or a bare list. It reads every character once.
    Invalid text yields no steps; at the end `Plan.parse` reads the whole text and reports the problems.
    """

    def __init__(self) -> None:
        self.text = ""
        self._at = 0  # position in the text
        self._open: list[str] = []  # open brackets
        self._key = ""  # the last string at the top level: the key of the next value
        self._steps_at: int | None = None  # number of open brackets inside the list of steps
        self._string_from: int | None = None
        self._step_from = 0
        self._begun = False

    def feed(self, piece: str) -> list[dict[str, Any]]:
        """Add more text and return the steps that it completes."""
        self.text += piece
        steps = []
        while self._at < len(self.text):
            char = self.text[self._at]
            if self._string_from is not None:
                inside = _INSIDE_STRING.match(self.text, self._at)
                self._at = inside.end() if inside else self._at
                if self.text[self._at : self._at + 1] != '"':
                    break
                if len(self._open) == 1:
                    self._key = self.text[self._string_from + 1 : self._at]
                self._string_from = None
            elif char == '"' and self._open:
                self._string_from = self._at
            elif char in "{[" and (self._open or not self._begun):
                self._opens(char)
            elif char in "}]" and self._open:
                self._open.pop()
                if char == "}" and len(self._open) == self._steps_at:
                    with suppress(ValueError, RecursionError):
                        steps.append(json.loads(self.text[self._step_from : self._at + 1]))
                elif self._steps_at is not None and len(self._open) < self._steps_at:
                    self._steps_at = None
            elif not self._open and not char.isspace():
                break  # text or a fence around the JSON: `Plan.parse` reads the whole answer
            self._at += 1
        return steps

    def _opens(self, char: str) -> None:
        named = self._open == ["{"] and self._key in _LISTS
        if char == "[" and (not self._open or named):
            self._steps_at = len(self._open) + 1
        elif char == "{" and len(self._open) == self._steps_at:
            self._step_from = self._at
        self._open.append(char)
        self._begun = True
