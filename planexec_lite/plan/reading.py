"""Reading plans: from the shapes that people and models write, into one; and back into one canonical form."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from planexec_lite.plan.problems import ID_TAKES, PlanError, Problem
from planexec_lite.plan.step import Step
from planexec_lite.tools import shown, suggest

P = TypeVar("P", bound=BaseModel)  # the class of plans

_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[ \t]*(\w*)", re.MULTILINE)
_SHAPE = 'write {"goal": …, "steps": [{"id": …, "tool": …, "params": {…}, "depends_on": […]}]}'


def read(kind: type[P], source: Any) -> P:
    """Read `source` into a plan of the class `kind`; raise `PlanError` with every problem and the text read."""
    text = source.decode(errors="replace") if isinstance(source, bytes | bytearray) else source
    text = text if isinstance(text, str) else ""
    try:
        if isinstance(source, str | bytes | bytearray):
            written = source if isinstance(source, str) else bytes(source).decode()
            text_alone = unfenced(written)
            data = from_json(text_alone, allow_inf_nan=False)
            json.loads(text_alone, object_pairs_hook=_named_once)
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
    """The JSON inside a fence, ```` ```json … ``` ````; a text without one as it is. Raises `ValueError` in words.

    A fence has one meaning only, so it is taken off. Words beside it may change what the plan means, and of two blocks
    nobody knows which is meant: both go back to the writer.
    """
    opening = _FENCE.search(text)
    if opening is None or text[: opening.start()].lstrip()[:1] in ("{", "["):  # JSON that holds a fence in a text
        return text
    closing = re.compile(rf"{opening[1]}[ \t\r]*$", re.MULTILINE).search(text, opening.end())
    if closing is None:
        raise ValueError("the fence is not closed; the answer may have been cut off")
    before, after = text[: opening.start()].strip(), text[closing.end() :].strip()
    if _FENCE.search(after):
        raise ValueError("there are 2 fenced blocks or more, and only one can be the plan")
    if before or after:
        raise ValueError(f"there is text {'before' if before else 'after'} the fenced block")
    return text[opening.end() : closing.start()]


def _named_once(pairs: list[tuple[str, Any]]) -> None:
    """Raise `ValueError` where a name stands twice in one object: of its two values, nobody knows which is meant."""
    names: set[str] = set()
    for name, _ in pairs:
        if name in names:
            raise ValueError(f"the name {name!r} stands twice in one object")
        names.add(name)


def received(kind: type[P], given: Any, giver: str) -> P:
    """Return a copy of a plan that somebody hands in, made of nothing but what its fields say, and validated.

    Whoever hands it in may keep theirs and change it; it may be of a class that says one thing and is another; and what
    was made without validation is validated here. Raises `TypeError` when it is no plan, `PlanError` when it can't be
    one.
    """
    if not isinstance(given, kind):
        raise TypeError(f"{giver} gave a {type(given).__name__}; a Plan is wanted, and Plan.parse reads one")
    text = b""
    try:
        text = kind.__pydantic_serializer__.to_json(given, warnings=False)
        return kind.model_validate_json(text)
    except ValidationError as error:
        raise PlanError(_from_pydantic(error, json.loads(text), kind), text.decode()) from None
    except (ValueError, TypeError, RecursionError) as error:
        raise PlanError([Problem("not_json", None, f"{giver} gave a plan that JSON can't hold: {error}")]) from None


def canonical(plan: Any) -> dict[str, Any]:
    """The plan as plain data without defaults: fields in the order of the classes, arguments in alphabetical order."""
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
    """Number an ordered list of tasks: where no step has an id or a dependency, each waits for the one before it."""
    if not isinstance(steps, list | tuple):
        raise PlanError([Problem("no_steps", None, f"steps are a list, not a {type(steps).__name__}", _SHAPE)])
    tasks = [{"description": step} if isinstance(step, str) else step for step in steps]
    if not all(isinstance(task, Mapping) and not {"id", "depends_on"} & task.keys() for task in tasks):
        return steps
    return [{"id": n, "depends_on": [n - 1] if n > 1 else [], **task} for n, task in enumerate(tasks, 1)]


def plain(model: BaseModel, leave_out: set[str] = frozenset()) -> dict[str, Any]:  # type: ignore[assignment]
    """A plan, a step or a call as plain data without defaults, arguments in alphabetical order."""
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
