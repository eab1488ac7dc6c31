"""Writing a plan without loss, unless the caller allows a loss.

The error names every field without a place in the format. The rest is written, read again and compared with the plan: a writer
that would change anything raises an error, so everything that `formats.write` returns can be read back.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from typing import Any

from planexec_lite.plan import Plan, PlanError, Problem, Step
from planexec_lite.tools import shown, suggest

OF_PLAN = ("goal", "answer", "rollback", "complete", "supersedes")
OF_STEP = ("description", "tool", "params", "success_criteria", "timeout", "retries", "gate", "run_anyway", "effects",
           "undo")  # fmt: skip
ORDER = "order"
"""The name in `leave_out` for the order of the ids in `depends_on`."""


def write(
    plan: Plan,
    format: str,
    writer: Callable[[Plan], str],
    reader: Callable[[str], Plan],
    carries: Collection[str],
    leave_out: Collection[str],
) -> str:
    """Return `plan` as text; raise `PlanError` with everything that the format can't hold and `leave_out` does not name."""
    plan = _without(plan, _known(leave_out), carries)
    if lost := list(_lost(plan, format, carries)):
        raise PlanError(lost)
    try:
        text = writer(plan)
        again = reader(text)
    except PlanError as error:
        raise PlanError(_unwritable(error, format)) from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise PlanError([Problem("unwritable", None, f"{format} can't hold this plan: {error}")]) from None
    if ORDER in leave_out:
        plan, again = _sorted(plan), _sorted(again)
    if plan != again:
        raise PlanError(_changed(plan, again, format))
    return text


def _known(leave_out: Collection[str]) -> Collection[str]:
    known = (*OF_PLAN, *OF_STEP, ORDER)
    if isinstance(leave_out, str):
        raise TypeError(f"leave_out is a list of names, such as [{leave_out!r}]")
    for name in leave_out:
        if name not in known:
            raise ValueError(
                f"leave_out: there is nothing called {name!r}{suggest(name, known)}; it may name {', '.join(known)}"
            )
    return leave_out


def _without(plan: Plan, leave_out: Collection[str], carries: Collection[str]) -> Plan:
    """The plan without the fields that `leave_out` allows to drop and the format can't hold."""
    gone = {name for name in leave_out if name not in carries}
    steps = [{name: value for name, value in _fields(step).items() if name not in gone} for step in plan.steps]
    fields = {name: value for name, value in _fields(plan).items() if name not in gone}
    return plan if not gone else Plan(**{**fields, "steps": tuple(Step(**step) for step in steps)})


def _fields(model: Plan | Step) -> dict[str, Any]:
    return {name: getattr(model, name) for name in type(model).model_fields}


def _lost(plan: Plan, format: str, carries: Collection[str]) -> list[Problem]:
    """A problem for each field that says something and has no place in the format."""
    lost = {name: "" for name in OF_PLAN if name not in carries and _says(plan, name)}
    for name in OF_STEP:
        ids = [step.id for step in plan.steps if _says(step, name)] if name not in carries else []
        if ids:
            lost[name] = f" of step{'s' if len(ids) > 1 else ''} {', '.join(ids[:8])}{', …' if len(ids) > 8 else ''}"
    hint = f"write it as native, which keeps everything, or name the fields to leave out: leave_out={sorted(lost)}"
    return [Problem("unwritable", None, f"{format} has no place for the {name}{of}", hint) for name, of in lost.items()]


def _says(model: Plan | Step, name: str) -> bool:
    return bool(getattr(model, name) != type(model).model_fields[name].get_default(call_default_factory=True))


def _unwritable(error: PlanError, format: str) -> list[Problem]:
    return [
        problem
        if problem.code == "unwritable"
        else Problem("unwritable", problem.step, f"{format} would not be read back: {problem.message}", problem.hint)
        for problem in error.problems
    ]


def _sorted(plan: Plan) -> Plan:
    steps = [step.model_copy(update={"depends_on": tuple(sorted(step.depends_on))}) for step in plan.steps]
    return plan.model_copy(update={"steps": tuple(steps)})


def _changed(plan: Plan, again: Plan, format: str) -> list[Problem]:
    """A problem for each field that would be another one when the text is read back."""
    if [step.id for step in plan.steps] != [step.id for step in again.steps]:
        message = f"{format} would be read back with the steps {shown([step.id for step in again.steps])}"
        return [Problem("unwritable", None, message, "give each step a different id that the format allows")]
    pairs = [(None, plan, again), *((one.id, one, other) for one, other in zip(plan.steps, again.steps, strict=True))]
    problems = []
    for where, one, other in pairs:
        for name in type(one).model_fields:
            kept, changed = getattr(one, name), getattr(other, name)
            if name != "steps" and _text(kept) != _text(changed):
                message = f"{format} would be read back with {name} {shown(changed)}, and not {shown(kept)}"
                problems.append(Problem("unwritable", where, message, _hint(one, other, name)))
    return problems


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)


def _hint(one: Any, other: Any, name: str) -> str:
    if name != "depends_on":
        return "write it as native, or change it"
    if sorted(one.depends_on) == sorted(other.depends_on):
        return f"only the order differs: write depends_on in this order, or pass leave_out=[{ORDER!r}]"
    return "this format knows dependencies from the results that a step uses; write it as native, mermaid or dot"
