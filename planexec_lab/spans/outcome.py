"""Events in spans: their fields as attributes, tool calls, and errors."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from pydantic_core import to_jsonable_python

from planexec_lab.spans import names
from planexec_lab.spans.span import Value, utf8
from planexec_lite.run import events as e
from planexec_lite.tools import shown

# the fields of jobs and outcomes without contents
_PLAIN = ("step", "attempt", "seconds", "in_doubt", "final", "verdict", "rejects")
# no other words than these, because they could be private contents
_RAISED = re.compile(r"(\w*(?:Error|Exception|Interrupt|Exit|Warning)): ")


class Failure(NamedTuple):
    """Why something failed: a word for the kind of error, and what was said."""

    kind: str
    words: str


def fields_of(event: Any) -> dict[str, Value]:
    """The fields of a job or an outcome that have no contents, as attributes of the kit's own."""
    plain = (*_PLAIN, "reason") if isinstance(event, e.PlanStarted) else _PLAIN
    return {names.OWN + name: value for name in plain if (value := getattr(event, name, None)) is not None}


def as_json(value: Any) -> str:
    """A value as JSON; a value that JSON can't hold is described."""
    return json.dumps(to_jsonable_python(value, fallback=shown, inf_nan_mode="strings"), ensure_ascii=False)


def event_text(event: e.Event) -> str:
    """An event as JSON; half a pair of surrogates, which a plan made in Python may hold, becomes a question mark."""
    try:
        return e.to_json(event)
    except ValueError:
        told = {name: value for name, value in e.to_dict(event).items() if value is not None or name == "plan"}
        return utf8(json.dumps(told, ensure_ascii=False))


def of_tool(tool: str, params: Any, result: Any, content: bool, *, done: bool) -> dict[str, Value]:
    """The attributes of a tool's call."""
    attributes: dict[str, Value] = {names.OPERATION: names.EXECUTE_TOOL, names.TOOL: tool, names.TOOL_TYPE: "function"}
    if content:
        attributes[names.ARGUMENTS] = as_json(params)
        attributes |= {names.RESULT: as_json(result)} if done else {}
    return attributes


def failure_of(event: Any) -> Failure | None:
    """Why a job failed; None where it did not, or has not ended."""
    if isinstance(event, e.StepFailed | e.UndoFailed | e.Judged | e.PlanProposed) and event.error is not None:
        return raised(event.error)
    if isinstance(event, e.PlanProposed) and (event.problems or event.plan is None):
        return Failure("invalid_plan", "; ".join(map(str, event.problems)) or "it is not a plan")
    cut_off = isinstance(event, e.StepInDoubt) or (isinstance(event, e.Requeued) and event.reason == "interrupted")
    return Failure("interrupted", "interrupted") if cut_off else None


def raised(error: str) -> Failure:
    """An error's words, and their kind: what was raised, where they begin with that."""
    kind = _RAISED.match(error)
    return Failure(kind[1] if kind else names.OTHER_ERROR, error)
