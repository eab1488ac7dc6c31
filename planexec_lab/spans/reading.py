"""A trace read as a run: OTLP JSON, or what openai-agents and LangGraph export, in bounds.

The input is untrusted, so everything is checked: size, depth, unique ids, times, and that no span is inside itself. An error
names the place.
"""

from __future__ import annotations

import json
from typing import Any, NoReturn

from planexec_lab.spans import foreign, own
from planexec_lab.spans.conventions import by_genai
from planexec_lab.spans.other_files import spans_in
from planexec_lab.spans.span import NANO, Span, TraceError
from planexec_lab.spans.span_parts import as_id
from planexec_lab.spans.tree import Tree, nested_deeper
from planexec_lite.core import IllegalTransition
from planexec_lite.plan.data import named_once
from planexec_lite.run import Run
from planexec_lite.tools import shown

MOST_CHARACTERS = 64_000_000
DEEPEST = 60  # objects and lists inside each other
_YEAR_2001, _YEAR_2100 = 978_307_200 * NANO, 4_102_444_800 * NANO
_SHORTEST, _LONGEST = NANO // 10, 10 * 365 * 86_400 * NANO  # an agent's run

Source = str | dict[str, Any] | list[Any]


def read(source: Source, *, trace_id: str | None = None) -> Run:
    """Return the trace as a `Run`, which can be drawn, replayed and counted like any run.

    The output of `write`, or a collector's copy of it, gives the same events. `foreign` converts the trace of another agent: model
    calls are planning, tool calls are steps. The run's reason says which spans were not understood, and of how many model calls
    the trace has no tokens: they count as 0, and the note of the call calls them unknown. It also counts results and tool calls
    that the trace does not have, and answers that were cut off.

    Args:
        source: the text of a file or its parsed contents: one object, a list, or objects in a row. OTLP JSON (objects with
            ``resourceSpans``), which LangGraph sends with ``LANGSMITH_OTEL_ENABLED``; the objects that openai-agents passes to its
            exporters (``trace`` and ``trace.span``); the JSON of Jaeger and Tempo; a trace of Langfuse with its observations; or
            spans as OpenTelemetry's console exporter, MLflow and Phoenix write them. `conventions` lists the names of attributes
            that are understood.
        trace_id: the trace, if there are several.

    Raises `TraceError` with the place of a fault.
    """
    data = _parsed(source)
    spans, places = list[Span](), dict[str, str]()
    for number, one in enumerate(data):
        for span, place in spans_in(one, f"[{number}]" if len(data) > 1 else ""):
            spans.append(by_genai(span))
            places[span.span_id] = place
    tree = Tree.of(_of_one_trace(spans, as_id(trace_id)), places)
    if own.is_one(tree):
        events = own.events(tree)
    else:
        _check_unit(tree)
        events = foreign.events(tree)
    try:
        return Run(events)
    except IllegalTransition as problem:
        raise TraceError(f"the trace tells what can't have happened: {problem}") from problem


def _check_unit(tree: Tree) -> None:
    """Raise `TraceError` if the trace is in another unit than nanoseconds.

    Its start is then a day of our century in that unit, and its length can't be in nanoseconds: years, because some of its times
    are, or less than an agent needs. Otherwise the start is that of a clock which does not count from 1970.
    """
    lasts = max(span.end for span in tree.spans) - tree.start
    if _SHORTEST <= lasts < _LONGEST:
        return
    for unit, size in (("milliseconds", 1_000_000), ("microseconds", 1_000)):
        if _YEAR_2001 <= tree.start * size < _YEAR_2100:
            place = tree.places[tree.spans[0].span_id]
            raise TraceError(f"{place}: its start, {tree.start}, seems to be in {unit}; write nanoseconds since 1970")


def _of_one_trace(spans: list[Span], trace_id: str | None) -> list[Span]:
    ids = list(dict.fromkeys(span.trace_id for span in spans))
    if not spans:
        raise TraceError("there is no span in it")
    if trace_id is None and len(ids) > 1:
        raise TraceError(f"there are {len(ids)} traces in it; choose one by trace_id: {', '.join(ids[:5])}")
    if trace_id is not None and trace_id not in ids:
        raise TraceError(f"there is no trace {shown(trace_id)[:80]}; there is {', '.join(ids[:5])}")
    return [span for span in spans if span.trace_id == (trace_id or ids[0])]


def _parsed(source: Source) -> list[Any]:
    """The contents of the source as a list of objects."""
    try:
        text = source if isinstance(source, str) else json.dumps(source)
    except (TypeError, ValueError, RecursionError) as problem:
        raise TraceError(f"the trace is no JSON: {problem}") from problem
    if len(text) > MOST_CHARACTERS:
        raise TraceError(f"the trace has {len(text):,} characters; {MOST_CHARACTERS:,} are the most")
    text = text.removeprefix("\ufeff").strip()
    data, at = list[Any](), 0
    while True:
        one, at = _json(text, at)
        data += one if isinstance(one, list) else [one]
        if at >= len(text):
            return data


def _json(text: str, start: int) -> tuple[Any, int]:
    """Return the value that begins at `start`, and where the next one begins."""
    try:
        data, end = _DECODER.raw_decode(text, start)
        if nested_deeper(data, DEEPEST):
            raise ValueError(f"it is nested more than {DEEPEST} deep")
    except (ValueError, RecursionError) as problem:
        place = f"line {1 + text.count(chr(10), 0, start)}" if start else "the trace"
        raise TraceError(f"{place} is no JSON that can be read: {str(problem)[:200]}") from problem
    while end < len(text) and text[end] in " \t\r\n,":
        end += 1
    return data, end


def _no_number(constant: str) -> NoReturn:
    raise ValueError(f"JSON has no {constant}")


_DECODER = json.JSONDecoder(object_pairs_hook=named_once, parse_constant=_no_number)
