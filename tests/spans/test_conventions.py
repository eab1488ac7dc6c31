"""One conversation in the conventions and the files that people have: each is the same run."""

import json
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

from planexec_lab import spans, views
from planexec_lite.run import Run

NANO = 1_000_000_000
Told = tuple[str, dict[str, Any], list[tuple[str, dict[str, Any]]]]  # a name, attributes, events


def told(name: str, attributes: dict[str, Any]) -> Told:
    return name, attributes, []


CONVENTIONS: dict[str, tuple[Told, Told, Told]] = {  # an agent, a model's answer, a tool's call
    convention: tuple((one["name"], one["attributes"], one.get("events", [])) for one in spoken)  # type: ignore[misc]
    for convention, spoken in yaml.safe_load(Path(__file__).with_name("conventions.yaml").read_text("utf-8")).items()
}


def made(conversation: tuple[Told, ...]) -> list[dict[str, Any]]:
    """The spans as plain data: the agent at the top, the others below it, one second each."""
    parents = [None, *(["1" * 16] * (len(conversation) - 1))]
    return [
        {"name": name, "id": str(place + 1) * 16, "parent": parent, "from": place and place - 1, "to": place or 9,
         "attributes": attributes, "events": events}
        for place, ((name, attributes, events), parent) in enumerate(zip(conversation, parents, strict=True))
    ]  # fmt: skip


def kind(value: Any) -> str:
    return {int: "intValue", float: "doubleValue"}.get(type(value), "stringValue")


def otlp(parts: list[dict[str, Any]]) -> str:
    def pairs(given: dict[str, Any]) -> list[dict[str, Any]]:
        return [{"key": key, "value": {kind(value): value}} for key, value in given.items()]

    listed = [
        {"name": one["name"], "traceId": "a" * 32, "spanId": one["id"], "parentSpanId": one["parent"],
         "startTimeUnixNano": one["from"] * NANO, "endTimeUnixNano": one["to"] * NANO,
         "attributes": pairs(one["attributes"]),
         "events": [{"name": name, "attributes": pairs(more)} for name, more in one["events"]]}
        for one in parts
    ]  # fmt: skip
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": listed}]}]})


def jaeger(parts: list[dict[str, Any]]) -> str:
    def pairs(given: dict[str, Any]) -> list[dict[str, Any]]:
        return [{"key": key, "type": "string", "value": value} for key, value in given.items()]

    listed = [
        {"traceID": "a" * 32, "spanID": one["id"], "operationName": one["name"], "startTime": one["from"] * 1_000_000,
         "references": [{"refType": "CHILD_OF", "traceID": "a" * 32, "spanID": one["parent"]}] if one["parent"] else [],
         "duration": (one["to"] - one["from"]) * 1_000_000, "tags": pairs(one["attributes"]),
         "logs": [{"timestamp": 0, "fields": pairs({"event": name, **more})} for name, more in one["events"]]}
        for one in parts
    ]  # fmt: skip
    return json.dumps({"data": [{"traceID": "a" * 32, "spans": listed}]})


def console(parts: list[dict[str, Any]]) -> str:
    """Objects over several lines, in a row."""

    def at(second: int) -> str:
        return (datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=second)).isoformat().replace("+00:00", "Z")

    listed = [
        {"name": one["name"], "context": {"trace_id": "0x" + "a" * 32, "span_id": "0x" + one["id"]}, "kind": "SpanKind.INTERNAL",
         "parent_id": one["parent"] and "0x" + one["parent"], "start_time": at(one["from"]), "end_time": at(one["to"]),
         "status": {"status_code": "UNSET"}, "attributes": one["attributes"],
         "events": [{"name": name, "timestamp": at(0), "attributes": more} for name, more in one["events"]]}
        for one in parts
    ]  # fmt: skip
    return "\n".join(json.dumps(one, indent=4) for one in listed)


def mlflow(parts: list[dict[str, Any]]) -> str:
    listed = [
        {"name": one["name"], "context": {"trace_id": "a" * 32, "span_id": one["id"]}, "parent_id": one["parent"],
         "start_time": one["from"] * NANO, "end_time": one["to"] * NANO, "status_code": "OK", "attributes": one["attributes"],
         "events": [{"name": name, "timestamp": 0, "attributes": more} for name, more in one["events"]]}
        for one in parts
    ]  # fmt: skip
    return json.dumps({"info": {"request_id": "1"}, "data": {"spans": listed}})


def tempo(parts: list[dict[str, Any]]) -> str:
    return json.dumps({"batches": json.loads(otlp(parts))["resourceSpans"]})


def summary(run: Run) -> dict[str, Any]:
    steps = [(step.tool, dict(step.params), run.results[step.id]) for step in run.plan.steps]
    calls = (run.usage.calls, run.usage.input_tokens, run.usage.output_tokens)
    return {"steps": steps, "calls": calls, "end": run.reason}


@pytest.mark.parametrize("file", [otlp, jaeger, console, mlflow, tempo])
@pytest.mark.parametrize("name", [*CONVENTIONS])
def test_a_conversation_is_the_same_run_in_each_convention_and_file(name: str, file: Any) -> None:
    run = spans.read(file(made(CONVENTIONS[name])))
    steps = [("weather", {"city": "Oslo"}, "cold")]
    assert summary(run) == {"steps": steps, "calls": (1, 7, 3), "end": "the trace ends"}
    assert run.makespan == 9.0
    asks = any("How is Oslo?" in str(one) for one in CONVENTIONS[name])
    assert run.board.started.goal == ("How is Oslo?" if asks else CONVENTIONS[name][0][0])


def observed(id: str, kind: str, name: str, second: int, **more: Any) -> dict[str, Any]:
    """An observation as Langfuse's API returns it."""
    times = {"startTime": f"2026-01-01T00:00:0{second}.000Z", "endTime": f"2026-01-01T00:00:0{second + 1}.000Z"}
    return {
        "id": id,
        "traceId": "t",
        "type": kind,
        "name": name,
        "parentObservationId": None,
        "level": "DEFAULT",
        **times,
        **more,
    }


def test_a_trace_exported_by_langfuse_is_a_run_whose_missing_tokens_are_unknown() -> None:
    calls = [
        observed("1", "GENERATION", "m", 0, model="gpt-4o", usageDetails={"input": 7, "output": 3}),
        observed("2", "TOOL", "weather", 1, input={"city": "Oslo"}, output="cold"),
        observed("3", "TOOL", "weather", 2, input={"city": "X"}, level="ERROR", statusMessage="no such city"),
        observed("4", "EVENT", "noted", 3, endTime=None),
        observed("5", "GENERATION", "m", 4, model="gpt-4o", output="It is cold.", usageDetails={}, usage={"input": 0}),
    ]
    trace = {"id": "t", "name": "chat", "input": "How is Oslo?", "output": "It is cold.", "observations": calls}
    run = spans.read(trace)
    assert (run.board.goal, run.answer) == ("How is Oslo?", "It is cold.")
    assert [(step.tool, dict(step.params)) for step in run.board.steps.values()] == [
        ("weather", {"city": "Oslo"}),
        ("weather", {"city": "X"}),
    ]
    assert (run.results, run.board.state["2"]) == ({"1": "cold"}, "superseded")
    assert run.reason == "the trace ends (not understood: 1 × 'noted') (tokens unknown: 1 × a model's call)"
    assert views.ledger(run).text.splitlines()[0].startswith("2 model calls, ≥ 10 tokens, ≥ $")
    listed = {"data": calls, "meta": {"page": 1, "totalPages": 1}}
    assert spans.read(listed).results == run.results
    with pytest.raises(spans.TraceError, match="there are more spans than these"):
        spans.read(listed | {"meta": {"page": 1, "totalPages": 2}})
    with pytest.raises(spans.TraceError, match="its observations are no objects"):
        spans.read({"id": "t", "observations": ["1", "2"]})
    del calls[0]["usageDetails"]
    assert "?" in views.ledger(spans.read(trace)).text.splitlines()[0]


def test_what_is_not_understood_is_counted_and_named() -> None:
    agent, model, tool = CONVENTIONS["GenAI"]
    inside = made(
        (agent, model, tool, told("GET /", {}), told("log", {}), agent, told("check", {"a": 1}), told("log", {}))
    )
    inside[3]["parent"], inside[4]["parent"] = inside[2]["id"], inside[1]["id"]
    inside[5] |= {"parent": None, "name": "idle"}
    run = spans.read(otlp(inside))
    assert run.reason == "the trace ends (not understood: 2 × 'log', 1 × 'GET /', 1 × 'idle', 1 × 'check')"
    assert [step.tool for step in run.plan.steps] == ["weather"]


def test_retrieval_embeddings_and_a_tool_below_a_model_are_steps() -> None:
    agent, model, tool = CONVENTIONS["GenAI"]
    found = told("retrieval kb", {"gen_ai.operation.name": "retrieval"})
    embedded = told("embed", {"openinference.span.kind": "EMBEDDING", "llm.token_count.prompt": 50})
    parts = made((agent, model, tool, embedded, found))
    parts[2] |= {"parent": parts[1]["id"], "from": 0, "to": 1}
    run = spans.read(otlp(parts))
    assert [step.tool or step.description for step in run.plan.steps] == ["weather", "embed", "retrieval kb"]
    assert (run.usage.calls, run.usage.input_tokens) == (2, 57)


def test_an_agent_that_only_frames_another_one_is_no_step() -> None:
    parts = made(CONVENTIONS["OpenInference"])
    frame = {**parts[0], "name": "Agent workflow", "id": "f" * 16}
    parts[0] |= {"parent": frame["id"]}
    assert summary(spans.read(otlp([frame, *parts])))["steps"] == [("weather", {"city": "Oslo"}, "cold")]


def test_a_failure_is_read_from_each_file() -> None:
    parts = made(CONVENTIONS["GenAI"])
    files = {jaeger: ('"tags": [', '"tags": [{"key": "error", "value": true}, '), console: ('"UNSET"', '"ERROR"'),
             mlflow: ('"OK"', '"ERROR"')}  # fmt: skip
    for file, (was, now) in files.items():
        assert spans.read(file(parts)).status == "finished"
        assert spans.read(file(parts).replace(was, now)).status == "failed"


@pytest.mark.parametrize(
    "text",
    [
        '{"resourceSpans": [{"scope_spans": [{"spans": []}]}]}',
        '{"data": [{"spans": [{"title": "a"}, {"operationName": "a"}]}]}',
        '{"a": 1,\n "a": 2}',
        otlp(made(CONVENTIONS["GenAI"])).replace("usage.input", "usage.output"),
    ],
)  # fmt: skip
def test_what_would_be_left_out_of_a_file_is_a_fault(text: str) -> None:
    with pytest.raises(spans.TraceError, match=r"is not read|no span|occurs twice"):
        spans.read(text)


def test_the_preparation_of_a_request_is_no_call_of_a_model() -> None:
    prepared = told(
        "OpenAI._prepare_chat_with_tools", {"openinference.span.kind": "LLM", "output.value": '{"messages": []}'}
    )
    run = spans.read(otlp(made((*CONVENTIONS["OpenInference"], prepared))))
    assert (run.usage.calls, run.usage.input_tokens) == (1, 7)


def phoenix(parts: list[dict[str, Any]], **more: Any) -> str:
    """Attributes inside each other, and the kind of a span beside them."""
    listed = []
    for one in json.loads(mlflow(parts))["data"]["spans"]:
        nested: dict[str, Any] = {}
        for name, value in one["attributes"].items():
            inner, keys = nested, name.split(".")
            for key in keys[:-1]:
                inner = inner.setdefault(key, {})
            inner[keys[-1]] = value
        kind = nested.pop("openinference")["span"]["kind"]
        listed.append(one | {"attributes": nested, "span_kind": kind})
    return json.dumps({"data": listed, "next_cursor": None, **more})


def test_attributes_inside_each_other_are_read() -> None:
    run = spans.read(phoenix(made(CONVENTIONS["OpenInference"])))
    assert summary(run) == {
        "steps": [("weather", {"city": "Oslo"}, "cold")],
        "calls": (1, 7, 3),
        "end": "the trace ends",
    }
    call = {"arguments": {"city": "Oslo", "days": [1]}, "result": {"sky": {"clouds": 3}}}
    attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai": {"tool": {"name": "weather", "call": call}}}
    run = spans.read(mlflow(made((*CONVENTIONS["GenAI"][:2], ("tool", attributes, [])))))
    assert summary(run)["steps"] == [("weather", call["arguments"], call["result"])]


@pytest.mark.parametrize("more", [{"next_cursor": "abc"}, {"has_more": True}, {"errors": [{"msg": "timed out"}]}])
def test_a_part_of_a_trace_is_a_fault(more: dict[str, Any]) -> None:
    with pytest.raises(
        spans.TraceError, match=f"there are more spans than these \\({next(iter(more))}\\); read all pages"
    ):
        spans.read(phoenix(made(CONVENTIONS["OpenInference"]), **more))


COUNTS: list[tuple[Any, int]] = [
    ("7", 7),
    (7.0, 7),
    ("7.0", 7),
    (" 7", 0),
    (True, 0),
    ("many", 0),
    (-7, 0),
    (7.5, 0),
    (None, 0),
]


@pytest.mark.parametrize(
    "usage", [{"input_tokens": 7, "output_tokens": 3}, '{"input_tokens": "7", "output_tokens": 3}']
)
def test_tokens_can_be_an_object(usage: Any) -> None:
    parts = made(CONVENTIONS["GenAI"])
    kept = {name: value for name, value in parts[1]["attributes"].items() if "usage" not in name}
    parts[1]["attributes"] = {**kept, "gen_ai.usage": usage}
    assert summary(spans.read(console(parts)))["calls"] == (1, 7, 3)


@pytest.mark.parametrize(("count", "expected"), COUNTS, ids=str)
def test_tokens_can_be_a_text_or_a_fraction_and_are_else_unknown(count: Any, expected: int) -> None:
    parts = made(CONVENTIONS["GenAI"])
    parts[1]["attributes"] = {**parts[1]["attributes"], "gen_ai.usage.input_tokens": count}
    run = spans.read(console(parts))
    assert (run.usage.input_tokens, run.usage.output_tokens) == (expected, 3)
    (call,) = run.board.calls
    assert ("tokens unknown" in call.note) == ("tokens unknown: 1" in run.reason) == (not expected)


def used(read: int | None, *, kind: str = "invoke_agent", **more: Any) -> Told:
    tokens = {} if read is None else {"gen_ai.usage.input_tokens": read, "gen_ai.usage.output_tokens": 0}
    return told(kind, {"gen_ai.operation.name": kind, "gen_ai.tool.name": "ask", **tokens, **more})


MODEL, TOOL = partial(used, kind="chat"), partial(used, kind="execute_tool")
AROUND: dict[str, tuple[list[Told], list[int | None], int, int]] = {  # spans, their parents, model calls, tokens
    "an agent with the sum": ([used(30), MODEL(10), MODEL(20)], [None, 0, 0], 2, 30),
    "an agent alone": ([used(30)], [None], 1, 30),
    "an agent around a tool": ([used(30), TOOL(None)], [None, 0], 1, 30),
    "an agent around calls without tokens": ([used(30), MODEL(None), MODEL(None)], [None, 0, 0], 3, 30),
    "an agent around a part of its calls": ([used(30), MODEL(10)], [None, 0], 2, 30),
    "less than its calls": ([used(5), MODEL(10)], [None, 0], 1, 10),
    "agents inside each other": ([used(30), used(30), MODEL(30)], [None, 0, 1], 1, 30),
    "an agent that an agent calls": ([used(40), MODEL(10), used(30), TOOL(None)], [None, 0, 0, 2], 2, 40),
    "a tool around a call": ([used(None), TOOL(10), MODEL(10)], [None, 0, 1], 1, 10),
    "a tool with tokens of its own": ([used(None), TOOL(10)], [None, 0], 1, 10),
    "a call inside a call": ([used(None), MODEL(10), MODEL(10)], [None, 0, 1], 1, 10),
    "a call inside a call without tokens": ([used(None), MODEL(None), MODEL(10)], [None, 0, 1], 1, 10),
}


@pytest.mark.parametrize("name", AROUND)
def test_tokens_count_once_also_if_only_a_span_around_has_them(name: str) -> None:
    conversation, parents, calls, tokens = AROUND[name]
    parts = made(tuple(conversation))
    for part, parent in zip(parts, parents, strict=True):
        part["parent"] = None if parent is None else parts[parent]["id"]
    run = spans.read(otlp(parts))
    assert (run.usage.calls, run.usage.input_tokens) == (calls, tokens)
    assert spans.read(spans.write(run)).events == run.events


PARTS = '[{"type": "text", "text": "ValueError: no network"}]'
MESSAGE = '{"tool_call_id": "a", "status": "error", "content": "no network"}'
NOTED = [("exception", {"exception.message": "no network"})]
FAILED: dict[str, tuple[dict[str, Any], list[Any], str | None]] = {  # a tool's attributes and events, and its error
    "an error's type": ({"error.type": "tool_error"}, [], "tool_error"),
    "an error's type and words": ({"error.type": "tool_error", "anthropic.tool_result.content": PARTS}, [], "no network"),
    "an error and its message": ({"error.message": "no network", "error.type": "tool_error"}, [], "no network"),
    "an error as OpenTracing has it": ({"error": "true"}, NOTED, "no network"),
    "an error as words": ({"error": "no network"}, [], "no network"),
    "no error": ({"error": "false"}, [], None),
    "a status as an attribute": ({"otel.status_code": "ERROR", "otel.status_description": "no network"}, [], "no network"),
    "an exception": ({}, NOTED, "no network"),
    "an exception that was caught": ({}, [("exception", {**NOTED[0][1], "exception.escaped": "False"})], None),
    "a status of its own": ({"gen_ai.tool.status": "error", "gen_ai.tool.call.result": "no network"}, [], "no network"),
    "a message": ({"output.value": f'{{"type": "tool", "data": {MESSAGE}}}'}, [], "no network"),
    "a message in another one": ({"output.value": f'{{"output": {MESSAGE}}}'}, [], "no network"),
    "a result over MCP": ({"gen_ai.tool.call.result": f'{{"isError": true, "content": {PARTS}}}'}, [], "no network"),
    "Langfuse's level": (
        {"langfuse.observation.level": "ERROR", "langfuse.observation.status_message": "no network"}, [], "no network",
    ),
    "no success, as a number": ({"tool.success": 0, "gen_ai.tool.call.result": "no network"}, [], "no network"),
    "an attribute of a server's": ({"mcp.tool.result.is_error": "true", "gen_ai.tool.call.result": "no network"}, [], "no network"),
    "an attribute of a tool's": ({"tool.isError": "true", "gen_ai.tool.call.result": "no network"}, [], "no network"),
    "an attribute of another check": ({"validation.is_error": "true", "gen_ai.tool.call.result": "cold"}, [], None),
    "an attribute that says no": ({"tool.is_error": "false", "gen_ai.tool.call.result": "cold"}, [], None),
    "data about an error": ({"gen_ai.tool.call.result": '{"status": "error", "is_down": true}'}, [], None),
    "a message that is fine": ({"output.value": '{"tool_call_id": "a", "status": "success", "content": "cold"}'}, [], None),
}  # fmt: skip


@pytest.mark.parametrize("name", FAILED)
def test_a_tool_without_a_status_failed_if_anything_else_says_so(name: str) -> None:
    attributes, events, error = FAILED[name]
    tool = (
        "execute_tool",
        {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "weather", **attributes},
        events,
    )
    run = spans.read(otlp(made((*CONVENTIONS["GenAI"][:2], tool))))
    assert (error or "") in run.board.errors.get("1", "")
    assert bool(run.board.errors) == (error is not None)
