"""Events as plain data, ready for JSON, and back."""

from __future__ import annotations

from typing import Any, get_args

from pydantic import TypeAdapter
from pydantic_core import to_jsonable_python

from planexec_lite.events.inner import Inner
from planexec_lite.events.kinds import Event, Inside

_BY_NAME: dict[str, type[Any]] = {kind.__name__: kind for kind in (*get_args(Event), *get_args(Inner))}


def to_dict(event: Event | Inner) -> dict[str, Any]:
    """Return an event as plain data, ready for JSON; `from_dict` reads it back."""
    if isinstance(event, Inside):
        return {"event": "Inside", "at": event.at, "step": event.step, "inner": _inner_to_data(event.event)}
    return {"event": type(event).__name__, **_adapter(type(event)).dump_python(event, mode="json")}


def from_dict(data: dict[str, Any]) -> Event:
    """Return the event that `to_dict` wrote. Raises `ValueError` for anything else."""
    if data.get("event") == "Inside":
        return Inside(data["at"], data["step"], _inner_from_data(data["inner"]))
    fields = {name: value for name, value in data.items() if name != "event"}
    kind = _BY_NAME.get(str(data.get("event")))
    if kind is None:
        raise ValueError(f"unknown event {data.get('event')!r}; known: {', '.join(_BY_NAME)}")
    event: Event = _adapter(kind).validate_python(fields)
    return event


def _inner_to_data(inner: Any) -> dict[str, Any]:
    return to_dict(inner) if type(inner).__name__ in _BY_NAME else {"data": to_jsonable_python(inner, fallback=repr)}


def _inner_from_data(data: dict[str, Any]) -> Any:
    return data["data"] if "data" in data and "event" not in data else from_dict(data)


_ADAPTERS: dict[Any, TypeAdapter[Any]] = {}


def _adapter(kind: Any) -> TypeAdapter[Any]:
    if kind not in _ADAPTERS:
        _ADAPTERS[kind] = TypeAdapter(kind)
    return _ADAPTERS[kind]
