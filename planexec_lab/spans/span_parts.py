"""A span from its parts in a file, checked: ids, times, attributes, and why it failed. An error names the place."""

from __future__ import annotations

import math
import re
from base64 import b64decode
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

from planexec_lab.spans import names
from planexec_lab.spans.outcome import as_json
from planexec_lab.spans.span import Span, SpanEvent, TraceError, Value, utf8
from planexec_lite.tools import shown

LAST = 2**63  # nanoseconds
_BEGIN = datetime(1970, 1, 1, tzinfo=UTC)
_LONGEST_ID = 128

Noted = tuple[Any, Mapping[str, Any]]
"""A span event: its name and its attributes."""


def span_from(
    place: str,
    name: Any,
    ids: Sequence[Any],
    times: Sequence[Any],
    attributes: Mapping[str, Any],
    events: Iterable[Noted] = (),
    status: Any = None,
    message: Any = None,
) -> Span:
    """Return a span.

    Args:
        place: where it is in the input.
        name: its name.
        ids: those of the trace, of the span, and of its parent or None.
        times: its start and its end, as nanoseconds since 1970 or as dates.
        attributes: plain values by name.
        events: what was noted during the span.
        status: a status code or a word for it; None: not set.
        message: the description of the status.

    Raises `TraceError` for ids and times that are none.
    """
    trace, own, parent, *_ = map(as_id, ids)
    for id, what in ((trace, "trace"), (own, "span"), (parent or "0", "parent")):
        if not isinstance(id, str) or not 0 < len(id) <= _LONGEST_ID:
            raise TraceError(f"{place}: its {what} id is no id: {shown(id)[:80]}")
    start, end = (_time(time, what, place) for time, what in zip(times, ("start", "end"), strict=True))
    if end < start:
        raise TraceError(f"{place}: it ends {(start - end) / 1e9:g} s before it starts")
    noted = tuple(SpanEvent(utf8(str(what or "")), start, plain(more)) for what, more in events)
    kept, around = plain(attributes), None if parent in ("", "0" * 16) else parent
    return Span(
        utf8(str(name or "")), trace, own, around, start, end, kept, noted, _error(status, message, kept, noted)
    )


def as_id(value: Any) -> Any:
    """An id in lower-case hexadecimal digits, as collectors show it, also if it is in base64; other ids are unchanged."""
    if isinstance(value, str) and value.endswith("="):
        with suppress(ValueError):
            return b64decode(value, validate=True).hex()
    value = value.removeprefix("0x") if isinstance(value, str) else value
    return value.lower() if isinstance(value, str) and len(value) in (16, 32) else value


def _time(value: Any, what: str, place: str) -> int:
    """Nanoseconds since 1970, of a number of them or of a date."""
    if isinstance(value, str) and not re.fullmatch("-?[0-9]+", value):
        with suppress(ValueError, OverflowError):
            moment = datetime.fromisoformat(value)
            moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
            value = (moment - _BEGIN) // timedelta(microseconds=1) * 1000
    if type(value) in (int, str) and re.fullmatch("[0-9]{1,19}", str(value)) and int(value) < LAST:
        return int(value)
    raise TraceError(f"{place}: its {what} is no time since 1970: {shown(value)[:80]}")


def plain(given: Mapping[str, Any]) -> dict[str, Value]:
    """Return attributes as a span holds them: an object or a list as JSON.

    The parts of an object are attributes, too, as in ``{"llm": {"token_count": {"prompt": 11}}}``: ``llm.token_count.prompt``.
    """
    attributes: dict[str, Value] = {}
    for name, value in given.items():
        messages = isinstance(value, list) and name.endswith("_messages")
        if messages or (isinstance(value, dict) and "." not in name):
            attributes |= _leaves(name, value)
        if isinstance(value, list) and value and all(isinstance(part, str) for part in value):
            attributes[utf8(name)] = tuple(map(utf8, value))
        elif isinstance(value, float) and not math.isfinite(value):
            attributes[utf8(name)] = str(value)
        elif isinstance(value, bool | int | float):
            attributes[utf8(name)] = value
        elif value is not None:
            attributes[utf8(name)] = utf8(value if isinstance(value, str) else as_json(value))
    return attributes


def _leaves(name: str, value: Any) -> dict[str, Value]:
    """The values inside an object, by their paths; the contents of a call are one value."""
    contents = name in (names.ARGUMENTS, names.RESULT, names.INPUT, names.OUTPUT)
    if contents or not isinstance(value, dict | list):
        return {} if value is None else plain({name: value})
    parts = value.items() if isinstance(value, dict) else enumerate(value)
    return {path: leaf for key, part in parts for path, leaf in _leaves(f"{name}.{key}", part).items()}


_ERRORS = ("otel.status_description", "error.message", "error", names.ERROR)


def _error(status: Any, message: Any, attributes: Mapping[str, Value], events: Sequence[SpanEvent]) -> str | None:
    """Why a span failed; "" without a reason; None if it did not fail.

    A span without a status failed if it has an error's type or message, or an exception that was not caught. LangSmith sets the
    status when a span begins, to OK, and notes no exceptions but those of calls that failed.
    """
    word = str(status or attributes.get("otel.status_code") or "UNSET").upper()
    raised = [one.attributes for one in events if one.name == "exception"]
    escaped = [one for one in raised if str(one.get("exception.escaped")).lower() != "false"]
    errors = [value for name in _ERRORS if str(value := attributes.get(name, "")).lower() not in ("", "false")]
    unset = "UNSET" in word and (escaped or errors)
    if not (word == "2" or "ERROR" in word or unset or (raised and names.OF_LANGSMITH in attributes)):
        return None
    told = [message, *(one.get("exception.message") for one in raised), *errors]
    words = next((one for one in told if isinstance(one, str) and one.lower() not in ("", "true")), "")
    return utf8(words).partition("Traceback (most recent call last)")[0].strip()
