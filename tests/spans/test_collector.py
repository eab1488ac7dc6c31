"""Spans handed to exporters of the genuine SDK: a collector on this machine, the console, one that keeps them."""

import json
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from planexec_lab import spans
from planexec_lab.spans import live_export
from tests.spans.collecting import Collector
from tests.spans.samples import SAMPLES


@pytest.mark.slow
@pytest.mark.parametrize("name", ["nested", "planned", "in_turns"])
def test_a_collector_gets_the_run_and_it_is_the_same(collector: Collector, name: str) -> None:
    run = SAMPLES[name]()
    exporter = spans.otlp(collector.url)
    assert spans.send(run, exporter) == len(spans.of(run))
    exporter.shutdown()
    (got,) = collector.got
    assert spans.read(got).events == run.events
    sent = got["resourceSpans"][0]["scopeSpans"][0]
    assert sent["scope"] == {"name": "planexec_lab.spans"}
    kinds = {True: "SPAN_KIND_CLIENT", False: "SPAN_KIND_INTERNAL"}
    assert [(one["name"], one["kind"]) for one in sent["spans"]] == [
        (one.name, kinds[one.asks]) for one in spans.of(run)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("status", [400, None])
def test_a_collector_that_refuses_or_is_gone_is_told_of(status: int | None) -> None:
    made = Collector(status or 200)
    if status is None:
        made.close()
    with pytest.raises(
        spans.ExportFailedError, match="OTLPSpanExporter could not hand on 8 spans; is a collector there"
    ):
        spans.send(SAMPLES["retried"](), spans.otlp(made.url, timeout=0.5))
    if status:
        made.close()


def silent(connection: socket.socket) -> None:
    connection.recv(1)


def dripping(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nX: ")
    for _ in range(600):
        connection.sendall(b"x")
        time.sleep(0.1)


@pytest.mark.parametrize("answer", [silent, dripping])
def test_a_collector_that_never_answers_does_not_hang_a_run(
    answer: Callable[[socket.socket], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    open_ones: list[socket.socket] = []

    def serve() -> None:
        with suppress(OSError):  # the test is over
            open_ones.append(listening.accept()[0])
            answer(open_ones[0])

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=serve, daemon=True).start()
        exporter = spans.otlp(f"http://127.0.0.1:{listening.getsockname()[1]}/v1/traces", timeout=20)
        began = time.monotonic()
        monkeypatch.setattr(live_export, "PATIENCE", 0.5)
        with pytest.warns(RuntimeWarning, match="spans have not gone yet, and may still go"):
            spans.live(exporter)(SAMPLES["retried"]())
        assert time.monotonic() - began < 10
        for one in open_ones:
            one.close()


@pytest.mark.parametrize(
    "url",
    ["https://collector.example/v1/traces", "http://10.0.0.1:4318", "127.0.0.1:4318", "http://127.0.0.1.example/"],
)
def test_a_collector_elsewhere_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="a collector on this machine is wanted"):
        spans.otlp(url)


def test_any_exporter_gets_them_and_no_global_provider_changes(capsys: pytest.CaptureFixture[str]) -> None:
    before = trace.get_tracer_provider()
    kept = InMemorySpanExporter()
    run = SAMPLES["nested"]()
    spans.send(spans.of(run), kept)
    assert trace.get_tracer_provider() is before
    for ours, theirs in zip(spans.of(run), kept.get_finished_spans(), strict=True):
        assert theirs.context is not None
        assert f"{theirs.context.span_id:016x}" == ours.span_id
        assert f"{theirs.context.trace_id:032x}" == ours.trace_id
        assert dict(theirs.attributes or {}) == dict(ours.attributes)
        assert (theirs.start_time, theirs.end_time) == (ours.start, ours.end)
    assert spans.send(SAMPLES["retried"](), spans.console()) == 8
    printed = capsys.readouterr().out
    assert json.JSONDecoder().raw_decode(printed)[0]["name"] == "invoke_agent planner-executor"
    assert printed.count('"trace_id"') >= 8
