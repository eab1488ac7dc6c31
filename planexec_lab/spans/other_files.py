"""Traces in the files of Jaeger, OpenTelemetry's console exporter, MLflow and openai-agents.

Each span is rewritten as OTLP JSON has it, and read by `otlp_reading`; so the same checks hold for all of them. openai-agents
passes ``trace`` and ``trace.span`` objects to its exporters, https://openai.github.io/openai-agents-python/tracing/. Its spans of
a turn, of a handoff or of a guardrail have no name in the conventions and keep their own.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from planexec_lab.spans import names
from planexec_lab.spans.otlp_reading import Placed, spans_in_otlp
from planexec_lab.spans.span import TraceError
from planexec_lite.tools import shown

_BEGIN = datetime(1970, 1, 1, tzinfo=UTC)


def spans_in(one: Any, place: str) -> Iterator[Placed]:
    """Yield the spans in an object, as OTLP JSON has them, each with its place. Raises `TraceError` for one without spans."""
    here, fields = place or "the trace", one if isinstance(one, dict) else {}
    if "resourceSpans" in fields:
        yield from spans_in_otlp(fields, place)
    elif fields.get("object") == "trace.span":
        yield _of_openai_agents(fields, here), here
    elif "operationName" in fields:
        yield _of_jaeger(fields, here), here
    elif isinstance(fields.get("name"), str) and ("context" in fields or "trace_id" in fields):
        yield _of_console(fields, here), here
    elif inside := [name for name in ("data", "spans") if fields.get(name) is not None]:
        for name in inside:  # Jaeger: data, a list of traces; MLflow: data.spans
            parts = fields[name] if isinstance(fields[name], list) else [fields[name]]
            for number, part in enumerate(parts):
                yield from spans_in(part, f"{place}.{name}[{number}]".lstrip("."))
    elif fields.get("object") != "trace":
        raise TraceError(f"{here}: no span, and no OTLP JSON, an object with resourceSpans: {shown(one)[:80]}")


def _of_openai_agents(span: dict[str, Any], place: str) -> dict[str, Any]:
    data = span.get("span_data")
    if not isinstance(data, dict):
        raise TraceError(f"{place}: its span_data is no object: {shown(data)[:80]}")
    attributes: dict[str, Any] = {}
    name, asked, answered = str(data.get("name") or data.get("type") or "span"), data.get("input"), data.get("output")
    match data.get("type"):
        case "agent":
            attributes = {names.OPERATION: names.INVOKE_AGENT, names.AGENT: name}
        case "function":
            attributes = {
                names.OPERATION: names.EXECUTE_TOOL,
                names.TOOL: name,
                names.ARGUMENTS: asked,
                names.RESULT: answered,
            }
        case "generation" | "response":
            usage = data["usage"] if isinstance(data.get("usage"), dict) else {}
            attributes = {
                names.OPERATION: names.CHAT,
                names.MODEL: data.get("model"),
                names.INPUT: asked,
                names.OUTPUT: answered,
            }
            attributes |= {names.TOKENS_IN: usage.get("input_tokens"), names.TOKENS_OUT: usage.get("output_tokens")}
    message = error = span.get("error")
    if isinstance(error, dict):
        more = [one.get("error") for one in _objects([error.get("data")])]
        message = ": ".join(str(words) for words in (error.get("message"), *more) if words)
    return _otlp({**span, "name": name}, place, attributes, error is not None, message)


def _of_jaeger(span: dict[str, Any], place: str) -> dict[str, Any]:
    start, took = span.get("startTime"), span.get("duration")
    if type(start) is not int or type(took) is not int:
        raise TraceError(f"{place}: its startTime and duration are whole microseconds: {shown([start, took])[:80]}")
    tags = {str(tag.get("key")): tag.get("value") for tag in _objects(span.get("tags"))}
    parents = [one.get("spanID") for one in _objects(span.get("references")) if one.get("refType") == "CHILD_OF"]
    logs = []
    for log in _objects(span.get("logs")):
        fields = {str(one.get("key")): one.get("value") for one in _objects(log.get("fields"))}
        at = log["timestamp"] * 1000 if type(log.get("timestamp")) is int else 0
        logs.append({"name": fields.pop("event", ""), "timestamp": at, "attributes": fields})
    times = {"start_time": start * 1000, "end_time": (start + took) * 1000}
    failed = tags.get("error") in (True, "true") or tags.get("otel.status_code") == "ERROR"
    parent = {"parentSpanID": parents[0]} if parents else {}
    return _otlp({**span, **parent, **times}, place, tags, failed, tags.get("otel.status_description"), logs)


def _of_console(span: dict[str, Any], place: str) -> dict[str, Any]:
    """A span of the console exporter or of MLflow, version 2 or 3."""
    context = span["context"] if isinstance(span.get("context"), dict) else {}
    status = span["status"] if isinstance(span.get("status"), dict) else {}
    failed = "ERROR" in str(_first(status, "status_code", "code") or span.get("status_code"))
    message = _first(status, "description", "message") or span.get("status_message")
    return _otlp(span | context, place, span.get("attributes"), failed, message, span.get("events"))


def _otlp(
    span: dict[str, Any], place: str, attributes: Any, failed: bool, message: Any, events: Any = ()
) -> dict[str, Any]:
    """A span as OTLP JSON has it, from the names that the programs use for its parts."""
    return {
        "name": _first(span, "operationName", "name"),
        "traceId": _bare(_first(span, "traceID", "trace_id")),
        "spanId": _bare(_first(span, "spanID", "span_id", "id")),
        "parentSpanId": _bare(_first(span, "parentSpanID", "parent_id", "parent_span_id")),
        "startTimeUnixNano": _time(_first(span, "start_time", "start_time_unix_nano", "started_at"), place),
        "endTimeUnixNano": _time(_first(span, "end_time", "end_time_unix_nano", "ended_at"), place),
        "attributes": _attributes(attributes),
        "events": [
            {
                "name": str(one.get("name", "")),
                "timeUnixNano": _time(_first(one, "timestamp", "time_unix_nano"), place),
                "attributes": _attributes(one.get("attributes")),
            }
            for one in _objects(events)
        ],
        "status": {"code": 2, "message": message} if failed else {},
    }


def _objects(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _first(around: dict[str, Any], *keys: str) -> Any:
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
