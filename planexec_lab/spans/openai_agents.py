"""Traces of openai-agents as spans: what its `TracingProcessor`s and exporters are given, as plain data.

Each object is a ``trace`` or a ``trace.span``, https://openai.github.io/openai-agents-python/tracing/. The spans of a turn, of a
handoff or of a guardrail have no name in the conventions and keep their own.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from planexec_lab.spans import names
from planexec_lab.spans.outcome import as_json
from planexec_lab.spans.span import Span, TraceError, Value, utf8
from planexec_lab.spans.tree import checked_id, checked_times
from planexec_lite.tools import shown

_KINDS = ("trace", "trace.span")
_BEGIN = datetime(1970, 1, 1, tzinfo=UTC)


def is_one(data: list[Any]) -> bool:
    """Whether this is a trace of openai-agents."""
    return any(isinstance(one, dict) and one.get("object") in _KINDS for one in data)


def spans(data: list[Any]) -> tuple[list[Span], dict[str, str]]:
    """Return the spans and the place of each, by id. Raises `TraceError` for an invalid span."""
    read, places = [], {}
    for number, one in enumerate(data):
        place = f"[{number}]"
        if not isinstance(one, dict) or one.get("object") not in _KINDS:
            raise TraceError(f"{place}: no trace and no span of openai-agents: {shown(one)[:80]}")
        if one["object"] == "trace.span":
            read.append(_span(one, place))
            places[read[-1].span_id] = place
    return read, places


def _span(span: dict[str, Any], place: str) -> Span:
    data = span.get("span_data")
    if not isinstance(data, dict):
        raise TraceError(f"{place}: its span_data is no object: {shown(data)[:80]}")
    start, end = checked_times(
        _time(span.get("started_at"), "started_at", place), _time(span.get("ended_at"), "ended_at", place), place
    )
    name, attributes = _described(data)
    parent = span.get("parent_id")
    return Span(
        utf8(name),
        checked_id(span.get("trace_id"), "trace_id", place),
        checked_id(span.get("id"), "id", place),
        None if parent is None else checked_id(parent, "parent_id", place),
        start,
        end,
        attributes,
        error=_error(span.get("error")),
        asks=attributes.get(names.OPERATION) == names.CHAT,
    )


def _time(text: Any, what: str, place: str) -> int:
    """Nanoseconds since 1970; a time that names no zone is in UTC."""
    try:
        moment = datetime.fromisoformat(text)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return (moment - _BEGIN) // timedelta(microseconds=1) * 1000
    except (TypeError, ValueError, OverflowError):
        raise TraceError(f"{place}: its {what} is no time: {shown(text)[:80]}") from None


def _described(data: dict[str, Any]) -> tuple[str, dict[str, Value]]:
    """The name of a span, and its attributes by the conventions."""
    name = str(data.get("name") or data.get("type") or "span")
    match data.get("type"):
        case "agent":
            return f"{names.INVOKE_AGENT} {name}", {names.OPERATION: names.INVOKE_AGENT, names.AGENT: utf8(name)}
        case "function":
            attributes: dict[str, Value] = {names.OPERATION: names.EXECUTE_TOOL, names.TOOL: utf8(name)}
            told = {names.ARGUMENTS: data.get("input"), names.RESULT: data.get("output")}
            return f"{names.EXECUTE_TOOL} {name}", attributes | _texts(told)
        case "generation" | "response":
            attributes = {names.OPERATION: names.CHAT}
            usage = data.get("usage")
            for ours, theirs in ((names.TOKENS_IN, "input_tokens"), (names.TOKENS_OUT, "output_tokens")):
                number = usage.get(theirs) if isinstance(usage, dict) else None
                attributes |= {ours: number} if type(number) is int else {}
            told = {names.MODEL: data.get("model"), names.INPUT: data.get("input"), names.OUTPUT: data.get("output")}
            return names.CHAT, attributes | _texts(told)
    return name, {}


def _texts(told: dict[str, Any]) -> dict[str, Value]:
    """The contents, as text or as JSON."""
    return {
        key: utf8(value if isinstance(value, str) else as_json(value))
        for key, value in told.items()
        if value is not None
    }


def _error(error: Any) -> str | None:
    if not isinstance(error, dict):
        return None if error is None else utf8(str(error))
    data = error.get("data")
    words = [error.get("message"), data.get("error") if isinstance(data, dict) else None]
    return utf8(": ".join(str(word) for word in words if word))
