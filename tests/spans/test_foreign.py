"""Traces of other frameworks' agents as runs: what is planning, what is a step, and what the pictures show of them."""

import json
from base64 import b64encode
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planexec_lab import spans, views
from planexec_lab.spans import TraceError
from planexec_lab.views.narration import sentences
from planexec_lite.run.events import Action, Inside, Observation, PlanProposed
from tests.rounds import rounds
from tests.spans.samples import agent, called, calls_of, chat, otlp, span

FAILURE = {
    "openai-agents": "Error running tool (non-fatal): Tool execution failed. Error details are redacted.",
    "langgraph": "ValueError('no such order')",
}


@pytest.mark.parametrize("framework", FAILURE)
def test_a_recorded_trace_is_a_run_of_planning_and_steps(framework: Any) -> None:
    text = spans.sample(framework)
    run = spans.read(text)
    assert sentences(run)[:-1] == [
        "the run starts: Where are the orders A-1034 and A-9034?",
        "the planner is asked for a plan",
        "a plan of 2 steps is there",
        "step 1 starts: order_status(order='A-1034')",
        "step 2 starts: order_status(order='A-9034')",
        'step 1 gives "A-1034: paid, not packed"',
        f"step 2 fails: {FAILURE[framework]}",
        "the planner is asked what comes next",
        "a plan of 0 steps is there",
    ]
    assert (run.status, run.answer) == ("finished", "A-1034 is paid, and not packed yet.")
    assert "slot 2" in views.timeline(run).text
    assert f"planner  2      {run.usage.input_tokens}" in views.ledger(run).text
    assert not [word for word in ("127.0.0.1", "localhost", "/lib/", "Traceback", "site-packages") if word in text]
    with pytest.raises(ValueError, match=f"no sample of '{framework}x'; did you mean '{framework}'"):
        spans.sample(f"{framework}x")  # type: ignore[arg-type]


def test_what_an_answer_asks_for_depends_on_what_was_done_before_it() -> None:
    trace = otlp(
        agent("a", None, 0, 100),
        chat("c1", "a", 0, 10),
        called("t1", "a", 10, 20),
        called("t2", "a", 10, 30),
        chat("c2", "a", 30, 40),
        called("t3", "a", 40, 50, error="no"),
        chat("c3", "a", 50, 60),
        called("t4", "a", 60, 70),
    )
    run = spans.read(trace)
    assert run.plan.graph == {"1": (), "2": (), "4": ("1", "2")}
    assert run.board.state["3"] == "superseded"


def test_an_agent_that_an_agent_calls_is_a_step_with_its_calls_inside() -> None:
    trace = otlp(
        agent("a", None, 0, 100),
        chat("c1", "a", 0, 10, read=1, written=1),
        agent("b", "a", 10, 60),
        chat("c2", "b", 10, 20, read=5, written=2),
        called("t1", "b", 20, 40, arguments='{"city": "Oslo"}', result='"cold"'),
        chat("c3", "b", 40, 60, read=7, written=3),
        chat("c4", "a", 60, 100, read=1, written=1),
    )
    run = spans.read(trace)
    assert [step.description for step in run.plan.steps] == ["invoke_agent b"]
    inside = [event.event for event in run.events if isinstance(event, Inside)]
    assert inside == [Action("weather", {"city": "Oslo"}), Observation("cold")]
    assert "executor  2      12" in views.ledger(run).text


def test_a_model_that_fails_is_a_planner_that_fails() -> None:
    trace = otlp(agent("a", None, 0, 9, error="gave up"), chat("c1", "a", 0, 5, error="429"), called("t", "a", 6, 7))
    run = spans.read(trace)
    assert [event.error for event in run.events if isinstance(event, PlanProposed) and event.error is not None] == [
        "429"
    ]
    assert (run.status, run.reason) == ("failed", "gave up (results unknown: 1 × a tool's call)")
    assert run.board.state == {"1": "done"}


@st.composite
def traces(draw: st.DrawFn) -> dict[str, Any]:
    """Any spans by the conventions, inside each other, side by side, at the same moment, and long or without length."""
    made: list[dict[str, Any]] = []
    for number in range(draw(st.integers(1, 14))):
        kind = draw(st.sampled_from([agent, chat, called, span]))
        parent = draw(st.sampled_from([None, "gone", *(one["spanId"] for one in made)]))
        start, length = draw(st.integers(0, 12)), draw(st.integers(0, 6))
        more: dict[str, Any] = {"error": draw(st.sampled_from([None, None, "no"]))}
        name = (f"s{number}",) if kind is span else ()
        made.append(kind(str(number), parent, *name, start, start + length, **more))
    return otlp(*draw(st.permutations(made)))


@rounds(300)
@given(traces())
def test_whatever_a_trace_tells_is_a_run_that_can_have_happened(trace: dict[str, Any]) -> None:
    run = spans.read(trace)
    times = [event.at for event in run.events if not isinstance(event, Inside)]
    assert times == sorted(times)
    assert run.status in ("finished", "failed")
    assert views.timeline(run).text
    assert spans.read(spans.write(run)).events == run.events


@pytest.mark.parametrize(("of_langsmith", "state"), [(True, "superseded"), (False, "done")])
def test_an_exception_under_the_status_ok_is_a_failure_where_langsmith_noted_it(of_langsmith: bool, state: str) -> None:
    """Its exporter sets the status OK when a span begins; elsewhere an exception may have been caught."""
    tool = called("t", "a", 10, 20)
    tool["status"] = {"code": "STATUS_CODE_OK"}
    noted = [{"key": "exception.message", "value": {"stringValue": "ValueError('no such order')"}}]
    tool["events"] = [{"timeUnixNano": tool["endTimeUnixNano"], "name": "exception", "attributes": noted}]
    if of_langsmith:
        tool["attributes"].append({"key": "langsmith.span.kind", "value": {"stringValue": "tool"}})
    run = spans.read(otlp(agent("a", None, 0, 40), chat("c", "a", 1, 9), tool, chat("d", "a", 21, 30)))
    assert run.board.state["1"] == state
    assert run.board.errors.get("1") == ("ValueError('no such order')" if of_langsmith else None)


TURN = (agent("r", None, 0, 50), chat("c", "r", 0, 10), called("t", "r", 10, 20), chat("d", "r", 20, 30))


@pytest.mark.parametrize(
    ("made", "steps"),
    [
        (
            (span("g", None, "graph", 0, 9), span("x", "g", "load", 0, 4), span("y", "g", "save", 5, 9)),
            ["load", "save"],
        ),
        ((chat("c1", "gone", 0, 5), called("t1", "gone", 5, 6)), [""]),
        ((agent("a", None, 0, 9), chat("c1", "a", 0, 5, read=4), chat("c2", "c1", 1, 4, read=4)), []),
    ],
    ids=["a graph without models and tools", "a parent that was not exported", "a call that is told twice"],
)
def test_what_is_a_step_of_a_trace(made: tuple[Any, ...], steps: list[str]) -> None:
    run = spans.read(otlp(*made))
    assert [step.description for step in run.plan.steps] == steps
    assert run.usage.input_tokens in (0, 4)


def test_ids_are_the_same_however_they_are_written() -> None:
    ids = {"r": "1a" * 8, "c": "2b" * 8, "t": "3c" * 8, "d": "4d" * 8, "ab" * 16: "fe" * 16}

    def base64(digits: str) -> str:
        return b64encode(bytes.fromhex(digits)).decode()

    def with_ids(made: Any, write: Any) -> Any:
        named = ("traceId", "spanId", "parentSpanId")
        return {key: write(ids[value]) if key in named else value for key, value in made.items()}

    ways = (str, str.upper, base64, base64)
    mixed = otlp(*(with_ids(one, way) for one, way in zip(TURN, ways, strict=True)))
    for id in (None, "fe" * 16, "FE" * 16, base64("fe" * 16)):
        assert spans.read(mixed, trace_id=id).events == spans.read(otlp(*TURN)).events
    named = {"status": {"code": "STATUS_CODE_ERROR"}, "kind": "SPAN_KIND_CLIENT"}
    assert spans.read(otlp({**agent("3LVqfiKhk0s=", None, 0, 9), **named})).status == "failed"


def test_the_same_spans_told_twice_in_another_order_and_below_nothing() -> None:
    events = spans.read(otlp(*TURN)).events
    assert spans.read(otlp(*TURN, *TURN)).events == events
    assert spans.read([otlp(*TURN[2:]), otlp(*TURN[::-1])]).events == events
    for zero in ("0" * 16, "AAAAAAAAAAA="):
        assert spans.read(otlp({**TURN[0], "parentSpanId": zero}, *TURN[1:])).events == events
    assert [step.tool for step in spans.read(otlp(*TURN[1:])).plan.steps] == ["weather"]


def test_values_are_read_as_protobuf_writes_them() -> None:
    values: list[Any] = [{"doubleValue": text} for text in ("NaN", "-Infinity", "1.5")]
    values += [{"intValue": 5.0}, None, {"arrayValue": {}}, {"kvlistValue": {"values": [{"key": "a"}]}}]
    more = [*TURN[2]["attributes"], *({"key": f"k{n}", "value": value} for n, value in enumerate(values))]
    odd = {**TURN[2], "attributes": more, "events": None, "links": None, "status": None}
    assert spans.read(otlp(*TURN[:2], odd, TURN[3])).events == spans.read(otlp(*TURN)).events


@pytest.mark.wide
@pytest.mark.parametrize("kind", ["in turns", "side by side", "inside one", "at the top"])
def test_a_long_foreign_trace_takes_what_its_length_says(kind: str) -> None:
    def trace(length: int) -> str:
        made = [agent("r", None, 0, length)]
        for n in range(length):
            begin, parent = (0 if kind == "side by side" else n), (f"never{n}" if kind == "at the top" else "r")
            made.append((chat if kind == "in turns" and n % 2 else called)(f"s{n}", parent, begin, begin + 1))
        made[0] |= {"attributes": called("r", "", 0, 0)["attributes"]} if kind == "inside one" else {}
        return json.dumps(otlp(*made))

    small, large = trace(200), trace(2_000)
    assert calls_of(lambda: spans.read(large)) < 11 * calls_of(lambda: spans.read(small))


@pytest.mark.parametrize(
    ("made", "system"),
    [
        ({"id": "1", "trace_id": "2", "name": "search", "run_type": "tool", "start_time": "x"}, "LangSmith's own run"),
        ({"type": "message", "role": "assistant", "content": [], "stop_reason": "tool_use"}, "an answer of Claude"),
        ({"candidates": [{"content": {"parts": []}}]}, "an answer of Gemini"),
        ([{"role": "user", "content": "hi"}], "a message to or from a model"),
        ([{"name": "search", "context.span_id": "1", "attributes.tool.name": "x"}], "a table of Phoenix's client"),
        ({"runs": [], "cursors": {}}, "a page of LangSmith's runs"),
        ([[{"traceId": "1", "id": "2", "name": "search", "timestamp": 1, "duration": 2, "tags": {}}]], "a span of Zipkin"),
        ({"id": "1", "trace_id": "2", "name": "search", "type": "tool", "start_time": "2026-05-01T10:00:00Z"}, "Opik's own span"),
        ({"trace_id": 1, "span_id": 2, "name": "search", "resource": "x", "meta": {}}, "a span of Datadog"),
        ({"span_name": "search", "attributes": {}}, "a row of Logfire"),
        ({"resourceLogs": []}, "OTLP JSON of logs"),
    ],
)  # fmt: skip
def test_a_file_of_another_system_is_refused_by_its_name(made: Any, system: str) -> None:
    for source in (made, [made], json.dumps(made)):
        with pytest.raises(TraceError, match=f"this is {system}, and such a file is not read"):
            spans.read(source)


def test_spans_of_no_known_kind_are_steps_and_named_as_not_understood() -> None:
    run = spans.read(otlp(span("a", None, "load", 0, 1), span("b", None, "save", 1, 2)))
    assert [step.description for step in run.board.steps.values()] == ["load", "save"]
    assert run.reason == "the trace ends (not understood: 1 × 'load', 1 × 'save')"


@pytest.mark.parametrize("key", ["success", "tool.success"])
@pytest.mark.parametrize("value", [{"boolValue": False}, {"stringValue": "false"}])
def test_a_tool_without_success_has_failed(key: str, value: dict[str, Any]) -> None:
    tool = called("a", "", 0, 1)
    tool["attributes"].append({"key": key, "value": value})
    assert spans.read(otlp(tool)).board.state["1"] in ("failed", "superseded")


@pytest.mark.parametrize("status", ["error", "failed", "cancelled", "timeout"])
def test_a_tool_with_a_status_of_failure_has_failed(status: str) -> None:
    tool = called("a", "", 0, 1)
    tool["attributes"].append({"key": "gen_ai.tool.status", "value": {"stringValue": status}})
    assert spans.read(otlp(tool)).board.errors == {"1": "failed"}


def test_a_status_can_be_a_word_alone() -> None:
    failed = {**called("a", "", 0, 1), "status": "STATUS_CODE_ERROR"}
    assert spans.read(otlp(failed)).board.errors == {"1": "failed"}


@pytest.mark.parametrize(
    ("written", "read"), [("1.10", "1.10"), ("1e3", "1e3"), ("1.5", 1.5), ("7", 7), ("[1.10]", [1.1])]
)
def test_a_number_that_json_would_write_otherwise_is_a_text(written: str, read: Any) -> None:
    tool = called("a", "", 0, 1)
    tool["attributes"].append({"key": "gen_ai.tool.call.result", "value": {"stringValue": written}})
    assert spans.read(otlp(tool)).results == {"1": read}


def test_missing_spans_of_tools_and_answers_cut_off_are_said() -> None:
    asked, cut = chat("c", "a", 0, 1), chat("d", "a", 2, 3)
    asked["attributes"].append({"key": "gen_ai.response.finish_reasons", "value": {"stringValue": '["tool_calls"]'}})
    cut["attributes"].append({"key": "gen_ai.completion.0.finish_reason", "value": {"stringValue": "length"}})
    reason = spans.read(otlp(agent("a", None, 0, 9), asked, cut)).reason
    assert "(tools' calls missing: asked for in 1 × a model's call) (answers cut off: 1 × a model's call)" in reason
    whole = spans.read(otlp(agent("a", None, 0, 9), asked, called("t", "a", 1, 2))).reason
    assert "missing" not in whole
    assert "cut off" not in whole


def test_a_result_that_the_trace_does_not_have_is_unknown_and_not_null() -> None:
    null = called("b", "", 1, 2)
    null["attributes"].append({"key": "gen_ai.tool.call.result", "value": {"stringValue": "null"}})
    failed = {**called("c", "", 2, 3), "status": {"code": 2}}
    assert spans.read(otlp(called("a", "", 0, 1), null, failed)).reason.endswith("(results unknown: 1 × a tool's call)")


def test_dropped_attributes_are_said_and_arguments_named_twice_stay_text() -> None:
    twice = '{"city": "Oslo", "city": "Rome"}'
    run = spans.read(otlp({**called("a", "", 0, 1, arguments=twice), "droppedAttributesCount": 3}))
    assert run.reason.startswith("the trace ends (attributes or events were dropped: 1 × a span)")
    assert run.plan.steps[0].params == {"input": twice}
