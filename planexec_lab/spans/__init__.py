"""Runs as OpenTelemetry spans, and spans as runs: what happened in an agent, in the terms that every collector knows.

>>> from planexec_lab import spans
>>> spans.send(run, spans.console())                                  # or spans.otlp(url)
>>> agent = PlannerExecutor(…, watch=spans.live(spans.otlp()))         # each span as soon as it has ended
>>> theirs = spans.read(Path("trace.json").read_text())               # OTLP JSON, or a trace of openai-agents or LangGraph
>>> views.timeline(theirs)

Names are those of OpenTelemetry's semantic conventions for GenAI (`names`); what these have no name for begins with
"planexec.". `of` is a pure function from the events to plain values (`span`); `send` hands them to an exporter when the run is
over, `live` while it goes on (`live_export`), and neither changes a global provider. The same lines draw both (`run_spans`), so
what is sent is the same. `write` gives OTLP JSON, which `read` reads back as the same events. A foreign trace tells less than
a run: `foreign` says what is made of it, and `sample` gives two of real runs to try it on (`sample_traces`).

`views.spans` draws what a collector would show. OpenTelemetry's SDK is the extra ``otel``, and is imported by `send`, `live` and
the exporters alone.
"""

from planexec_lab.spans.exporting import ExportFailedError, console, otlp, send
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
    "console",
    "live",
    "of",
    "otlp",
    "read",
    "sample",
    "send",
    "write",
]
