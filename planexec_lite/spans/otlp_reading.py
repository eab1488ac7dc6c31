"""OTLP JSON to spans, as collectors and exporters write it: ids in hexadecimal, or in base64 as protobuf's own JSON has them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from planexec_lite.spans import names
from planexec_lite.spans.outcome import as_json
from planexec_lite.spans.span import Span, SpanEvent, TraceError, Value, utf8
from planexec_lite.spans.tree import checked_id, checked_times
from planexec_lite.tools import shown

_CLIENT = (3, "SPAN_KIND_CLIENT")
_FAILED = (2, "STATUS_CODE_ERROR")


def spans(data: list[Any]) -> tuple[list[Span], dict[str, str]]:
    """Return the spans of all traces, and where each stands, by its id. Raises `TraceError` for what is no OTLP JSON."""
    read, places = [], {}
    for number, one in enumerate(data):
        around = f"[{number}]" if len(data) > 1 else ""
        if not isinstance(one, dict) or "resourceSpans" not in one:
            raise TraceError(
                f"{around or 'the trace'}: no OTLP JSON, which is an object with resourceSpans, and no trace of openai-agents: "
                f"{shown(one)[:80]}"
            )
        for resource, at in _each(one, "resourceSpans", around):
            for scope, within in _each(resource, "scopeSpans", at):
                for span, place in _each(scope, "spans", within):
                    read.append(_span(span, place))
                    places[read[-1].span_id] = place
    return read, places


def _each(around: dict[str, Any], name: str, place: str) -> Iterator[tuple[dict[str, Any], str]]:
    """The objects of a list, each with its place."""
    listed = around.get(name, [])
    place = f"{place}.{name}" if place else name
    if not isinstance(listed, list):
        raise TraceError(f"{place}: no list: {shown(listed)[:80]}")
    for number, one in enumerate(listed):
        if not isinstance(one, dict):
            raise TraceError(f"{place}[{number}]: no object: {shown(one)[:80]}")
        yield one, f"{place}[{number}]"


def _span(span: dict[str, Any], place: str) -> Span:
    name = utf8(span["name"]) if isinstance(span.get("name"), str) else ""
    start, end = checked_times(span.get("startTimeUnixNano", 0), span.get("endTimeUnixNano", 0), place)
    parent = span.get("parentSpanId") or None
    attributes = _attributes(span, place)
    events = tuple(_event(one, at) for one, at in _each(span, "events", place))
    return Span(
        name,
        checked_id(span.get("traceId"), "traceId", place),
        checked_id(span.get("spanId"), "spanId", place),
        parent and checked_id(parent, "parentSpanId", place),
        start,
        end,
        attributes,
        events,
        _error(span.get("status"), attributes, events),
        span.get("kind") in _CLIENT,
    )


def _event(event: dict[str, Any], place: str) -> SpanEvent:
    at, _ = checked_times(event.get("timeUnixNano", 0), event.get("timeUnixNano", 0), place)
    name = event.get("name")
    return SpanEvent(utf8(name) if isinstance(name, str) else "", at, _attributes(event, place))


def _error(status: Any, attributes: dict[str, Value], events: tuple[SpanEvent, ...]) -> str | None:
    """Why a span failed: its status says it, or the exception that was noted; without where it was raised.

    LangSmith sets the status when a span begins, to OK, and OpenTelemetry lets nothing change that: of a call that failed
    later the exception alone tells, and it notes none but those.
    """
    status = status if isinstance(status, dict) else {}
    raised = [one.attributes.get("exception.message") for one in events if one.name == "exception"]
    if status.get("code") not in _FAILED and not (raised and names.OF_LANGSMITH in attributes):
        return None
    for words in (status.get("message"), *raised, attributes.get("error.type")):
        if isinstance(words, str) and words:
            return utf8(words).partition("Traceback (most recent call last)")[0].strip()
    return ""


def _attributes(around: dict[str, Any], place: str) -> dict[str, Value]:
    attributes = {}
    for one, at in _each(around, "attributes", place):
        if not isinstance(key := one.get("key"), str):
            raise TraceError(f"{at}: its key is no text: {shown(key)[:80]}")
        value = _value(one.get("value"), at)
        if value is not None:
            attributes[utf8(key)] = _as_attribute(value)
    return attributes


def _as_attribute(value: Any) -> Value:
    """What is no text, number or list of texts is kept as JSON."""
    if isinstance(value, str | bool | int | float):
        return value
    texts = isinstance(value, list) and all(isinstance(part, str) for part in value)
    return tuple(value) if texts else utf8(as_json(value))


def _value(value: Any, place: str) -> Any:
    """A value, which says of what type it is: {"intValue": "3"}."""
    if value in (None, {}):
        return None
    kind, inner = next(iter(value.items())) if isinstance(value, dict) and len(value) == 1 else ("", None)
    match kind, inner:
        case "stringValue" | "bytesValue", str():
            return utf8(inner)
        case "boolValue", bool():
            return inner
        case "intValue", int() | str():
            digits = str(inner).removeprefix("-")
            if digits.isascii() and digits.isdigit() and len(digits) < 20:
                return int(inner)
        case "doubleValue", int() | float():
            if abs(inner) < float("inf"):
                return float(inner)
        case "arrayValue", dict():
            return [_value(one, at) for one, at in _each(inner, "values", place)]
        case "kvlistValue", dict():
            return {str(one.get("key")): _value(one.get("value"), at) for one, at in _each(inner, "values", place)}
    raise TraceError(f"{place}: no value of an attribute: {shown(value)[:80]}")
