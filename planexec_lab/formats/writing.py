"""Writing a plan without loss, unless the caller allows a loss.

The text is read again and compared with the plan. A field that would come back empty is lost, as is what was left out when the
plan was read: an error, unless a loss is allowed. Any other difference is always an error. So everything that `formats.write`
returns can be read back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from planexec_lab.formats.steps import LossyPlan
from planexec_lite.plan import Plan, PlanError, Problem
from planexec_lite.tools import shown

_ALLOW = "write it as native, which keeps everything, or allow the loss: allow_loss=True"


def write(
    plan: Plan, format: str, writer: Callable[[Plan], str], reader: Callable[[str], Plan], allow_loss: bool
) -> str:
    """Return `plan` as text; raise `PlanError` with everything that the format can't hold."""
    problems = list(plan.left_out) if isinstance(plan, LossyPlan) else []
    try:
        text = writer(plan)
        problems += _changed(plan, reader(text), format)
    except PlanError as error:
        problems += [_unwritable(problem, format) for problem in error.problems]
    except (ValueError, RecursionError, MemoryError) as error:
        problems.append(Problem("unwritable", None, f"{format} can't hold this plan: {error}"))
    problems = [problem for problem in problems if not (allow_loss and problem.code == "left_out")]
    if problems:
        raise PlanError(problems)
    return text


def _unwritable(problem: Problem, format: str) -> Problem:
    if problem.code == "unwritable":
        return problem
    return Problem("unwritable", problem.step, f"{format} would not be read back: {problem.message}", problem.hint)


def _changed(plan: Plan, again: Plan, format: str) -> list[Problem]:
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
            if name == "steps" or kept == changed or (name == "depends_on" and sorted(kept) == sorted(changed)):
                continue
            if name != "depends_on" and changed == field.get_default(call_default_factory=True):
                lost.setdefault(name, []).extend([where] if where else [])
                continue
            hint = "write it as native, or change it"
            if name == "depends_on":
                hint = "this format knows dependencies from the results that a step uses; write it as native, mermaid or dot"
            message = f"{format} would be read back with {name} {shown(changed)}, and not {shown(kept)}"
            problems.append(Problem("unwritable", where, message, hint))
    for name, ids in lost.items():
        steps = f" of step{'s' if len(ids) > 1 else ''} {', '.join(ids[:8])}" if ids else ""
        problems.append(Problem("left_out", None, f"{format} has no place for the {name}{steps}", _ALLOW))
    return problems
