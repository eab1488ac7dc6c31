"""Spans handed to an exporter of OpenTelemetry's SDK: the console's, one that keeps them, one that sends them to a collector.

They are built as the SDK's own values and given to the exporter directly. No provider is made or changed, so a program that
traces itself is not disturbed.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Sequence
from contextvars import copy_context
from threading import Thread
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from planexec_lite.loop.run import Run
from planexec_lite.spans.from_events import of
from planexec_lite.spans.otlp_json import SCOPE, SERVICE
from planexec_lite.spans.span import Span

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.sdk.trace.export import SpanExporter
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

BATCH = 512  # so many are sent at once, as the SDK's own processor does; a collector puts them together by their ids
LOOPBACK = ("127.0.0.1", "localhost", "::1")
WANTED = "runs as spans need the extra otel: pip install 'planexec-lite[otel]'"


class ExportFailedError(RuntimeError):
    """The exporter could not hand the spans on."""


def send(
    what: Run | Iterable[Span],
    exporter: SpanExporter,
    *,
    epoch: float | Literal["now"] = "now",
    patience: float = 15.0,
) -> int:
    """Hand a run, or the spans that `of` made of one, to an exporter of OpenTelemetry's SDK, and return how many there are.

    Args:
        what: a run, or spans, which have their dates already.
        exporter: of OpenTelemetry's SDK; it is not shut down.
        epoch: when the run began, in seconds since 1970; "now": the run ends now, by this machine's clock.
        patience: seconds to wait for each portion of spans.

    Raises `ExportFailedError` where the exporter fails or is too slow (the first portions of a long run may have gone),
    and `ImportError` where the extra is missing.
    """
    if isinstance(what, Run):
        spans = of(what, epoch=max(0.0, time.time() - what.makespan) if epoch == "now" else epoch)
    else:
        spans = list(what)
    check_installed()
    for start in range(0, len(spans), BATCH):
        _hand_on_in_time(spans[start : start + BATCH], exporter, patience)
    return len(spans)


def _hand_on_in_time(batch: Sequence[Span], exporter: SpanExporter, patience: float) -> None:
    """Hand on a portion on a thread of its own: a collector that never answers can't be interrupted."""
    outcome: list[BaseException | None] = []

    def work() -> None:
        try:
            hand_on(batch, exporter)
        except BaseException as problem:
            outcome.append(problem)
        else:
            outcome.append(None)

    thread = Thread(target=copy_context().run, args=(work,), name="spans on their way", daemon=True)
    try:
        thread.start()
    except RuntimeError:  # there are no threads in a browser tab
        hand_on(batch, exporter)
        return
    thread.join(patience)
    if not outcome:
        name = type(exporter).__name__
        words = f"{name} did not hand on {len(batch)} spans within {patience:g} s (patience)"
        raise ExportFailedError(f"{words}; does the collector answer?")
    if outcome[0] is not None:
        raise outcome[0]


def hand_on(batch: Sequence[Span], exporter: SpanExporter) -> None:
    """Hand one portion to an exporter. Raises `ExportFailedError` where it could not hand it on."""
    from opentelemetry.sdk.trace.export import SpanExportResult

    if exporter.export(as_sdk(batch)) is not SpanExportResult.SUCCESS:
        words = f"{type(exporter).__name__} could not hand on {len(batch)} spans"
        raise ExportFailedError(f"{words}; is a collector there?")


def check_installed() -> None:
    """Raise `ImportError`, with what is to be installed, where the extra is missing."""
    try:
        import opentelemetry.sdk.trace.export  # noqa: F401
    except ImportError as missing:
        raise ImportError(WANTED) from missing


def console() -> SpanExporter:
    """An exporter that prints spans."""
    try:
        from opentelemetry.sdk.trace.export import ConsoleSpanExporter
    except ImportError as missing:
        raise ImportError(WANTED) from missing
    return ConsoleSpanExporter(out=sys.stdout)  # as it is now: a notebook has its own


def in_memory() -> InMemorySpanExporter:
    """An exporter that keeps spans; its ``get_finished_spans()`` gives them."""
    try:
        from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
    except ImportError as missing:
        raise ImportError(WANTED) from missing
    return InMemorySpanExporter()


def otlp(url: str = "http://127.0.0.1:4318/v1/traces", *, timeout: float = 10.0) -> SpanExporter:
    """An exporter that sends spans to a collector on this machine, by OTLP over HTTP; it gives up after `timeout` seconds.

    Raises `ValueError` for a collector elsewhere: spans hold what was said in a run. One that runs here can pass them on.
    """
    parts = urlsplit(url)
    if parts.scheme != "http" or parts.hostname not in LOOPBACK:
        raise ValueError(
            f"{url!r}: a collector on this machine is wanted, as http://127.0.0.1:4318/v1/traces; it can pass on"
        )
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    except ImportError as missing:
        raise ImportError(WANTED) from missing
    return OTLPSpanExporter(endpoint=url, timeout=timeout)


def as_sdk(spans: Iterable[Span]) -> list[ReadableSpan]:
    """Spans as the SDK's own values."""
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import Event, ReadableSpan
    from opentelemetry.sdk.util.instrumentation import InstrumentationScope
    from opentelemetry.trace import SpanContext, SpanKind, TraceFlags
    from opentelemetry.trace.status import Status, StatusCode

    resource, scope = Resource({"service.name": SERVICE}), InstrumentationScope(SCOPE)

    def context(trace_id: str, span_id: str) -> Any:
        return SpanContext(int(trace_id, 16), int(span_id, 16), is_remote=False, trace_flags=TraceFlags(1))

    return [
        ReadableSpan(
            span.name,
            context=context(span.trace_id, span.span_id),
            parent=None if span.parent_id is None else context(span.trace_id, span.parent_id),
            resource=resource,
            attributes=dict(span.attributes),
            events=[Event(one.name, dict(one.attributes), one.at) for one in span.events],
            kind=SpanKind.CLIENT if span.asks else SpanKind.INTERNAL,
            status=Status() if span.error is None else Status(StatusCode.ERROR, span.error),
            start_time=span.start,
            end_time=span.end,
            instrumentation_scope=scope,
        )
        for span in spans
    ]
