"""What the real API refuses is refused here: its words, its shape, and an explanation."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import openai
import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai.lib._pydantic import to_strict_json_schema

from mock_llm import MockLLM
from mock_llm.api import respond
from mock_llm.api.chat.validation import KNOWN, validate
from mock_llm.json_schema import example, strict_mode_error, validation_error
from mock_llm.types import HttpRequest
from tests.rounds import rounds

USER = {"role": "user", "content": "hello"}
CALL = {"id": "call_1", "type": "function", "function": {"name": "search", "arguments": "{}"}}
CALLS = {"role": "assistant", "content": None, "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "call_1", "content": "found"}
TOOL = {"type": "function", "function": {"name": "search", "parameters": {"type": "object", "properties": {}}}}
LLM = MockLLM([{"name": "any", "reply": {"json": {"ok": True}, "broken": True}}])


def strict(schema: Any) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": "plan", "strict": True, "schema": schema}}


def closed(**properties: Any) -> dict[str, Any]:
    names = list(properties)
    return {"type": "object", "properties": properties, "required": names, "additionalProperties": False}


def asking(*messages: Any, **options: Any) -> dict[str, Any]:
    return {"model": "m", "messages": list(messages) or [USER], **options}


REFUSED: list[tuple[dict[str, Any], str, str | None, str | None]] = [
    ({"messages": [USER]}, "you must provide a model parameter", None, None),
    ({"model": "m"}, "Missing required parameter: 'messages'.", "messages", "missing_required_parameter"),
    ({"model": "m", "messages": []}, "Invalid 'messages': empty array. Expected an array", "messages", "empty_array"),
    (
        asking({"role": "robot", "content": "x"}),
        "Invalid value: 'robot'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and ",
        "messages[0].role",
        "invalid_value",
    ),
    (asking({"role": "user", "content": None}), "expected a string, got null", "messages.[0].content", None),
    (asking({"role": "user", "content": 5}), "but got an integer instead", "messages[0].content", "invalid_type"),
    (
        asking({**USER, "contents": "x"}),
        "Unknown parameter: 'messages[0].contents'.",
        "messages[0].contents",
        "unknown_parameter",
    ),
    (asking(temperature=3), "Expected a value <= 2, but got 3 instead.", "temperature", "decimal_above_max_value"),
    (
        asking(temperature=-0.1),
        "Expected a value >= 0, but got -0.1 instead.",
        "temperature",
        "decimal_below_min_value",
    ),
    (asking(temperature="hot"), "expected a decimal, but got a string instead.", "temperature", "invalid_type"),
    (asking(top_p=1.5), "Expected a value <= 1", "top_p", "decimal_above_max_value"),
    (asking(max_tokens=0), "Expected a value >= 1, but got 0", "max_tokens", "integer_below_min_value"),
    (asking(max_tokens=5, max_completion_tokens=5), "at the same time", "max_tokens", "invalid_parameter_combination"),
    (asking(n=0), "Expected a value >= 1, but got 0", "n", "integer_below_min_value"),
    (asking(stream="yes"), "expected a boolean, but got a string instead.", "stream", "invalid_type"),
    (asking(stream_options={}), "only allowed when 'stream' is enabled", "stream_options", None),
    (
        asking(stream=True, stream_options={"usage": True}),
        "Unknown parameter: 'stream_options.usage'.",
        "stream_options.usage",
        "unknown_parameter",
    ),
    (asking(reasoning_effort="huge"), "Supported values are: 'none'", "reasoning_effort", "invalid_value"),
    (asking(stop=list("abcde")), "array too long", "stop", "array_above_max_length"),
    (asking(temprature=1), "Unrecognized request argument supplied: temprature", None, None),
    (asking(tool_choice="auto"), "only allowed when 'tools' are specified", "tool_choice", None),
    (asking(tools=[]), "Invalid 'tools': empty array.", "tools", "empty_array"),
    (
        asking(tools=[{"type": "function", "function": {"name": "my tool"}}]),
        "string does not match pattern",
        "tools[0].function.name",
        "invalid_value",
    ),
    (
        asking(tools=[TOOL], tool_choice={"type": "function", "function": {"name": "bake"}}),
        "'bake' is no tool that 'tools' offers",
        "tool_choice",
        None,
    ),
    (asking(response_format={"type": "json_object"}), "must contain the word 'json' in some form", "messages", None),
    (
        asking(response_format={"type": "xml"}),
        "Supported values are: 'json_object'",
        "response_format.type",
        "invalid_value",
    ),
    (asking(RESULT), "must be a response to a preceeding message with 'tool_calls'", "messages.[0].role", None),
    (
        asking({"role": "tool", "content": "x"}),
        "Missing required parameter: 'messages[0].tool_call_id'.",
        "messages[0].tool_call_id",
        "missing_required_parameter",
    ),
    (
        asking({**USER, "tool_calls": [CALL]}),
        "Unknown parameter: 'messages[0].tool_calls'.",
        "messages[0].tool_calls",
        "unknown_parameter",
    ),
    (
        asking(USER, {**CALLS, "tool_calls": [{**CALL, "type": "x"}]}, RESULT),
        "Invalid value: 'x'. Supported values are: 'function', and 'custom'.",
        "messages[1].tool_calls[0].type",
        "invalid_value",
    ),
    (
        asking(USER, {**CALLS, "tool_calls": [{**CALL, "function": {"name": "my tool", "arguments": ""}}]}, RESULT),
        "string does not match pattern",
        "messages[1].tool_calls[0].function.name",
        "invalid_value",
    ),
    (
        asking(USER, CALLS, RESULT, RESULT),
        "Duplicate value for 'tool_call_id' of 'call_1'.",
        "messages.[3].tool_call_id",
        None,
    ),
    (asking(USER, CALLS), "did not have response messages: call_1", "messages.[1].role", None),
    (asking(USER, CALLS, USER), "did not have response messages: call_1", "messages.[2].role", None),
    (asking(USER, CALLS, {**RESULT, "tool_call_id": "x"}), "of 'x' not found", "messages.[2].tool_call_id", None),
]


@pytest.mark.parametrize(("body", "words", "param", "code"), REFUSED, ids=lambda value: None)
def test_a_bad_request_gets_the_apis_400_and_an_explanation(
    body: dict[str, Any], words: str, param: str | None, code: str | None
) -> None:
    error = validate(body)
    assert error is not None
    assert words in error.message
    assert "\n[mock_llm] " in error.message
    assert (error.status, error.type, error.param, error.code) == (400, "invalid_request_error", param, code)


@pytest.mark.parametrize(
    "body",
    [
        asking(temperature=2, top_p=0, seed=-1, user="me", metadata={"a": "b"}, stop="x", max_tokens=1),
        asking(n=3, stream=False, logprobs=False, temperature=None, response_format=None),
        asking(
            {"role": "developer", "content": [{"type": "text", "text": "answer in JSON"}]},
            response_format={"type": "json_object"},
        ),
        asking(stream=True, stream_options={"include_usage": True}, reasoning_effort="low", verbosity="high"),
        asking(tools=[TOOL], tool_choice="required"),
        asking(tools=[TOOL], tool_choice={"type": "function", "function": {"name": "search"}}),
        asking(USER, CALLS, RESULT, USER, tools=[TOOL], tool_choice="auto", parallel_tool_calls=False),
        asking(USER, {"role": "assistant", "content": None, "refusal": "no"}, USER),
        asking(USER, {**CALLS, "provider_specific_fields": None}, RESULT, tools=[TOOL]),
        asking(response_format={"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "object"}}}),
    ],
)
def test_a_good_request_passes(body: dict[str, Any]) -> None:
    assert validate(body) is None


@pytest.mark.parametrize(
    "options",
    [
        {"logprobs": True},
        {"store": True},
        {"audio": {"voice": "x"}},
        {"modalities": ["audio"]},
        {"top_logprobs": 2},
        {"prediction": {"type": "content", "content": "x"}},
        {"tools": [{"type": "custom", "custom": {"name": "x"}}]},
        {"tools": [TOOL], "tool_choice": {"type": "allowed_tools"}},
        {"messages": [{"role": "user", "content": [{"type": "file", "file": {"file_id": "x"}}]}]},
    ],
)
def test_what_is_not_supported_is_refused_and_never_ignored(options: dict[str, Any]) -> None:
    with pytest.raises(openai.BadRequestError, match="not supported by mock_llm"):
        LLM.client().chat.completions.create(**asking() | options)


UNFIT: list[tuple[Any, str]] = [
    (
        {"type": "array", "items": {"type": "string"}},
        "schema must be a JSON Schema of 'type: \"object\"', got 'type: \"array\"'.",
    ),
    (
        {**closed(), "additionalProperties": True},
        "In context=(), 'additionalProperties' is required to be supplied and to be false.",
    ),
    ({"type": "object", "properties": {}}, "'additionalProperties' is required"),
    (
        {**closed(a={"type": "string"}), "required": []},
        "In context=(), 'required' is required to be supplied and to be an array including every key in properties.",
    ),
    ({**closed(), "required": ["b"]}, "Extra required key 'b' supplied."),
    (closed(a={"type": "object"}), "In context=('properties', 'a'), 'additionalProperties' is required"),
    (closed(a={"oneOf": []}), "In context=('properties', 'a'), 'oneOf' is not permitted."),
    (closed(a={"type": "string", "default": "x"}), "'default' is not permitted."),
    (closed(a={"description": "anything"}), "In context=('properties', 'a'), schema must have a 'type' key."),
    (closed(a={"type": "array"}), "array schema missing items."),
    (closed(a={"$ref": "#/$defs/X"}), "'#/$defs/X'"),
    (closed(a={"$ref": "#/$defs/X", "description": "d"}), "$ref cannot have keywords {'description'}."),
    (
        {**closed(a={"type": "string"}), "$defs": {"X": {"type": "object"}}},
        "In context=('$defs', 'X'), 'additionalProperties'",
    ),
    (closed(a={"anyOf": [{"type": "string"}, {"type": "object"}]}), "In context=('properties', 'a', 'anyOf', '1')"),
    (closed(a={"type": "text"}), "'text' is not valid"),
]


@pytest.mark.parametrize(("schema", "words"), UNFIT, ids=lambda value: None)
def test_a_schema_unfit_for_strict_is_refused_in_the_apis_words(schema: Any, words: str) -> None:
    error = validate(asking(response_format=strict(schema)))
    assert error is not None
    assert error.message.startswith("Invalid schema for response_format 'plan': ")
    assert words in error.message
    assert error.param == "response_format"
    tool = {"type": "function", "function": {"name": "plan", "strict": True, "parameters": schema}}
    assert "Invalid schema for function 'plan': " in getattr(validate(asking(tools=[tool])), "message", "")
    loose = strict(schema)
    loose["json_schema"]["strict"] = False
    assert validate(asking(response_format=loose)) is None


class Add(pydantic.BaseModel):
    tool: str = pydantic.Field(description="which tool")
    numbers: list[float]


class Node(pydantic.BaseModel):
    step: Add | None
    children: list[Node]


NODE = to_strict_json_schema(Node)


def test_a_schema_that_the_openai_package_makes_is_fit() -> None:
    assert strict_mode_error(NODE) is None


SCHEMAS: list[dict[str, Any]] = [
    NODE,
    closed(a={"type": ["integer", "null"], "minimum": 0, "maximum": 3}, b={"enum": ["x", 1, None]}),
    closed(a={"type": "array", "items": {"type": "number", "multipleOf": 0.5}, "minItems": 1, "maxItems": 2}),
    closed(a={"anyOf": [closed(t={"const": "x"}), closed(t={"const": "y"}, u={"type": "boolean"})]}),
    closed(a={"type": "string", "pattern": "^[ab]*$"}, b={"allOf": [{"minLength": 1}, {"not": {"const": "no"}}]}),
]
NAMES = st.sampled_from(["a", "b", "t", "u", "step", "tool", "numbers", "children"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 4) | st.sampled_from([0.5, 1.0, 0.25, "x", "y", "no", "", "ab"]),
    lambda part: st.lists(part, max_size=3) | st.dictionaries(NAMES, part, max_size=3),
    max_leaves=8,
)


@rounds(150)
@given(value=VALUES, part=st.none() | NAMES, schema=st.sampled_from(SCHEMAS))
def test_the_small_validator_agrees_with_the_jsonschema_package(value: Any, part: str | None, schema: Any) -> None:
    if part is not None:  # begin from a value that fits, so that both verdicts come up
        value = {**example(schema), part: value}
    witness = jsonschema.Draft202012Validator(schema)
    assert (validation_error(value, schema) is None) == witness.is_valid(value)


def test_the_example_for_a_scene_to_paste_fits_its_schema() -> None:
    assert [validation_error(example(schema), schema) for schema in SCHEMAS[:4]] == [None] * 4


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=6),
    lambda part: (
        st.lists(part, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["type", "properties", "required", "items", "anyOf", "$ref", "role", "content", "function", "name"]
            )
            | st.text(max_size=4),
            part,
            max_size=4,
        )
    ),
    max_leaves=12,
)


def send(body: bytes, headers: dict[str, str] | None = None) -> None:
    """Whatever comes is answered, or refused in the API's shape."""
    response, _ = respond(LLM.scenes, HttpRequest("POST", "/v1/chat/completions", headers or {}, body))
    if response.headers["content-type"].startswith("text/event-stream"):
        assert response.body.endswith(b"data: [DONE]\n\n")
        return
    body = json.loads(response.body)
    if response.status == 200:
        assert body["object"] == "chat.completion"
    else:
        assert response.status in (400, 422)
        assert list(body) == ["error"]
        assert set(body["error"]) == {"message", "type", "param", "code"}
        assert body["error"]["message"]
        assert body["error"]["type"]


@rounds(150)
@given(name=st.sampled_from(sorted(KNOWN)) | st.text(max_size=5), value=ANYTHING)
def test_any_value_of_any_parameter_gets_an_answer_or_a_shaped_error(name: str, value: Any) -> None:
    send(json.dumps(asking() | {name: value}).encode())


@rounds(120)
@given(part=ANYTHING, where=st.sampled_from(["message", "call", "tool", "format", "schema", "strict", "body"]))
def test_any_nested_value_gets_an_answer_or_a_shaped_error(part: Any, where: str) -> None:
    bodies: dict[str, Any] = {
        "message": asking({**USER, **part} if isinstance(part, dict) else part),
        "call": asking(USER, {**CALLS, "tool_calls": [part]}),
        "tool": asking(tools=[part]),
        "format": asking(response_format=part),
        "schema": asking(response_format={"type": "json_schema", "json_schema": {"name": "n", "schema": part}}),
        "strict": asking(response_format=strict(part)),
        "body": part,
    }
    send(json.dumps(bodies[where]).encode())
    answering = MockLLM([{"name": "any", "reply": {"json": {"ok": [1, "x", {"a": None}]}}}])
    response, _ = respond(
        answering.scenes, HttpRequest("POST", "/v1/chat/completions", {}, json.dumps(bodies[where]).encode())
    )
    assert response.status in (200, 400, 422)


@rounds(100)
@given(body=st.binary(), count=st.text())
def test_any_bytes_get_a_shaped_error(body: bytes, count: str) -> None:
    send(body, {"x-stainless-retry-count": count})


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 100_000,
        b'{"a":' * 100_000,
        json.dumps(asking(temperature=float("nan"))).encode(),
        json.dumps(asking()).encode("utf-16"),
        b'{"model": "\\ud800", "messages": [{"role": "user", "content": "\\udfff"}]}',
        json.dumps(asking(seed=10**4000)).encode(),
        json.dumps(
            asking(response_format={"type": "json_schema", "json_schema": {"name": "n", "schema": {"$ref": "#"}}})
        ).encode(),
        json.dumps(asking(response_format=strict(closed(a={"$ref": "#/properties/a"})))).encode(),
    ],
    ids=[
        "deep list",
        "deep object",
        "nan",
        "utf-16",
        "lone surrogates",
        "huge integer",
        "endless schema",
        "endless strict",
    ],
)
def test_hostile_bodies_get_an_answer_or_a_shaped_error(body: bytes) -> None:
    send(body)
    answering = MockLLM([{"name": "any", "reply": {"json": {"a": 1}}}])
    assert respond(answering.scenes, HttpRequest("POST", "/v1/chat/completions", {}, body))[0].status in (200, 400, 422)


@pytest.mark.parametrize(("value", "allowed"), [(1.0, 1), (1, 1.0), ([2.0], [2]), ({"a": 3}, {"a": 3.0})])
def test_a_whole_number_fits_however_it_is_written(value: Any, allowed: Any) -> None:
    assert validation_error(value, {"const": allowed}) is None
    assert validation_error(value, {"enum": ["x", allowed]}) is None
    assert jsonschema.Draft202012Validator({"const": allowed}).is_valid(value)


def test_true_is_not_the_number_one() -> None:
    assert validation_error(True, {"const": 1}) is not None
    assert validation_error(1.0, {"const": True}) is not None
