"""Traces in the files of Jaeger, Tempo, OpenTelemetry's console exporter, MLflow, Phoenix, Langfuse and openai-agents.

openai-agents passes ``trace`` and ``trace.span`` objects to its exporters, https://openai.github.io/openai-agents-python/tracing/.
Its spans of a turn, of a handoff or of a guardrail have no name in the conventions and keep their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from planexec_lab.spans import names
from planexec_lab.spans.otlp_reading import Placed, spans_in_otlp
from planexec_lab.spans.span import Span, TraceError
from planexec_lab.spans.span_parts import span_from
from planexec_lite.tools import shown

_KINDS = {"agent": names.INVOKE_AGENT, "function": names.EXECUTE_TOOL} | dict.fromkeys(
    ("generation", "response"), names.CHAT
)
# the keys that the readers of contents and conventions know, and the names of events with such contents
_READ = re.compile(
    r"(?:gen_ai|llm|tool|ai|error|otel|planexec|openinference|traceloop|mlflow|langfuse|langsmith|gcp|anthropic|mcp|input|output"
    r"|embedding|exception|success|final_result)(?:[._].*)?",
    re.DOTALL,
)
_MORE = ("next_cursor", "next_page_token", "nextPageToken", "has_more", "errors")  # of an answer that is only a part

_NOT_READ = {  # the files of other systems, by the fields of an object
    "LangSmith's own run": {"run_type"},
    "a table of Phoenix's client": {"context.span_id"},
    "a page of LangSmith's runs": {"runs"},
    "Opik's own span": {"trace_id", "type", "start_time"},
    "a span of Zipkin": {"traceId", "id"},
    "a span of Datadog": {"trace_id", "span_id", "resource"},
    "a segment of X-Ray": {"Segments"},
    "a list of Chrome's events": {"traceEvents"},
    "a call of Weave": {"op_name"},
    "a span of Braintrust": {"span_attributes"},
    "a row of Logfire": {"span_name"},
    "a page of Elasticsearch": {"hits"},
    "an event of Honeycomb": {"trace.trace_id"},
    "an answer of Claude": {"stop_reason"},
    "an answer of Gemini": {"candidates"},
    "a chat completion of OpenAI": {"choices"},
    "a message to or from a model": {"role"},
    "OTLP JSON of logs": {"resourceLogs"},
    "OTLP JSON of metrics": {"resourceMetrics"},
}


def spans_in(one: Any, place: str) -> Iterator[Placed]:
    """Yield the spans in an object, each with its place. Raises `TraceError` for one without spans, or with a part of them."""
    here, fields = place or "the trace", _object(one)
    for number, part in enumerate(one if isinstance(one, list) else ()):  # the spans of a trace
        yield from spans_in(part, f"{place}[{number}]")
    if "batches" in fields:  # Tempo's name for them
        fields = {"resourceSpans": fields["batches"]}
    if "resourceSpans" in fields:
        yield from spans_in_otlp(fields, place)
    elif "observations" in fields:
        yield from _of_langfuse(fields, here)
    elif fields.get("object") == "trace.span":
        yield _of_openai_agents(fields, here), here
    elif {"traceId", "type", "startTime"} <= fields.keys():
        yield _of_observation(fields, None, here), here
    elif "operationName" in fields:
        yield _of_jaeger(fields, here), here
    elif isinstance(fields.get("name"), str) and ("context" in fields or {"trace_id", "attributes"} <= fields.keys()):
        yield _of_console(fields, here), here
    elif inside := [name for name in ("data", "spans", "trace") if isinstance(fields.get(name), dict | list)]:
        more = [name for name in _MORE if fields.get(name)]
        more += ["status"] if fields.get("status") == "PARTIAL" else []  # of Tempo
        more += ["totalPages"] if _object(fields.get("meta")).get("totalPages") not in (None, 0, 1) else []
        if more:
            raise TraceError(f"{here}: there are more spans than these ({more[0]}); read all pages, as one list")
        for name in inside:  # Jaeger: data, a list of traces; Phoenix: data, a list of spans; MLflow: data.spans
            parts = fields[name] if isinstance(fields[name], list) else [fields[name]]
            for number, part in enumerate(parts):
                yield from spans_in(part, f"{place}.{name}[{number}]".lstrip("."))
    elif whose := next((name for name, marks in _NOT_READ.items() if marks <= fields.keys()), None):
        raise TraceError(f"{here}: this is {whose}, and such a file is not read; export OTLP JSON, with resourceSpans")
    elif fields.get("object") != "trace" and not (one and isinstance(one, list)):
        raise TraceError(f"{here}: no span, and no OTLP JSON, an object with resourceSpans: {shown(one)[:80]}")


def _of_openai_agents(span: dict[str, Any], place: str) -> Span:
    data = span.get("span_data")
    if not isinstance(data, dict):
        raise TraceError(f"{place}: its span_data is no object: {shown(data)[:80]}")
    name, kind, usage = (
        str(data.get("name") or data.get("type") or "span"),
        data.get("type"),
        _object(data.get("usage")),
    )
    tool = kind == "function"
    attributes = {
        names.OPERATION: _KINDS.get(str(kind)),
        names.TOOL: name if tool else None,
        names.ARGUMENTS if tool else names.INPUT: data.get("input"),
        names.RESULT if tool else names.OUTPUT: data.get("output"),
        names.MODEL: data.get("model"),
        names.TOKENS_IN: usage.get("input_tokens"),
        names.TOKENS_OUT: usage.get("output_tokens"),
    }
    error = span.get("error")
    told = [error.get("message"), _object(error.get("data")).get("error")] if isinstance(error, dict) else [error]
    ids, times = (
        [span.get("trace_id"), span.get("id"), span.get("parent_id")],
        [span.get("started_at"), span.get("ended_at")],
    )
    message = ": ".join(str(words) for words in told if words)
    return span_from(place, name, ids, times, attributes, (), error is not None and "ERROR", message)


def _of_jaeger(span: dict[str, Any], place: str) -> Span:
    start, took = span.get("startTime"), span.get("duration")
    if type(start) is not int or type(took) is not int:
        raise TraceError(f"{place}: its startTime and duration are whole microseconds: {shown([start, took])[:80]}")
    tags = _pairs(span.get("tags"), place)
    parents = [one.get("spanID") for one in _objects(span.get("references")) if one.get("refType") == "CHILD_OF"]
    logs = [_noted(log.get("fields"), place) for log in _objects(span.get("logs"))]
    events = [(fields.pop("event", ""), fields) for fields in logs]
    status = "ERROR" if tags.get("error") in (True, "true") else tags.get("otel.status_code")
    ids, times = [span.get("traceID"), span.get("spanID"), *parents[:1], None], [start * 1000, (start + took) * 1000]
    return span_from(
        place, span["operationName"], ids, times, tags, events, status, tags.get("otel.status_description")
    )


def _of_console(span: dict[str, Any], place: str) -> Span:
    """A span of the console exporter, of MLflow 2 or 3, or of Phoenix, which has the kind of a span beside its attributes."""
    fields, status = span | _object(span.get("context")), _object(span.get("status"))
    attributes = {"openinference.span.kind": span.get("span_kind")} | _object(span.get("attributes"))
    ids = [_first(fields, *keys) for keys in (("trace_id",), ("span_id", "id"), ("parent_id", "parent_span_id"))]
    times = [_first(fields, f"{what}_time", f"{what}_time_unix_nano") for what in ("start", "end")]
    events = [(one.get("name"), _object(one.get("attributes"))) for one in _objects(span.get("events"))]
    code = _first(status, "status_code", "code") or span.get("status_code")
    message = _first(status, "description", "message") or span.get("status_message")
    return span_from(place, span["name"], ids, times, attributes, events, code, message)


def _of_langfuse(trace: dict[str, Any], place: str) -> Iterator[Placed]:
    """The observations of a trace, inside a span for the trace itself, which has the question and the answer."""
    inside, id = trace["observations"], trace.get("id")
    if not _objects(inside) or len(_objects(inside)) < len(inside):
        raise TraceError(f"{place}: its observations are no objects: {shown(inside)[:80]}; export the trace with them")
    spans = [_of_observation(one, id, f"{place}.observations[{number}]") for number, one in enumerate(inside)]
    times = [min(span.start for span in spans), max(span.end for span in spans)]
    attributes = {names.INPUT: trace.get("input"), names.OUTPUT: trace.get("output")}
    yield span_from(place, trace.get("name"), [id, id, None], times, attributes), place
    for number, span in enumerate(spans):
        yield span, f"{place}.observations[{number}]"


def _of_observation(one: dict[str, Any], trace: Any, place: str) -> Span:
    usage = _first(one, "usageDetails", "usage")
    attributes = {
        **{name: one.get(name) for name in "type input output level".split()},
        "model.name": one.get("model"),
        "usage_details": usage if _object(usage).get("unit") in (None, "TOKENS") else None,
        "status_message": one.get("statusMessage"),
    }
    attributes = {f"langfuse.observation.{name}": value for name, value in attributes.items()}
    ids = [one.get("traceId") or trace, one.get("id"), one.get("parentObservationId") or trace]
    end = one.get("startTime") if one.get("type") == "EVENT" else one.get("endTime")
    return span_from(place, one.get("name"), ids, [one.get("startTime"), end], attributes)


def _pairs(listed: Any, place: str, known: bool = False) -> dict[str, Any]:
    """Values by their keys; of a key with several, the first. Raises `TraceError` where they differ and the key is read.

    Args:
        listed: objects, each with a key and a value; one without a key is not read.
        place: where they are.
        known: whether each key is read, and not only those of `_READ`.
    """
    pairs: dict[str, Any] = {}
    for one in _objects(listed):
        if not isinstance(key := one.get("key"), str):
            continue
        first, value = pairs.setdefault(key, one.get("value")), one.get("value")
        if _word(first) != _word(value) and (known or _READ.fullmatch(key)):
            raise TraceError(f"{place}: the key {shown(key)[:80]} has two values")
    return pairs


def _noted(listed: Any, place: str) -> dict[str, Any]:
    """The fields of a log; all of them are read where they are those of an event with contents."""
    event = _pairs(listed, place).get("event")
    return _pairs(listed, place, known=isinstance(event, str) and _READ.fullmatch(event) is not None)


def _word(value: Any) -> str:
    """A value as a tag of the type string has it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _objects(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _first(around: dict[str, Any], *keys: str) -> Any:
    return next((around[key] for key in keys if around.get(key) is not None), None)
