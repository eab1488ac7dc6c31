"""What the real API refuses is refused here: its words, its shape, and an explanation."""

from __future__ import annotations

import json
from collections import Counter
from datetime import date
from pathlib import Path
from typing import Any

import jsonschema
import openai
import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai.lib._pydantic import to_strict_json_schema

from mock_llm import MockLLM, ScriptError
from mock_llm.api import chat, respond, responses
from mock_llm.api.evidence import Verdict, is_seen, verdicts
from mock_llm.api.model_profiles import AS_OF, PROFILES, profile_of
from mock_llm.json_schema import example, strict_mode_error, validation_error
from mock_llm.types import HttpRequest
from tests.rounds import rounds

USER = {"role": "user", "content": "hello"}
CALL = {"id": "call_1", "type": "function", "function": {"name": "search", "arguments": "{}"}}
CALLS = {"role": "assistant", "content": None, "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "call_1", "content": "found"}
TOOL = {"type": "function", "function": {"name": "search", "parameters": {"type": "object", "properties": {}}}}
VALIDATE = {"chat": chat.validate, "responses": responses.validate}
UNSEEN: Any = {"model": "m", "messages": [{**USER, "contents": "x"}], "top_p": 1.5}
LLM = MockLLM([{"name": "any", "reply": {"json": {"ok": True}, "broken": True}}])


def strict(schema: Any) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": "plan", "strict": True, "schema": schema}}


def closed(**properties: Any) -> dict[str, Any]:
    names = list(properties)
    return {"type": "object", "properties": properties, "required": names, "additionalProperties": False}


def asking(*messages: Any, **options: Any) -> dict[str, Any]:
    return {"model": "m", "messages": list(messages) or [USER], **options}


@pytest.mark.parametrize("row", verdicts(), ids=lambda row: None)
def test_each_row_of_evidence_is_the_verdict_that_is_given(row: Verdict) -> None:
    error = VALIDATE[row.api](row.request)
    if row.verdict == "accepted":
        assert error is None
        return
    assert error is not None
    assert (error.status, error.type) == (400, "invalid_request_error")
    assert (error.message, error.param, error.code) == (row.error["says"], row.error["param"], row.error["code"])
    assert error.hint
    assert not row.seen or is_seen(row.api, error)


def test_the_evidence_has_no_row_twice_and_each_source_has_a_place_and_a_date() -> None:
    counts = Counter((row.api, json.dumps(row.request, sort_keys=True)) for row in verdicts())
    assert max(counts.values()) == 1
    assert len(counts) >= 250
    for seen in (row.seen for row in verdicts() if row.seen):
        assert set(seen) == {"in", "where", "on"}
        assert seen["where"].startswith({"issue": "https://", "schema": "openai ", "probe": "repository "}[seen["in"]])
        assert date.fromisoformat(seen["on"]) <= date.fromisoformat(AS_OF)


def test_what_was_seen_is_seen_under_other_names_too() -> None:
    function = {"name": "other", "parameters": {"type": "object", "properties": {"list": {"type": "array"}}}}
    tools = [{"type": "function", "function": function}]
    seen, unseen = chat.validate(asking(tools=tools)), chat.validate({**UNSEEN, "top_p": 1, "tools": tools})
    assert seen is not None
    assert unseen is not None  # an unknown field of a message comes first
    assert (is_seen("chat", seen), is_seen("chat", unseen)) == (True, False)


def test_a_script_can_do_without_verdicts_that_nobody_has_seen(tmp_path: Path) -> None:
    def client(head: str) -> Any:
        path = tmp_path / "hello.yaml"
        path.write_text(f"{head}scenes:\n- name: greet\n  reply: {{text: hello}}\n")
        return MockLLM.load(path).client()

    lenient = client("unseen: accept\n")
    assert lenient.chat.completions.create(**UNSEEN).choices[0].message.content == "hello"
    with pytest.raises(openai.BadRequestError, match="expected a string, got null"):
        lenient.chat.completions.create(**asking({"role": "user", "content": None}))
    with pytest.raises(openai.BadRequestError, match="not supported by mock_llm"):
        lenient.chat.completions.create(**{**UNSEEN, "logprobs": True})
    for head in ("", "unseen: refuse\n"):
        with pytest.raises(openai.BadRequestError, match=r"Expected a value <= 1"):
            client(head).chat.completions.create(**UNSEEN)
    with pytest.raises(ScriptError, match=r"hello\.yaml:1: unseen is 'refuse' or 'accept', not 'maybe'"):
        client("unseen: maybe\n")


def test_a_model_of_the_scripts_own_has_no_profile() -> None:
    assert profile_of("any-name") is None
    assert profile_of("gpt-5-mini-2025-08-07") is profile_of("gpt-5")
    assert len({profile.names for profile in PROFILES}) == len(PROFILES)


@pytest.mark.parametrize(
    "options",
    [
        {"logprobs": True},
        {"store": True},
        {"audio": {"voice": "x"}},
        {"modalities": ["audio"]},
        {"top_logprobs": 2},
        {"prediction": {"type": "content", "content": "x"}},
        {"tools": [TOOL], "tool_choice": {"type": "allowed_tools"}},
        {"messages": [{"role": "user", "content": [{"type": "file", "file": {"file_id": "x"}}]}]},
    ],
)
def test_what_is_not_supported_is_refused_and_never_ignored(options: dict[str, Any]) -> None:
    with pytest.raises(openai.BadRequestError, match="not supported by mock_llm"):
        LLM.client().chat.completions.create(**asking() | options)


class Add(pydantic.BaseModel):
    tool: str = pydantic.Field(description="which tool")
    numbers: list[float]


class Node(pydantic.BaseModel):
    step: Add | None
    children: list[Node]


NODE = to_strict_json_schema(Node)


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
    assert strict_mode_error(NODE) is None
    witness = jsonschema.Draft202012Validator(schema)
    assert (validation_error(value, schema) is None) == witness.is_valid(value)


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


@pytest.mark.parametrize(("value", "allowed"), [(1.0, 1), ([2.0], [2]), ({"a": 3}, {"a": 3.0}), (True, 1), (1.0, True)])
def test_a_whole_number_fits_however_it_is_written_and_true_is_no_number(value: Any, allowed: Any) -> None:
    fits = not isinstance(value, bool) and not isinstance(allowed, bool)
    for schema in ({"const": allowed}, {"enum": ["x", allowed]}):
        assert (
            (validation_error(value, schema) is None) == jsonschema.Draft202012Validator(schema).is_valid(value) == fits
        )
