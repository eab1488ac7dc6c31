"""Spans handed to an exporter of OpenTelemetry's SDK: the console's, or one that sends them to a collector.

They are built as the SDK's own values and given to the exporter directly. No provider is made or changed, so a program that
traces itself is not disturbed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextvars import copy_context
from importlib import import_module
from threading import Thread
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from planexec_lab.spans.from_events import of
from planexec_lab.spans.otlp_json import SCOPE, SERVICE
from planexec_lab.spans.span import Span
from planexec_lite.run import Run

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.sdk.trace.export import SpanExporter

BATCH = 512  # spans in one request, as in the SDK's processor; a collector combines them by their ids
LOOPBACK = ("127.0.0.1", "localhost", "::1")


class ExportFailedError(RuntimeError):
    """The exporter could not hand the spans on."""


def send(
    run: Run | Iterable[Span], exporter: SpanExporter, *, epoch: float | None = None, timeout: float = 30.0
) -> int:
    """Send a run, or spans made by `of`, to an exporter of OpenTelemetry's SDK, and return the number of spans.

    Args:
        run: a run, or spans with dates.
        exporter: an exporter of OpenTelemetry's SDK; it is not shut down.
        epoch: the run's start in seconds since 1970; None: the run ends now, by this machine's clock.
        timeout: seconds for all spans together.

    Raises `ExportFailedError` if the exporter fails or needs more time (the first parts of a long run might be sent already), and
    `ImportError` without the extra.
    """
    success = imported("sdk.trace.export", "SpanExportResult").SUCCESS
    if isinstance(run, Run):
        epoch = max(0.0, time.time() - run.makespan) if epoch is None else epoch
        run = of(run, epoch=epoch)
    spans, name = list(run), type(exporter).__name__
    problems: list[Exception] = []

    def export() -> None:
        try:
            for start in range(0, len(spans), BATCH):
                batch = as_sdk(spans[start : start + BATCH])
                if exporter.export(batch) is not success:
                    raise ExportFailedError(f"{name} could not hand on {len(batch)} spans; is a collector there?")
        except Exception as problem:
            problems.append(problem)

    if on_a_thread(export, timeout).is_alive():  # the exporter's own timeout covers only each part of an answer
        raise ExportFailedError(
            f"{name} was not done with {len(spans)} spans after {timeout:g} s; restart the collector"
        )
    if problems:
        raise problems[0]
    return len(spans)


def on_a_thread(work: Callable[[], object], seconds: float) -> Thread:
    """Do `work` on a thread, wait for it for at most `seconds`, and return the thread. A browser tab has no threads: it does the
    work here.
    """
    thread = Thread(target=copy_context().run, args=(work,), name="export of spans", daemon=True)
    try:
        thread.start()
    except RuntimeError:
        work()
    else:
        thread.join(seconds)
    return thread


def otlp(url: str = "http://127.0.0.1:4318/v1/traces", *, timeout: float = 10.0) -> SpanExporter:
    """An exporter that sends spans to a collector on this machine, by OTLP over HTTP, with a timeout in seconds.

    Raises `ValueError` for a remote collector, because spans can have private contents. A local collector can forward them.
    """
    parts = urlsplit(url)
    if parts.scheme != "http" or parts.hostname not in LOOPBACK:
        raise ValueError(
            f"{url!r}: a collector on this machine is wanted, as http://127.0.0.1:4318/v1/traces; it can pass on"
        )
    exporter: SpanExporter = imported("exporter.otlp.proto.http.trace_exporter", "OTLPSpanExporter")(
        endpoint=url, timeout=timeout
    )
    return exporter


def imported(module: str, name: str) -> Any:
    """Import a name of OpenTelemetry. Raises `ImportError`, with what must be installed, where the extra is missing."""
    try:
        return getattr(import_module(f"opentelemetry.{module}"), name)
    except ImportError as missing:
        raise ImportError("runs as spans need the extra otel: pip install 'planexec-lab[otel]'") from missing


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
