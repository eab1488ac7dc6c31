"""A run as spans: what is inside what, by the conventions; written as OTLP JSON, read again, and sent to exporters."""

import json
import os
import random
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread

import pytest
from hypothesis import given
from opentelemetry import trace
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes as published
from opentelemetry.semconv.attributes.error_attributes import ERROR_TYPE
from opentelemetry.trace import SpanKind

from planexec_lab import spans
from planexec_lab.spans import Span, names
from planexec_lab.spans.span import NANO
from planexec_lite import Policy, Run
from planexec_lite.plan import Problem
from planexec_lite.run import events
from tests.core.test_events import runs
from tests.rounds import rounds
from tests.spans.collecting import Collector
from tests.spans.samples import SAMPLES, calls_of, long
from tests.views import worlds

ROOT = Path(__file__).parents[2]


def test_what_a_model_calls_in_a_step_stands_below_it() -> None:
    made = spans.of(SAMPLES["in_turns"]())
    tools = [span for span in made if span.attributes.get(names.OPERATION) == names.EXECUTE_TOOL]
    assert [json.loads(str(span.attributes[names.ARGUMENTS])) for span in tools] == [
        {"where": "nowhere"},
        {"where": "the hall"},
    ]
    assert [span.attributes.get(names.ERROR) for span in tools] == ["LookupError", None]
    chats = [span for span in made if span.attributes.get(names.OPERATION) == names.CHAT]
    times = [((span.start - made[0].start) / NANO, (span.end - made[0].start) / NANO) for span in chats]
    assert times == [(0, 0.5), (1.5, 2), (3, 3.5)]
    assert all(span.asks and span.parent_id == made[1].span_id for span in chats)


def test_tokens_and_dollars_of_the_calls_add_up_to_those_of_the_run() -> None:
    run = SAMPLES["planned"]()
    made = spans.of(run)
    chats = [span for span in made if span.asks]
    for name in (names.TOKENS_IN, names.TOKENS_OUT, names.COST):
        assert sum(span.attributes[name] for span in chats) == made[0].attributes[name]  # type: ignore[misc]
    assert made[0].attributes[names.TOKENS_IN] == run.usage.input_tokens == 400
    assert [span.name for span in made if span.parent_id == made[1].span_id] == ["chat gpt-4o"]
    assert [event.name for event in made[0].events] == [
        f"planexec.{kind}" for kind in ("RunStarted", "Paused", "Reviewed", "Ended")
    ]


@pytest.mark.parametrize("name", SAMPLES)
def test_of_a_run_under_way_too_each_span_lies_within_the_one_around_it(name: str) -> None:
    run = SAMPLES[name]()
    for length in range(1, len(run.events) + 1):
        made: dict[str, Span] = {}
        for span in spans.of(Run(run.events[:length])):
            around = made[span.parent_id] if made else span
            assert around.start <= span.start <= span.end <= around.end, f"after {length} events"
            made[span.span_id] = span


def test_names_and_operations_are_those_of_the_published_conventions() -> None:
    known = {value for name, value in vars(published).items() if name.startswith("GEN_AI_")} | {ERROR_TYPE}
    every = [span for made in SAMPLES.values() for span in spans.of(made())]
    noted = [event for span in every for event in span.events]
    used = {key for one in (*every, *noted) for key in one.attributes if not key.startswith(names.OWN)}
    assert used <= known
    assert {names.OPERATION, names.MODEL, names.TOKENS_IN, names.TOKENS_OUT, names.TOOL, names.ERROR} <= used
    operations = {span.attributes.get(names.OPERATION) for span in every} - {None}
    # "plan" came with the conventions' own repository, after the package's last list
    assert operations == {"plan", "invoke_agent", "execute_tool", "chat"}
    assert operations - {"plan"} <= {one.value for one in published.GenAiOperationNameValues}
    assert spans.of(SAMPLES["rolled_back"]())[0].attributes[names.ERROR] == "rolled_back"
    verdicts = [event.attributes for span in spans.of(worlds.replanned()) for event in span.events]
    verdicts = [one for one in verdicts if names.VERDICT in one]
    assert [one[names.VERDICT] for one in verdicts] == ["accept", "accept", "replan", "accept"]
    assert verdicts[2][names.EXPLANATION] == "2 endpoints answer <401>"


def test_without_content_no_word_of_what_was_said_is_written() -> None:
    secret = "S3CRET"
    run = worlds.given(
        worlds.plan([("1", secret, 1, [])]),
        events.StepStarted(0.0, "1", 1, 2),
        events.Inside(0.5, "1", events.Thought(secret)),
        events.Inside(0.5, "1", events.Action("work", {"a": secret})),
        events.Inside(0.5, "1", events.Observation(secret, error=True)),
        events.StepFailed(1.0, "1", f"ValueError: {secret}", 1.0),
        events.StepStarted(1.0, "1", 2, 2),
        events.StepDone(2.0, "1", secret, 1.0),
        events.NewsReceived(2.0, secret),
        events.Ended(2.0, "failed", secret),
    )
    refused = Run([events.RunStarted(0.0, secret, planner=True, reviewer=False), events.PlanStarted(0.0, "first"),
                   events.PlanProposed(2.0, None, (Problem("planner_failed", None, secret),), text=secret)])  # fmt: skip
    for one in (run, refused):
        assert secret in spans.write(spans.of(one))
        assert secret not in spans.write(spans.of(one, content=False))
    assert "ValueError" in spans.write(spans.of(run, content=False))


def ids(made: list[Span]) -> list[tuple[str, str, str | None]]:
    return [(span.trace_id, span.span_id, span.parent_id) for span in made]


def test_ids_come_from_the_events_alone_and_the_epoch_moves_all_times() -> None:
    one, other = (spans.of(SAMPLES["nested"](), epoch=epoch) for epoch in (1.5, 1_795_000_000.25))
    assert {after.start - before.start for before, after in zip(one, other, strict=True)} == {1_794_999_998_750_000_000}
    assert ids(one) == ids(other)
    assert not {span.span_id for span in one} & {span.span_id for span in spans.of(SAMPLES["retried"]())}
    assert all(len(span.trace_id) == 32 and len(span.span_id) == 16 for span in one)
    before, after = SAMPLES["nested_and_paused"](), SAMPLES["nested_and_resumed"]()
    kept, longer = (ids(spans.of(run, trace_id="ab" * 16)) for run in (before, after))
    assert set(kept) <= set(longer)
    assert ids(spans.of(before)) != kept


def test_an_epoch_or_a_trace_id_that_is_none_is_refused() -> None:
    for epoch in (-1.0, float("nan")):
        with pytest.raises(ValueError, match="seconds since 1970 are wanted"):
            spans.of(Run(), epoch=epoch)
    for trace_id, words in {"7": "32 hexadecimal digits are wanted", "0" * 32: "not all of them zero"}.items():
        with pytest.raises(ValueError, match=words):
            spans.of(Run(), trace_id=trace_id)


PROGRAM = """
import sys
from planexec_lab import spans
from tests.spans.samples import SAMPLES
print(*([(one.trace_id, one.span_id) for one in spans.of(make())] for make in SAMPLES.values()), sep="\\n")
print("opentelemetry" in sys.modules)
"""


@pytest.mark.wide
def test_ids_are_the_same_under_every_hash_seed_and_load_no_package() -> None:
    def printed(seed: str) -> str:
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-c", PROGRAM]
        return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True).stdout

    *ids, loaded = printed("0").splitlines()
    assert (len(ids), loaded) == (len(SAMPLES), "False")
    assert [*ids, loaded] == printed("4711").splitlines()


@pytest.mark.wide
def test_a_long_run_costs_what_its_length_says() -> None:
    small, large = long(300), long(3_000)
    assert calls_of(lambda: spans.of(large)) < 10.5 * calls_of(lambda: spans.of(small))
    shorter, longer = (spans.write(long(length)) for length in (200, 2_000))
    assert calls_of(lambda: spans.read(longer)) < 11 * calls_of(lambda: spans.read(shorter))


# --- written and read again -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SAMPLES)
def test_a_run_comes_back_event_by_event(name: str) -> None:
    run = SAMPLES[name]()
    assert spans.read(spans.write(run)).events == run.events
    assert spans.read(spans.write(spans.of(run, epoch=0))).events == run.events


@rounds(40)
@given(runs())
def test_every_run_comes_back(ran: tuple[Run, Policy]) -> None:
    assert spans.read(spans.write(ran[0])).events == ran[0].events


def test_the_order_of_spans_and_of_lines_does_not_matter() -> None:
    run = SAMPLES["nested"]()
    made = spans.of(run)
    random.Random(3).shuffle(made)
    half = len(made) // 2
    lines = f"{spans.write(made[:half])}\n{spans.write(made[half:])}\n"
    assert spans.read(lines).events == run.events
    assert spans.read([json.loads(line) for line in lines.splitlines()]).events == run.events


def test_of_several_traces_one_is_chosen() -> None:
    one, other = SAMPLES["nested"](), SAMPLES["retried"]()
    both = spans.write([*spans.of(one), *spans.of(other)])
    with pytest.raises(spans.TraceError, match="there are 2 traces in it; choose one by trace_id"):
        spans.read(both)
    assert spans.read(both, trace_id=spans.of(other)[0].trace_id).events == other.events
    with pytest.raises(spans.TraceError, match="there is no trace"):
        spans.read(both, trace_id="f" * 32)


def test_a_missing_span_is_noticed() -> None:
    made = spans.of(SAMPLES["retried"]())
    with pytest.raises(spans.TraceError, match="event 2 of the run is missing: not all of its spans are there"):
        spans.read(spans.write([span for span in made if span.name != "step 1"]))


def test_a_trace_without_content_still_has_a_timeline_and_a_ledger() -> None:
    run = SAMPLES["planned"]()
    back = spans.read(spans.write(spans.of(run, content=False)))
    assert (back.status, back.makespan, back.usage) == ("finished", run.makespan, run.usage)
    assert [step.tool for step in back.plan.steps] == ["put_up", "put_up"]


@pytest.mark.slow
@pytest.mark.parametrize("status", [400, None])
def test_a_collector_that_refuses_or_is_gone_is_told_of(status: int | None) -> None:
    made = Collector(status or 200)
    if status is None:
        made.close()
    words = "OTLPSpanExporter could not hand on 8 spans; is a collector there"
    exporter = spans.otlp(made.url, timeout=0.5)
    with pytest.raises(spans.ExportFailedError, match=words):
        spans.send(SAMPLES["retried"](), exporter)
    exporter.shutdown()
    if status:
        made.close()


@pytest.mark.parametrize("begin", [b"", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n"])
def test_a_collector_that_drips_does_not_hold_up_the_program(begin: bytes) -> None:
    over = Event()

    def drip(server: socket.socket) -> None:
        connection, _ = server.accept()
        with connection, suppress(OSError):
            connection.sendall(begin)
            while not over.wait(0.05):
                connection.sendall(b"x")

    with socket.create_server(("127.0.0.1", 0)) as server:
        dripping = Thread(target=drip, args=(server,))
        dripping.start()
        exporter = spans.otlp(f"http://127.0.0.1:{server.getsockname()[1]}/v1/traces", timeout=0.5)
        try:
            with pytest.raises(
                spans.ExportFailedError, match="was not done with 8 spans after 1 s; restart the collector"
            ):
                spans.send(SAMPLES["retried"](), exporter, timeout=1.0)
        finally:
            over.set()
            dripping.join()


@pytest.mark.parametrize(
    "url",
    ["https://collector.example/v1/traces", "http://10.0.0.1:4318", "127.0.0.1:4318", "http://127.0.0.1.example/"],
)
def test_a_collector_elsewhere_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="a collector on this machine is wanted"):
        spans.otlp(url)


def test_any_exporter_gets_them_and_no_global_provider_changes() -> None:
    before = trace.get_tracer_provider()
    kept = InMemorySpanExporter()
    run = SAMPLES["in_turns"]()
    spans.send(spans.of(run), kept)
    assert trace.get_tracer_provider() is before
    for ours, theirs in zip(spans.of(run), kept.get_finished_spans(), strict=True):
        assert theirs.context is not None
        assert f"{theirs.context.span_id:016x}" == ours.span_id
        assert f"{theirs.context.trace_id:032x}" == ours.trace_id
        assert dict(theirs.attributes or {}) == dict(ours.attributes)
        assert (theirs.start_time, theirs.end_time) == (ours.start, ours.end)
        assert (theirs.kind is SpanKind.CLIENT) == ours.asks
