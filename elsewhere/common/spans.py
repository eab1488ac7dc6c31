"""OpenTelemetry writes each span to STATE/trace.json."""

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import ConsoleSpanExporter, SimpleSpanProcessor
from shop import STATE


def exporter():
    """Return an exporter that appends to the file."""
    return ConsoleSpanExporter(out=(STATE / "trace.json").open("a"))


def to_file():
    """Make the exporter the process's tracer."""
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter()))
    trace.set_tracer_provider(provider)
