"""Traces in the files of Jaeger, of OpenTelemetry's console exporter, and of MLflow, as spans.

Each span is rewritten as OTLP JSON has it, and read by `otlp_reading`; so the same checks hold for all of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from planexec_lab.spans.otlp_reading import span_of
from planexec_lab.spans.span import Span, TraceError
from planexec_lite.tools import shown

_BEGIN = datetime(1970, 1, 1, tzinfo=UTC)


def is_one(data: list[Any]) -> bool:
    """Whether this is a list of such spans, or an object that holds one."""
    return bool(data) and all(isinstance(one, dict) and next(_found(one, ""), None) is not None for one in data)


def spans(data: list[Any]) -> tuple[list[Span], dict[str, str]]:
    """Return the spans and the place of each, by id. Raises `TraceError` for an invalid span."""
    read, places = [], {}
    for number, one in enumerate(data):
        for span, place in _found(one, f"[{number}]" if len(data) > 1 else ""):
            told = _of_jaeger(span, place) if "operationName" in span else _of_console(span, place)
            read.append(span_of(told, place))
            places[read[-1].span_id] = place
    return read, places


def _found(one: dict[str, Any], place: str) -> Iterator[tuple[dict[str, Any], str]]:
    """The spans in an object, each with its place."""
    if "operationName" in one or (isinstance(one.get("name"), str) and ("context" in one or "trace_id" in one)):
        yield one, place or "the span"
        return
    for name in ("data", "spans"):  # Jaeger: data, a list of traces; MLflow: data.spans
        inner = one.get(name)
        listed = inner if isinstance(inner, list) else [inner]
        for number, part in enumerate(listed):
            where = f"{place}.{name}[{number}]".lstrip(".")
            if isinstance(part, dict) and not {"data", "spans", "operationName", "name"}.isdisjoint(part):
                yield from _found(part, where)
            elif part is not None:
                raise TraceError(f"{where}: no span: {shown(part)[:80]}")


def _of_jaeger(span: dict[str, Any], place: str) -> dict[str, Any]:
    start, took = span.get("startTime"), span.get("duration")
    if type(start) is not int or type(took) is not int:
        raise TraceError(f"{place}: its startTime and duration are whole microseconds: {shown([start, took])[:80]}")
    tags = {str(tag.get("key")): tag.get("value") for tag in _objects(span.get("tags"))}
    parents = [one.get("spanID") for one in _objects(span.get("references")) if one.get("refType") == "CHILD_OF"]
    logs = []
    for log in _objects(span.get("logs")):
        fields = {str(one.get("key")): one.get("value") for one in _objects(log.get("fields"))}
        at = log.get("timestamp")
        when = at * 1000 if type(at) is int else 0
        logs.append({"name": str(fields.pop("event", "")), "timeUnixNano": when, "attributes": _attributes(fields)})
    failed = tags.get("error") in (True, "true") or tags.get("otel.status_code") == "ERROR"
    return {
        "name": span.get("operationName"),
        "traceId": span.get("traceID"),
        "spanId": span.get("spanID"),
        "parentSpanId": (parents or [span.get("parentSpanID")])[0],
        "startTimeUnixNano": start * 1000,
        "endTimeUnixNano": (start + took) * 1000,
        "attributes": _attributes(tags),
        "events": logs,
        "status": {"code": 2, "message": tags.get("otel.status_description")} if failed else {},
        "kind": 3 if tags.get("span.kind") == "client" else 1,
    }


def _of_console(span: dict[str, Any], place: str) -> dict[str, Any]:
    """A span of the console exporter or of MLflow, version 2 or 3."""
    context = span["context"] if isinstance(span.get("context"), dict) else span
    status = span.get("status") if isinstance(span.get("status"), dict) else {}
    code = str(_first(status or {}, "status_code", "code") or span.get("status_code"))
    events = [
        {
            "name": str(one.get("name", "")),
            "timeUnixNano": _time(_first(one, "timestamp", "time_unix_nano"), place),
            "attributes": _attributes(one.get("attributes")),
        }
        for one in _objects(span.get("events"))
    ]
    message = _first(status or {}, "description", "message") or span.get("status_message")
    return {
        "name": span["name"],
        "traceId": _bare(context.get("trace_id")),
        "spanId": _bare(context.get("span_id")),
        "parentSpanId": _bare(_first(span, "parent_id", "parent_span_id")),
        "startTimeUnixNano": _time(_first(span, "start_time", "start_time_unix_nano"), place),
        "endTimeUnixNano": _time(_first(span, "end_time", "end_time_unix_nano"), place),
        "attributes": _attributes(span.get("attributes")),
        "events": events,
        "status": {"code": 2, "message": message} if "ERROR" in code else {},
        "kind": 3 if "CLIENT" in str(span.get("kind")) else 1,
    }


def _objects(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _first(around: Mapping[str, Any], *keys: str) -> Any:
    return next((around[key] for key in keys if around.get(key) is not None), None)


def _bare(id: Any) -> Any:
    return id.removeprefix("0x") if isinstance(id, str) else id


def _time(value: Any, place: str) -> int:
    """Nanoseconds since 1970, of a number of them or of a date."""
    if type(value) is int:
        return value
    try:
        moment = datetime.fromisoformat(value)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return (moment - _BEGIN) // timedelta(microseconds=1) * 1000
    except (TypeError, ValueError, OverflowError):
        raise TraceError(f"{place}: no time: {shown(value)[:80]}") from None


def _attributes(given: Any) -> list[dict[str, Any]]:
    """Attributes as OTLP has them: each value with its type; an object or a list as JSON."""
    kinds: dict[type, str] = {bool: "boolValue", int: "intValue", float: "doubleValue", str: "stringValue"}
    return [
        {
            "key": str(key),
            "value": {kinds.get(type(value), "stringValue"): value if type(value) in kinds else json.dumps(value)},
        }
        for key, value in (given.items() if isinstance(given, dict) else ())
        if value is not None
    ]
