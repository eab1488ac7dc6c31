"""Runs as OpenTelemetry spans, and spans as runs, in the terms of every collector.

>>> from planexec_lab import spans
>>> spans.send(run, spans.otlp())                                     # or another exporter, such as ConsoleSpanExporter()
>>> agent = PlannerExecutor(…, watch=spans.live(spans.otlp()))         # each span as soon as it has ended
>>> theirs = spans.read(Path("trace.json").read_text())               # OTLP JSON, or a trace of openai-agents or LangGraph
>>> views.timeline(theirs)

Names follow OpenTelemetry's semantic conventions for GenAI (`names`); other names begin with "planexec.". `of` is a pure function
from events to plain values (`span`). `send` passes them to an exporter after the run, `live` during the run (`live_export`);
neither changes a global provider. The same code makes both (`run_spans`), so they send the same spans. `write` returns OTLP JSON,
which `read` reads back as the same events. A foreign trace has less information than a run: `foreign` describes the conversion,
and `sample` returns two traces of real runs (`sample_traces`).

`views.spans` draws the spans as a collector would. OpenTelemetry's SDK is the extra ``otel``; only `send`, `live` and the exporters
import it.
"""

from planexec_lab.spans.exporting import ExportFailedError, otlp, send
from planexec_lab.spans.from_events import of
from planexec_lab.spans.live_export import Live, live
from planexec_lab.spans.otlp_json import write
from planexec_lab.spans.reading import read
from planexec_lab.spans.sample_traces import sample
from planexec_lab.spans.span import Span, SpanEvent, TraceError

__all__ = [
    "ExportFailedError",
    "Live",
    "Span",
    "SpanEvent",
    "TraceError",
    "live",
    "of",
    "otlp",
    "read",
    "sample",
    "send",
    "write",
]
