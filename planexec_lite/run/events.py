"""All event types of a run in one place, with functions to write them as JSON and to read them back.

The events of every run are defined in `planexec_lite.core.events`, the others in the file of their capability.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import Any, get_args

from pydantic import TypeAdapter
from pydantic_core import to_jsonable_python

from planexec_lite.assembly import Event
from planexec_lite.capabilities.doubt import StepInDoubt, StepLate
from planexec_lite.capabilities.judging import Judged, Judgement, JudgeStarted
from planexec_lite.capabilities.news import NewsReceived
from planexec_lite.capabilities.once_calls import OuterKnown
from planexec_lite.capabilities.retries import BackoffEnded, BackoffStarted
from planexec_lite.capabilities.rollback import (
    RollbackStarted,
    UndoDone,
    UndoFailed,
    UndoLeft,
    UndoPaused,
    UndoStarted,
)
from planexec_lite.capabilities.streaming import StepProposed
from planexec_lite.core.events import (
    Action,
    Ended,
    Inside,
    Job,
    Observation,
    Outcome,
    Paused,
    PlanProposed,
    PlanReason,
    PlanStarted,
    Requeued,
    Reviewed,
    RunStarted,
    Status,
    StepBlocked,
    StepDone,
    StepFailed,
    StepPaused,
    StepSkipped,
    StepStarted,
    Thought,
)
from planexec_lite.core.questions import Decision, ExactCall, Grant, Question, undo_in_words
from planexec_lite.plan.data import fixed
from planexec_lite.tools import shown, uninterrupted

__all__ = [
    "Action", "BackoffEnded", "BackoffStarted", "Decision", "Ended", "Event", "ExactCall", "Grant", "Inner",
    "Inside", "Job", "JudgeStarted", "Judged", "Judgement", "NewsReceived", "Observation", "Outcome",
    "OuterKnown", "Paused", "PlanProposed", "PlanReason", "PlanStarted", "Question", "Requeued", "Reviewed",
    "RollbackStarted", "RunStarted", "Status", "StepBlocked", "StepDone", "StepFailed", "StepInDoubt",
    "StepLate", "StepPaused", "StepProposed", "StepSkipped", "StepStarted", "Thought",
    "UndoDone", "UndoFailed", "UndoLeft", "UndoPaused", "UndoStarted", "from_dict", "from_json", "to_dict",
    "to_json", "undo_in_words",
]  # fmt: skip

Inner = Thought | Action | Observation
_BY_NAME: dict[str, type[Any]] = {
    kind.__name__: kind for kind in (*get_args(Event), *get_args(Inner))
}


def to_dict(event: Any) -> dict[str, Any]:
    """Return an event as JSON-compatible data; `from_dict` reads it back."""
    if isinstance(event, Inside):
        inner = _inner_to_data(event.event)
        return {
            "event": "Inside",
            "at": event.at,
            "step": event.step,
            "run": event.run,
            "inner": inner,
        }
    return {"event": type(event).__name__, **_adapter(type(event)).dump_python(event, mode="json")}


def from_dict(data: dict[str, Any]) -> Event:
    """Return the event that `to_dict` wrote. Raises `ValueError` for other data."""
    if data.get("event") == "Inside":
        return Inside(
            data["at"], data["step"], _inner_from_data(data["inner"]), data.get("run", 0)
        )
    fields = {
        name: fixed(value) if name == "result" else value
        for name, value in data.items()
        if name != "event"
    }
    kind = _BY_NAME.get(str(data.get("event")))
    if kind is None:
        raise ValueError(f"unknown event {data.get('event')!r}; known: {', '.join(_BY_NAME)}")
    event: Event = _adapter(kind).validate_python(fields)
    return event


def to_json(event: Any) -> str:
    """Return an event as one line of JSON, without fields that have their default value; `from_json` reads it back."""
    if isinstance(event, Inside):
        return json.dumps(to_dict(event), ensure_ascii=False, allow_nan=False)
    kind = type(event)
    if _BY_NAME.get(kind.__name__) is not kind:
        raise TypeError(
            f"{kind.__name__} can't be written, because nothing could read it: add it to `assembly.Event`"
        )
    fields = _adapter(kind).serializer.to_json(event, exclude_defaults=True).decode()
    return f'{{"event":"{kind.__name__}",{fields[1:]}'


def from_json(line: str) -> Event:
    """Return the event that `to_json` wrote. Raises `ValueError`, `TypeError` or `LookupError` for other text."""
    data = json.loads(line)
    if not isinstance(data, dict):
        raise ValueError(f"an event is an object, not {shown(data)[:80]}")
    return from_dict(data)


def _inner_to_data(inner: Any) -> dict[str, Any]:
    """Return an emitted value as JSON-compatible data. A value that JSON can't represent becomes a string, so that
    the log stays writable.
    """
    try:
        known = type(inner) in _BY_NAME.values()
        data = (
            to_dict(inner)
            if known
            else {"data": to_jsonable_python(inner, fallback=shown, inf_nan_mode="strings")}
        )
        json.dumps(data, ensure_ascii=False, allow_nan=False).encode()
        return data
    except Exception:  # the value's own methods can raise any error
        return {"data": shown(inner).encode(errors="backslashreplace").decode()}


def _inner_from_data(data: dict[str, Any]) -> Any:
    """Return an emitted value. An event with invalid fields is returned as plain data."""
    if "data" in data and "event" not in data:
        return data["data"]
    try:
        return from_dict(data)
    except (ValueError, TypeError, LookupError):
        return data


@uninterrupted()
def _built(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


_adapter: Callable[[Any], TypeAdapter[Any]] = cache(_built)
