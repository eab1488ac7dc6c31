"""One conversation in the conventions and the files that people have: each is the same run."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from planexec_lab import spans
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
    return "intValue" if type(value) is int else "stringValue"


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


def summary(run: Run) -> dict[str, Any]:
    steps = [(step.tool, dict(step.params), run.results[step.id]) for step in run.plan.steps]
    calls = (run.usage.calls, run.usage.input_tokens, run.usage.output_tokens)
    return {"steps": steps, "calls": calls, "end": run.reason}


@pytest.mark.parametrize("file", [otlp, jaeger, console, mlflow])
@pytest.mark.parametrize("name", [*CONVENTIONS])
def test_a_conversation_is_the_same_run_in_each_convention_and_file(name: str, file: Any) -> None:
    run = spans.read(file(made(CONVENTIONS[name])))
    steps = [("weather", {"city": "Oslo"}, "cold")]
    assert summary(run) == {"steps": steps, "calls": (1, 7, 3), "end": "the trace ends"}
    assert run.makespan == 9.0
    asks = any("How is Oslo?" in str(one) for one in CONVENTIONS[name])
    assert run.board.started.goal == ("How is Oslo?" if asks else CONVENTIONS[name][0][0])


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
