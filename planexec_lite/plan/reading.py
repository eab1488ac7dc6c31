"""Reading plans: from the shapes that people and models write, into one; and back into one canonical form."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from planexec_lite.plan.problems import PlanError, Problem
from planexec_lite.tools import shown, suggest

if TYPE_CHECKING:
    from planexec_lite.plan.model import Plan

_SHAPE = 'write {"goal": …, "steps": [{"id": …, "tool": …, "params": {…}, "depends_on": […]}]}'


def read(kind: type[Plan], source: Any) -> Plan:
    """Read `source` into a plan of the class `kind`; raise `PlanError` with every problem and the text read."""
    text = source.decode(errors="replace") if isinstance(source, bytes | bytearray) else source
    text = text if isinstance(text, str) else ""
    try:
        if isinstance(source, str | bytes | bytearray):
            data = from_json(source, allow_inf_nan=False)
        else:
            data = source
            json.dumps(data, ensure_ascii=False, default=str).encode()
        return kind.model_validate(_as_object(data))
    except ValidationError as error:
        raise PlanError(_from_pydantic(error, _as_object(data)), text) from None
    except PlanError as error:
        raise PlanError(error.problems, text) from None
    except (ValueError, TypeError, RecursionError) as error:
        hint = "answer with the JSON alone, no text before or after it; " + _SHAPE
        raise PlanError([Problem("not_json", None, f"this is not JSON: {error}", hint)], text) from None


def canonical(plan: Plan) -> dict[str, Any]:
    """The plan as plain data without defaults: fields in the order of the classes, arguments in alphabetical order."""
    return {
        "goal": plan.goal,
        "steps": [_plain(step) for step in plan.steps],
        **_plain(plan, leave_out={"goal", "steps"}),
    }


def _as_object(data: Any) -> dict[str, Any]:
    """Bring the outer shapes to ``{"goal": …, "steps": […]}``."""
    if isinstance(data, Mapping):
        named = [key for key in ("steps", "tasks", "plan") if key in data]
        if len(named) != 1:
            found = "it has " + (", ".join(map(repr, data)) or "no fields")
            raise PlanError([Problem("no_steps", None, f"a plan needs one list of steps; {found}", _SHAPE)])
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


def _plain(model: BaseModel, leave_out: set[str] = frozenset()) -> dict[str, Any]:  # type: ignore[assignment]
    data = model.model_dump(mode="json", exclude_defaults=True, exclude=leave_out)
    return {key: _sorted(value) if key in ("params", "undo", "rollback") else value for key, value in data.items()}


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value, key=lambda key: (key != "tool", key))}
    return [_sorted(part) for part in value] if isinstance(value, list) else value


def _from_pydantic(error: ValidationError, data: dict[str, Any]) -> list[Problem]:
    problems = []
    for e in error.errors(include_url=False):
        loc, step = list(e["loc"]), None
        if len(loc) >= 2 and loc[0] == "steps" and isinstance(loc[1], int):
            step, loc = _name_of(data["steps"], loc[1]), loc[2:]
        field = ".".join(map(str, loc)) or "it"
        if e["type"] == "missing":
            problems.append(Problem("missing_field", step, f"{field!r} is missing", _SHAPE))
        elif e["type"] == "extra_forbidden":
            near = suggest(field, _fields(step))
            problems.append(
                Problem(
                    "unknown_field", step, f"there is no field {field!r}{near}", "known: " + ", ".join(_fields(step))
                )
            )
        else:
            said = f"{field!r}: {e['msg'][0].lower()}{e['msg'][1:]}; got {shown(e['input'])}"
            problems.append(Problem("wrong_field", step, said))
    return problems


def _fields(step: str | None) -> list[str]:
    from planexec_lite.plan.model import Plan, Step

    return list(Plan.model_fields if step is None else Step.model_fields)


def _name_of(steps: Any, index: int) -> str:
    step = steps[index]
    named = step.get("id") if isinstance(step, Mapping) else getattr(step, "id", None)
    return str(named) if isinstance(named, str | int) else f"#{index + 1}"
