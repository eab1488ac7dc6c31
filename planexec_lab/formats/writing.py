"""Writing a plan without loss, unless the caller allows a loss.

The text is read again and compared with the plan. A field that would come back empty is lost: an error, unless `leave_out` names
it. Any other difference is an error. So everything that `formats.write` returns can be read back.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from planexec_lite.plan import Plan, PlanError, Problem, Step
from planexec_lite.tools import shown, suggest

ORDER = "order"
"""The name in `leave_out` for the order of the ids in `depends_on`."""

_NAMES = [name for kind in (Plan, Step) for name in kind.model_fields if name not in ("steps", "id", "depends_on")]


def write(
    plan: Plan, format: str, writer: Callable[[Plan], str], reader: Callable[[str], Plan], leave_out: Collection[str]
) -> str:
    """Return `plan` as text; raise `PlanError` with everything that the format can't hold and `leave_out` does not name."""
    if isinstance(leave_out, str):
        raise TypeError(f"leave_out is a list of names, such as [{leave_out!r}]")
    known = (*_NAMES, ORDER)
    for name in leave_out:
        if name not in known:
            near = f"there is nothing called {name!r}{suggest(name, known)}"
            raise ValueError(f"leave_out: {near}; it may name {', '.join(known)}")
    try:
        text = writer(plan)
        problems = _changed(plan, reader(text), format, leave_out)
    except PlanError as error:
        problems = [_unwritable(problem, format) for problem in error.problems]
    except (ValueError, RecursionError, MemoryError) as error:
        problems = [Problem("unwritable", None, f"{format} can't hold this plan: {error}")]
    if problems:
        raise PlanError(problems)
    return text


def _unwritable(problem: Problem, format: str) -> Problem:
    if problem.code == "unwritable":
        return problem
    return Problem("unwritable", problem.step, f"{format} would not be read back: {problem.message}", problem.hint)


def _changed(plan: Plan, again: Plan, format: str, leave_out: Collection[str]) -> list[Problem]:
    """A problem for each field that is missing or another one when the text is read back."""
    if [step.id for step in plan.steps] != [step.id for step in again.steps]:
        message = f"{format} would be read back with the steps {shown([step.id for step in again.steps])}"
        return [Problem("unwritable", None, message, "give each step a different id that the format allows")]
    pairs: list[tuple[str | None, Any, Any]] = [(None, plan, again)]
    pairs += [(one.id, one, other) for one, other in zip(plan.steps, again.steps, strict=True)]
    problems, lost = [], dict[str, list[str]]()
    for where, one, other in pairs:
        for name, field in type(one).model_fields.items():
            kept, changed = getattr(one, name), getattr(other, name)
            only_order = name == "depends_on" and sorted(kept) == sorted(changed)
            if name == "steps" or kept == changed or (only_order and ORDER in leave_out):
                continue
            if name != "depends_on" and changed == field.get_default(call_default_factory=True):
                lost.setdefault(name, []).extend([where] if where else [])
                continue
            hint = "write it as native, or change it"
            if name == "depends_on":
                hint = "this format knows dependencies from the results that a step uses; write it as native, mermaid or dot"
            if only_order:
                hint = f"only the order differs: write depends_on in this order, or pass leave_out=[{ORDER!r}]"
            message = f"{format} would be read back with {name} {shown(changed)}, and not {shown(kept)}"
            problems.append(Problem("unwritable", where, message, hint))
    lost = {name: ids for name, ids in lost.items() if name not in leave_out}
    hint = f"write it as native, which keeps everything, or name the fields to leave out: leave_out={sorted(lost)}"
    for name, ids in lost.items():
        steps = f" of step{'s' if len(ids) > 1 else ''} {', '.join(ids[:8])}" if ids else ""
        problems.append(Problem("unwritable", None, f"{format} has no place for the {name}{steps}", hint))
    return problems
