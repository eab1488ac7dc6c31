"""What the real API refuses is refused here: its words, its shape, and an explanation."""

import typing
from pathlib import Path
from typing import Any

import jsonschema
import openai
import pydantic
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from openai.lib._pydantic import to_strict_json_schema
from openai.types import AllModels, ChatModel
from openai.types.chat import (
    ChatCompletionAssistantMessageParam,
    ChatCompletionStreamOptionsParam,
    ChatCompletionToolMessageParam,
    completion_create_params,
)
from openai.types.responses import response_create_params, response_input_item_param, tool_param
from openai.types.shared_params import Reasoning

from mock_llm import MockLLM, ScriptError
from mock_llm.api import chat, responses
from mock_llm.api.evidence import signature, unproven
from mock_llm.api.model_profiles import Profile, profile_of, profiles
from mock_llm.json_schema import example, strict_mode_error, validation_error
from mock_llm.json_schema.keywords import keyword_error
from mock_llm.types import ApiError
from tests.mock_llm.asking import closed, function_tool
from tests.rounds import rounds

USER = {"role": "user", "content": "hello"}
CALL = {"id": "call_1", "type": "function", "function": {"name": "search", "arguments": "{}"}}
CALLS = {"role": "assistant", "content": None, "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "call_1", "content": "found"}
TOOL = {"type": "function", "function": {"name": "search", "parameters": {"type": "object", "properties": {}}}}
VALIDATE = {"chat": chat.validate, "responses": responses.validate}
UNSEEN: Any = {"model": "m", "messages": [{**USER, "contents": "x"}], "tools": []}
EVIDENCE: Any = yaml.load(Path(__file__).with_name("evidence.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader)
LLM = MockLLM([{"name": "any", "reply": {"json": {"ok": True}, "broken": True}}])


def inputs(**options: Any) -> dict[str, Any]:
    return {"model": "m", "input": "hello", **options}


def asking(*messages: Any, **options: Any) -> dict[str, Any]:
    return {"model": "m", "messages": list(messages) or [USER], **options}


def seen(row: dict[str, Any]) -> bool:
    """A source shows the verdict."""
    return row["seen"] not in ("not verified", "disputed")


def rows() -> list[dict[str, Any]]:
    """The rows of evidence; a schema's row stands for requests with the schema in each of its places."""
    verdicts: list[dict[str, Any]] = list(EVIDENCE["verdicts"])
    for row in EVIDENCE["schemas"]:
        schema = {"name": "f", "strict": row["strict"]}
        function, answer = {**schema, "parameters": row["schema"]}, {**schema, "schema": row["schema"]}
        tool = {"type": "function", **function}
        requests: list[tuple[str, str, str, str, Any]] = [
            ("chat", "function", "tools[0].function.parameters", "function", asking(tools=[function_tool(function)])),
            ("responses", "function", "tools[0].parameters", "function", inputs(tools=[tool])),
        ]
        if row["strict"]:
            format_ = {"type": "json_schema", "json_schema": answer}
            text = {"format": {"type": "json_schema", **answer}}
            requests.append(("chat", "response_format", "response_format", "", asking(response_format=format_)))
            requests.append(("responses", "response_format", "text.format.schema", "json_schema", inputs(text=text)))
        for api, place, param, kind, request in requests:
            code = f"invalid_{kind}_parameters" if kind == "function" else "invalid_json_schema" if kind else None
            says = f"Invalid schema for {place} 'f': {row.get('says')}"
            error = {"says": says, "param": param, "code": code}
            verdicts.append({**row, "api": api, "request": request, "error": error})
    return verdicts


@pytest.mark.parametrize("row", rows(), ids=lambda row: None)
def test_each_row_of_evidence_is_the_verdict_that_is_given(row: Any) -> None:
    error = VALIDATE[row["api"]](row["request"])
    if row["verdict"] == "accepted":
        assert error is None
        return
    assert error is not None
    assert row["error"] | {"says": error.message, "param": error.param, "code": error.code} == row["error"]
    assert (error.status, error.type) == (row["error"].get("status", 400), "invalid_request_error")
    assert error.hint, "an explanation for the log"


def test_refusals_without_evidence_are_listed_and_can_be_turned_off() -> None:
    with_evidence, without = set(), set()
    turned_off = 0
    for row in rows():
        validate = VALIDATE[row["api"]]
        error: ApiError | None = validate(row["request"])
        if error and not profile_of(str(row["request"].get("model"))):
            (with_evidence if seen(row) else without).add(signature(row["api"], error))
        elif error and validate(row["request"], False) is None:
            assert not seen(row)
            turned_off += 1
    assert unproven() == without - with_evidence
    assert turned_off > 5


def test_each_model_of_the_package_has_a_row_and_each_row_its_evidence() -> None:
    literals = [typing.get_args(part) for part in (ChatModel, *typing.get_args(AllModels))]
    names = {name for literal in literals for name in literal if isinstance(name, str)}
    assert len(names) > 80
    assert sorted(name for name in names if profile_of(name) is None) == []
    by_row = {id(profile_of(row["model"])): row for row in EVIDENCE["models"]}
    assert list(by_row) == [id(profile) for profile in profiles()]
    for profile in profiles():
        shown = set(by_row[id(profile)]) - {"model"}
        columns = {name for name, value in vars(profile).items() if value and value != getattr(Profile, name, None)}
        columns = columns - {"names", "unproven", "refuses"} | set(profile.refuses)
        columns |= {"sampling"} if profile.efforts else set()
        columns |= {"json_schema"} if not profile.json_schema else set()
        assert not shown & set(profile.unproven)
        assert columns <= shown | set(profile.unproven) <= columns | {"verbosity"}, by_row[id(profile)]["model"]


# The fields of each type of the package, and a request in which they are null beyond those that are shown here.
FIELDS: list[tuple[Any, str, Any]] = [
    (completion_create_params.CompletionCreateParamsNonStreaming, "chat", lambda null: {**null, **asking()}),
    (response_create_params.ResponseCreateParamsNonStreaming, "responses", lambda null: {**null, **inputs()}),
    (Reasoning, "responses", lambda null: inputs(reasoning=null)),
    (response_create_params.StreamOptions, "responses", lambda null: inputs(stream=True, stream_options=null)),
    (response_create_params.PromptCacheOptions, "responses", lambda null: inputs(prompt_cache_options=null)),
    (completion_create_params.PromptCacheOptions, "chat", lambda null: asking(prompt_cache_options=null)),
    (ChatCompletionStreamOptionsParam, "chat", lambda null: asking(stream=True, stream_options=null)),
    (ChatCompletionAssistantMessageParam, "chat", lambda null: asking({**null, "role": "assistant", "content": "x"})),
    (ChatCompletionToolMessageParam, "chat", lambda null: asking(USER, CALLS, {**null, **RESULT})),
]


@pytest.mark.parametrize(("fields", "api", "request_with"), FIELDS, ids=lambda part: getattr(part, "__name__", None))
def test_each_field_that_the_package_can_send_is_known(fields: Any, api: str, request_with: Any) -> None:
    for name in set(typing.get_type_hints(fields)) - {"generate_summary"}:  # the real API has forgotten this one
        error = VALIDATE[api](request_with({name: None}))
        assert error is None, name


@pytest.mark.parametrize("union", [response_input_item_param.ResponseInputItemParam, tool_param.ToolParam])
def test_each_type_and_field_of_the_packages_items_and_tools_is_known(union: Any) -> None:
    for fields in set(typing.get_args(union)) - {response_input_item_param.ItemReference}:
        hints = typing.get_type_hints(fields)
        for kind in typing.get_args(hints["type"]):
            for name in hints:
                given = {"name": "f", "vector_store_ids": [], "container": "", "server_label": "s", "role": "assistant"}
                part = {name: None} | {key: value for key, value in given.items() if key in hints} | {"type": kind}
                sent = inputs(tools=[part]) if union is tool_param.ToolParam else inputs(input=[part])
                error = responses.validate(sent)
                assert error is None or not error.message.startswith(("Unknown parameter", "Invalid value")), (
                    kind,
                    name,
                )


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
        with pytest.raises(openai.BadRequestError, match=r"Unknown parameter: .messages.0..contents"):
            client(head).chat.completions.create(**UNSEEN)
    with pytest.raises(ScriptError, match=r"hello\.yaml:1: unseen is 'refuse' or 'accept', not 'maybe'"):
        client("unseen: maybe\n")
    with pytest.raises(ScriptError, match="unseen is 'refuse' or 'accept', not 'maybe'"):
        MockLLM(unseen="maybe")  # type: ignore[arg-type]


NOT_SUPPORTED: list[tuple[str, dict[str, Any]]] = [
    ("chat", {"logprobs": True}),
    ("chat", {"audio": {"voice": "alloy", "format": "wav"}}),
    ("chat", {"modalities": ["audio"]}),
    ("chat", {"messages": [{"role": "user", "content": [{"type": "file", "file": {"file_id": "x"}}]}]}),
    ("responses", {"prompt": {"id": "pmpt_1"}}),
    ("responses", {"background": True}),
    ("responses", {"tools": [{"type": "namespace"}]}),
    ("responses", {"input": [{"type": "tool_search_call", "id": "x"}]}),
]


@pytest.mark.parametrize(("api", "options"), NOT_SUPPORTED, ids=lambda value: None)
def test_what_is_not_supported_is_refused_and_never_ignored(api: str, options: dict[str, Any]) -> None:
    error = VALIDATE[api]((asking() if api == "chat" else inputs()) | options)
    assert error is not None
    assert (error.status, error.code) == (400, "not_supported")
    assert "not supported by mock_llm" in error.message


class Add(pydantic.BaseModel):
    tool: str = pydantic.Field(description="which tool")
    numbers: list[float]


class Node(pydantic.BaseModel):
    step: Add | None
    children: "list[Node]"


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


WORDS = "type properties required items anyOf $ref role content function name".split()
LEAVES = st.none() | st.booleans() | st.integers() | st.floats(-1e9, 1e9) | st.text(max_size=6)
KEYS = st.sampled_from(WORDS) | st.text(max_size=4)
ANYTHING = st.recursive(LEAVES, lambda part: st.lists(part, max_size=3) | st.dictionaries(KEYS, part, max_size=4))


SIZED: dict[str, Any] = {  # schemas of this size
    "properties": lambda size: closed(**{f"p{n}": {"type": "string"} for n in range(size)}),
    "enum": lambda size: closed(a={"enum": list(range(1000))}, b={"enum": list(range(size - 1000))}),
    "characters": lambda size: closed(a={"const": "x" * (size - 1)}),
    "longest enum": lambda size: closed(a={"enum": ["x" * (size - 250), *"y" * 250]}),
}


@pytest.mark.parametrize("row", EVIDENCE["limits"], ids=lambda row: row["what"])
def test_a_strict_schema_has_a_limited_size(row: Any) -> None:
    assert strict_mode_error(SIZED[row["what"]](row["most"])) is None
    assert (strict_mode_error(SIZED[row["what"]](row["most"] + 1)) or ("",))[0] == row["says"]


@rounds(150)
@given(schema=ANYTHING)
def test_a_keyword_is_refused_where_json_schema_refuses_it_too(schema: Any) -> None:
    witness = jsonschema.Draft202012Validator(jsonschema.Draft202012Validator.META_SCHEMA)
    assert keyword_error(schema) is None or not witness.is_valid(schema)


@pytest.mark.parametrize(("value", "allowed"), [(1.0, 1), ([2.0], [2]), ({"a": 3}, {"a": 3.0}), (True, 1), (1.0, True)])
def test_a_whole_number_fits_however_it_is_written_and_true_is_no_number(value: Any, allowed: Any) -> None:
    fits = not isinstance(value, bool) and not isinstance(allowed, bool)
    for schema in ({"const": allowed}, {"enum": ["x", allowed]}):
        assert (
            (validation_error(value, schema) is None) == jsonschema.Draft202012Validator(schema).is_valid(value) == fits
        )
