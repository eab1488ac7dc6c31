"""Spans as OTLP JSON, the form in which collectors exchange them: an object with ``resourceSpans``.

Ids are hexadecimal there, and numbers of 64 bits are texts, https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from planexec_lab.spans.from_events import of
from planexec_lab.spans.span import Span, Value
from planexec_lite.run import Run

SCOPE = "planexec_lab.spans"
SERVICE = "planexec-lite"


def write(what: Run | Iterable[Span]) -> str:
    """Return a run, or spans, as OTLP JSON; `read` reads it back."""
    spans = of(what) if isinstance(what, Run) else what
    resource = {"attributes": _attributes({"service.name": SERVICE})}
    scoped = {"scope": {"name": SCOPE}, "spans": [_span(span) for span in spans]}
    return json.dumps({"resourceSpans": [{"resource": resource, "scopeSpans": [scoped]}]}, ensure_ascii=False)


def _span(span: Span) -> dict[str, Any]:
    status: dict[str, Any] = {} if span.error is None else {"code": 2, "message": span.error}
    parent = {} if span.parent_id is None else {"parentSpanId": span.parent_id}
    return {
        "traceId": span.trace_id,
        "spanId": span.span_id,
        **parent,
        "name": span.name,
        "kind": 3 if span.asks else 1,
        "startTimeUnixNano": str(span.start),
        "endTimeUnixNano": str(span.end),
        "attributes": _attributes(span.attributes),
        "events": [
            {"timeUnixNano": str(event.at), "name": event.name, "attributes": _attributes(event.attributes)}
            for event in span.events
        ],
        "status": status,
    }


def _attributes(attributes: Mapping[str, Value]) -> list[dict[str, Any]]:
    return [{"key": key, "value": _value(value)} for key, value in attributes.items()]


def _value(value: Value) -> dict[str, Any]:
    if isinstance(value, tuple):
        return {"arrayValue": {"values": [_value(part) for part in value]}}
    kind, write = _KINDS[type(value)]
    return {kind: write(value)}


_KINDS: dict[type, tuple[str, Callable[[Any], Any]]] = {
    bool: ("boolValue", bool),
    int: ("intValue", str),
    float: ("doubleValue", float),
    str: ("stringValue", str),
}
