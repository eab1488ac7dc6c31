"""OTLP JSON, as collectors and exporters write it: ids in hexadecimal, or in base64 as protobuf's own JSON has them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from planexec_lab.spans import names
from planexec_lab.spans.span import Span, TraceError
from planexec_lab.spans.span_parts import span_from
from planexec_lite.tools import shown

Placed = tuple[Span, str]
"""A span and its place."""


def spans_in_otlp(one: dict[str, Any], place: str) -> Iterator[Placed]:
    """Yield the spans of an object, each with its place. Raises `TraceError` for what is not OTLP JSON."""
    for resource, at in _each(one, "resourceSpans", place):
        for scope, within in _each(resource, "scopeSpans", at):
            for span, inside in _each(scope, "spans", within):
                yield _span(span, inside), inside


def _each(around: dict[str, Any], name: str, place: str) -> Iterator[tuple[dict[str, Any], str]]:
    """The objects of a list, each with its place."""
    listed = [] if around.get(name) is None else around[name]
    odd = [key for key, value in around.items() if key.lower().endswith("spans") and key != name and value]
    if odd and name.lower().endswith("spans"):
        raise TraceError(f"{place or 'the trace'}: {odd[0]!r} is not read; write {name}")
    place = f"{place}.{name}" if place else name
    if not isinstance(listed, list):
        raise TraceError(f"{place}: no list: {shown(listed)[:80]}")
    for number, one in enumerate(listed):
        if not isinstance(one, dict):
            raise TraceError(f"{place}[{number}]: no object: {shown(one)[:80]}")
        yield one, f"{place}[{number}]"


def _span(span: dict[str, Any], place: str) -> Span:
    ids = [span.get(name) for name in ("traceId", "spanId", "parentSpanId")]
    times = [span.get(name) for name in ("startTimeUnixNano", "endTimeUnixNano")]
    events = [(one.get("name"), _attributes(one, at)) for one, at in _each(span, "events", place)]
    given = span.get("status")
    status = given if isinstance(given, dict) else {"code": given}
    dropped = [span.get(f"dropped{what}Count") or 0 for what in ("Attributes", "Events")]
    given = _attributes(span, place) | ({names.DROPPED: str(dropped)} if any(dropped) else {})
    return span_from(place, span.get("name"), ids, times, given, events, status.get("code"), status.get("message"))


def _attributes(around: dict[str, Any], place: str, name: str = "attributes") -> dict[str, Any]:
    attributes: dict[str, Any] = {}
    for one, at in _each(around, name, place):
        if not isinstance(key := one.get("key"), str):
            raise TraceError(f"{at}: its key is not a string: {shown(key)[:80]}")
        if key in attributes:
            raise TraceError(f"{at}: the key {key!r} occurs twice".replace("\n", " ")[:200])
        attributes[key] = _value(one.get("value"), at)
    return attributes


def _value(value: Any, place: str) -> Any:
    """A value, which says of what type it is: {"intValue": "3"}; a number that JSON can't write stays a text."""
    if not value:
        return None
    kind, inner = next(iter(value.items())) if isinstance(value, dict) and len(value) == 1 else ("", None)
    if kind == "arrayValue" and isinstance(inner, dict):
        return [_value(one, at) for one, at in _each(inner, "values", place)]
    if kind == "kvlistValue" and isinstance(inner, dict):
        return _attributes(inner, place, "values")
    try:
        match kind, inner:
            case "stringValue" | "bytesValue", str():
                return inner
            case "boolValue", bool():
                return inner
            case "intValue", int() | float() | str() if abs(int(inner)) < 2**64 and (
                type(inner) is str or inner % 1 == 0
            ):
                return int(inner)
            case "doubleValue", int() | float() | str():
                return float(inner) if math.isfinite(float(inner)) else str(inner)
    except (ValueError, OverflowError):
        pass
    raise TraceError(f"{place}: no value of an attribute: {shown(value)[:80]}")
