"""OTLP JSON to spans, as collectors and exporters write it: ids in hexadecimal, or in base64 as protobuf's own JSON has them.

What protobuf's JSON allows is read: null for what is not there, "NaN", numbers as texts. A span that never ended, since its
process was killed, ends with its trace, and has failed. One whose clock was set back a little meanwhile took no time.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

from planexec_lite.spans import names
from planexec_lite.spans.outcome import as_json
from planexec_lite.spans.span import Span, SpanEvent, TraceError, Value, utf8
from planexec_lite.spans.tree import checked_id, checked_times
from planexec_lite.tools import shown

_CLIENT = (3, "SPAN_KIND_CLIENT")
_FAILED = (2, "STATUS_CODE_ERROR")
_SET_BACK = 1_000_000_000  # nanoseconds
_BYTES = {24: 16, 12: 8}  # the length of an id in base64, and how many bytes it is of: none in hexadecimal is as long


def spans(data: list[Any]) -> tuple[list[Span], dict[str, str]]:
    """Return the spans of all traces, and where each stands, by its id. Raises `TraceError` for what is no OTLP JSON."""
    read, places = [], {}
    for number, one in enumerate(data):
        around = f"[{number}]" if len(data) > 1 else ""
        one = one["trace"] if isinstance(one, dict) and isinstance(one.get("trace"), dict) else one  # as Tempo answers
        listed = "batches" if isinstance(one, dict) and "batches" in one else "resourceSpans"
        if not isinstance(one, dict) or listed not in one:
            raise TraceError(
                f"{around or 'the trace'}: no OTLP JSON, which is an object with resourceSpans, and no trace of openai-agents: "
                f"{shown(one)[:80]}"
            )
        for resource, at in _each(one, listed, around):
            older = "scopeSpans" not in resource and "instrumentationLibrarySpans" in resource
            for scope, within in _each(resource, "instrumentationLibrarySpans" if older else "scopeSpans", at):
                for span, place in _each(scope, "spans", within):
                    read.append(_span(span, place))
                    places[read[-1].span_id] = place
    return _closed(read), places


def _closed(read: list[Span]) -> list[Span]:
    """The spans, with those that never ended ended with their trace; one of which the end was told too is left out."""
    ended = {(span.trace_id, span.span_id) for span in read if not _is_open(span)}
    last: dict[str, int] = {}
    for span in read:
        last[span.trace_id] = max(last.get(span.trace_id, 0), span.start, span.end)
    return [
        replace(span, end=last[span.trace_id], error=span.error or "the trace has no end of it")
        if _is_open(span)
        else span
        for span in read
        if not (_is_open(span) and (span.trace_id, span.span_id) in ended)
    ]


def _is_open(span: Span) -> bool:
    return span.end == 0 < span.start


def as_id(value: Any) -> Any:
    """An id as collectors show it, in small hexadecimal digits, whichever way it was written; others as they are."""
    if not isinstance(value, str):
        return value
    if len(value) in (32, 16) and all(digit in "0123456789abcdefABCDEF" for digit in value):
        return value.lower()
    if len(value) in _BYTES and value.isascii():
        try:
            told = b64decode(value.replace("-", "+").replace("_", "/"), validate=True)
        except ValueError:
            return value
        return told.hex() if len(told) == _BYTES[len(value)] else value
    return value


def _each(around: dict[str, Any], name: str, place: str) -> Iterator[tuple[dict[str, Any], str]]:
    """The objects of a list, each with its place."""
    listed = [] if around.get(name) is None else around[name]
    place = f"{place}.{name}" if place else name
    if not isinstance(listed, list):
        raise TraceError(f"{place}: no list: {shown(listed)[:80]}")
    for number, one in enumerate(listed):
        if not isinstance(one, dict):
            raise TraceError(f"{place}[{number}]: no object: {shown(one)[:80]}")
        yield one, f"{place}[{number}]"


def _span(span: dict[str, Any], place: str) -> Span:
    name = utf8(span["name"]) if isinstance(span.get("name"), str) else ""
    start, end = _times(span, place)
    parent = as_id(span.get("parentSpanId")) or None
    parent = None if parent == "0" * 16 else parent
    attributes = _attributes(span, place)
    events = tuple(_event(one, at) for one, at in _each(span, "events", place))
    return Span(
        name,
        checked_id(as_id(span.get("traceId")), "traceId", place),
        checked_id(as_id(span.get("spanId")), "spanId", place),
        parent and checked_id(parent, "parentSpanId", place),
        start,
        end,
        attributes,
        events,
        _error(span.get("status"), attributes, events),
        span.get("kind") in _CLIENT,
    )


def _times(span: dict[str, Any], place: str) -> tuple[int, int]:
    """When it started and ended; an end of 0: it has not ended."""
    told = span.get("startTimeUnixNano") or 0, span.get("endTimeUnixNano") or 0
    (start, _), (_, end) = checked_times(told[0], told[0], place), checked_times(0, told[1], place)
    if end == 0:
        return start, 0
    return (start, start) if 0 <= start - end <= _SET_BACK else checked_times(start, end, place)


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
    kind: str
    inner: Any
    kind, inner = next(iter(value.items())) if isinstance(value, dict) and len(value) == 1 else ("", None)
    match kind, inner:
        case "stringValue" | "bytesValue", str():
            return utf8(inner)
        case "boolValue", bool():
            return inner
        case _, None:
            return None
        case "intValue", float() if inner.is_integer():
            return int(inner)
        case "doubleValue", "NaN" | "Infinity" | "-Infinity":
            return inner  # no JSON can hold it otherwise
        case "doubleValue", str():
            with suppress(ValueError):
                if abs(number := float(inner)) < float("inf"):
                    return number
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
