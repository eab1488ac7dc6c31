"""Anthropic's Messages API: its verdicts in its words, its genuine client, and the same scenes on all three wires."""

import asyncio
import json
import os
import re
from datetime import date
from pathlib import Path
from typing import Any, get_args

import anthropic
import httpx2
import pydantic
import pytest
import yaml
from anthropic.types import Message, RawMessageStreamEvent
from anthropic.types.model_param import ModelParam
from hypothesis import given
from hypothesis import strategies as st

from mock_llm import MockLLM, Reply, ToolUse
from mock_llm.api import endpoint
from mock_llm.api.anthropic.models import AS_OF, MODELS, UNKNOWN, model_of
from mock_llm.serve import intercepted
from mock_llm.types import HttpRequest
from tests.mock_llm.asking import closed, function_tool, user
from tests.mock_llm.strictly import no_extra
from tests.rounds import rounds

LOOPBACK = True
NEW = "2026-10-21"
USER = user("hello")
TOOL = {"name": "search", "input_schema": closed(q={"type": "string"})}
TOOL_OF_ANYTHING = {"name": "search", "input_schema": {"type": "object"}}
RESULT = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "found"}
TEXT = {"type": "text", "text": "x"}
BUDGET = {"type": "enabled", "budget_tokens": 1024}


VERDICTS = yaml.safe_load(Path(__file__).with_name("anthropic.yaml").read_text("utf-8"))["verdicts"]


def asking(change: dict[str, Any], *messages: Any) -> dict[str, Any]:
    body = {"model": "m", "max_tokens": 100, "messages": list(messages) or [USER], **change}
    return {name: value for name, value in body.items() if value is not None}


def post(llm: MockLLM, body: Any, version: str | None) -> tuple[int, dict[str, Any]]:
    headers = {} if version is None else {"anthropic-version": version}
    response = llm.respond(HttpRequest("POST", "/v1/messages", headers, json.dumps(body).encode()))
    return response.status, json.loads(response.body)


@pytest.fixture
def llm() -> MockLLM:
    llm = MockLLM([{"name": "any", "reply": {"json": {"q": "hi"}, "broken": True}}])
    llm.when(user="talk").then("It is  ünusual,\n but it works.")
    llm.when(user="look").calls("search", q="Oslo").also("search", q="Rome").then("Rain.")
    llm.when(user="decline").then(refusal="I would rather not.")
    return llm


@pytest.mark.parametrize("row", VERDICTS, ids=lambda row: None)
def test_each_verdict_is_the_services(llm: MockLLM, row: dict[str, Any]) -> None:
    status, body = post(llm, asking(row["request"]), row.get("version", NEW))
    assert row["seen"]["where"].startswith(("https://", "anthropic 2.14.0, types/"))
    assert row["seen"]["on"] <= date.fromisoformat(AS_OF)
    if not row["says"]:
        assert (status, body["type"]) == (200, "message"), body
        return
    error = body["error"]
    assert (status, body["type"], error["type"]) == (400, "error", "invalid_request_error")
    start, more, _ = row["says"].partition("…")
    assert error["message"] == start or (more and error["message"].startswith(start))


def test_each_model_that_the_package_names_has_one_row() -> None:
    literal, _ = get_args(ModelParam)
    for name in get_args(literal):
        assert [model for model in MODELS if re.fullmatch(model.names, name)] == [model_of(name)], name
    assert model_of("any-name") is UNKNOWN
    assert all(any(re.fullmatch(model.names, name) for name in get_args(literal)) for model in MODELS)


def test_a_request_names_the_version_of_the_api(llm: MockLLM) -> None:
    versions = {None: "anthropic-version: header is required", "2020-01-01": "is not supported by mock_llm"}
    for version, words in versions.items():
        status, body = post(llm, asking({}), version)
        assert (status, words in body["error"]["message"]) == (400, True)


def same(message: Any) -> Any:
    """A message without its ids, which differ for each request."""
    return message.model_dump(exclude={"id": True, "content": {"__all__": {"id"}}})


@pytest.mark.parametrize("word", ["talk", "look", "decline", "unscripted"])
def test_a_stream_adds_up_to_the_plain_message(llm: MockLLM, word: str) -> None:
    body = asking({"tools": [TOOL]}, user(word))
    client = llm.anthropic()
    plain = client.messages.create(**body)
    no_extra(Message.model_validate_json(plain.model_dump_json(), strict=False))
    with client.messages.stream(**body) as stream:
        whole = stream.get_final_message()
    assert same(whole) == same(plain)
    assert whole.id != plain.id

    async def streamed() -> Any:
        async with llm.async_anthropic() as client, client.messages.stream(**body) as stream:
            return await stream.get_final_message(), await client.messages.create(**body)

    assert [same(message) for message in asyncio.run(streamed())] == [same(plain)] * 2


def test_the_events_follow_the_protocol(llm: MockLLM) -> None:
    raw: pydantic.TypeAdapter[Any] = pydantic.TypeAdapter(RawMessageStreamEvent)
    body = asking({"tools": [TOOL], "stream": True}, user("look"))
    with httpx2.Client(transport=llm.transport(), headers={"anthropic-version": NEW}) as client:
        response = client.post("https://any.invalid/v1/messages", json=body)
    assert response.headers["request-id"].startswith("req_")
    events = [part.split("\n") for part in response.text.strip().split("\n\n")]
    names = [name.removeprefix("event: ") for name, _ in events]
    datas = [json.loads(data.removeprefix("data: ")) for _, data in events]
    assert names == [data["type"] for data in datas]
    for data in datas:
        if data["type"] != "ping":
            no_extra(raw.validate_python(data))
    block = r"content_block_start (ping )?(content_block_delta )+content_block_stop "
    assert re.fullmatch(f"message_start ({block}){{2}}message_delta message_stop", " ".join(names))
    assert names.count("ping") == 1


def test_a_stop_sequence_and_a_limit(llm: MockLLM) -> None:
    client = llm.anthropic()
    stopped = client.messages.create(**asking({"stop_sequences": ["works", "but"]}, user("talk")))
    assert stopped.content[0].text == "It is  ünusual,\n "
    assert (stopped.stop_reason, stopped.stop_sequence) == ("stop_sequence", "but")
    assert client.messages.create(**asking({"max_tokens": 2}, user("talk"))).stop_reason == "max_tokens"
    nothing = client.messages.create(**asking({"max_tokens": 0}, user("talk")))
    assert (nothing.content, nothing.stop_reason) == ([], "max_tokens")


@pytest.mark.filterwarnings("ignore:The model .* is deprecated:DeprecationWarning")
@pytest.mark.parametrize(
    ("model", "thinking", "thought"),
    [
        ("claude-sonnet-4-5", BUDGET, "Look first."),
        ("claude-sonnet-4-5", None, None),
        ("claude-opus-5-5", None, ""),
        ("claude-opus-5-5", {"type": "adaptive", "display": "summarized"}, "Look first."),
        ("claude-opus-5", {"type": "disabled"}, None),
        ("any-name", None, "Look first."),
    ],
)
def test_thoughts_are_shown_as_the_model_does_and_go_back_unchanged(
    model: str, thinking: Any, thought: str | None
) -> None:
    usage = {"input": 50, "output": 20, "cached": 40, "reasoning": 5}
    llm = MockLLM()
    llm.when(user="look").calls("search").having(reasoning="Look first.", usage=usage).then("Rain.")
    client, messages = llm.anthropic(), [user("look")]
    body = asking(
        {"model": model, "thinking": thinking, "max_tokens": 2_000, "tools": [TOOL_OF_ANYTHING], "messages": messages}
    )
    plain = client.messages.create(**body)
    with client.messages.stream(**body) as stream:
        assert same(stream.get_final_message()) == same(plain)
    assert [block.thinking for block in plain.content if block.type == "thinking"] == [thought] * (thought is not None)
    assert (plain.usage.input_tokens, plain.usage.cache_read_input_tokens, plain.usage.output_tokens) == (10, 40, 20)
    assert plain.usage.output_tokens_details.thinking_tokens == 5
    use = plain.content[-1].id
    messages += [
        {"role": "assistant", "content": plain.content},
        {"role": "user", "content": [RESULT | {"tool_use_id": use}]},
    ]
    assert client.messages.create(**body).content[-1].text == "Rain."
    if thinking == BUDGET:
        messages[1] = {"role": "assistant", "content": plain.content[1:]}
        with pytest.raises(anthropic.BadRequestError, match="must start with a thinking block"):
            client.messages.create(**body)


def test_thoughts_of_the_real_service_are_signed_for_a_recording() -> None:
    thought = {"type": "thinking", "thinking": "x", "signature": "of the real service"}
    spoken = {"role": "assistant", "content": [thought, {"type": "redacted_thinking", "data": "x"}, TEXT]}
    asked, body = endpoint("/v1/messages", {"anthropic-version": NEW}), asking({}, USER, spoken, USER)
    assert asked is not None
    assert "Invalid `signature` in `thinking` block" in str(asked.validate(body))
    assert asked.validate(asked.adopt(body)) is None


def test_structured_outputs_and_the_other_paths(llm: MockLLM) -> None:
    class Query(pydantic.BaseModel):
        q: str

    client = llm.anthropic()
    parsed = client.messages.parse(**asking({}), output_format=Query)
    assert parsed.parsed_output == Query(q="hi")
    counted = client.messages.count_tokens(model="m", messages=[USER], tools=[TOOL])
    assert counted.input_tokens == client.messages.create(**asking({})).usage.input_tokens
    with pytest.raises(anthropic.BadRequestError, match="at least one message"):
        client.messages.count_tokens(model="m", messages=[])
    assert [model.id for model in client.models.list()] == ["mock-llm"]
    assert client.models.retrieve("claude-opus-5-5").id == "claude-opus-5-5"
    with pytest.raises(anthropic.NotFoundError):
        client.get("/v1/nothing", cast_to=object)


@anthropic.beta_tool
def weather(city: str) -> str:
    """Weather of a city.

    Args:
        city: Its name.
    """
    return f"{city}: rain"


@anthropic.beta_async_tool
async def weather_later(city: str) -> str:
    """Weather of a city.

    Args:
        city: Its name.
    """
    return f"{city}: rain"


@pytest.mark.parametrize("options", [{}, {"thread": None}, {"thread": False}, {"stream": True}], ids=str)
def test_the_client_s_tool_runner_calls_tools_and_ends(options: dict[str, Any]) -> None:
    llm = MockLLM()
    llm.when(user="weather").calls("weather", city="Oslo").calls("weather", city="Rome").then("Rain.")
    asked = {"model": "claude-sonnet-5-5", "max_tokens": 100, "messages": [user("How is the weather?")]}
    runner = llm.anthropic(max_retries=0).beta.messages.tool_runner(**asked, tools=[weather], **options)
    *_, last = [turn.get_final_message() if options.get("stream") else turn for turn in runner]
    assert last.content[0].text == "Rain."
    refused = [call.error.code for call in llm.calls if call.error]
    assert refused == ([] if options.get("thread") is False else ["thread_unsupported_request"])
    assert llm.errors == (), "it is no mistake of the script or of the program"
    results = [message["content"][0]["content"] for message in llm.calls[-1].request["messages"][2::2]]
    assert results == ["Oslo: rain", "Rome: rain"]


def test_the_async_client_s_tool_runner_does_the_same() -> None:
    llm = MockLLM()
    llm.when(user="weather").calls("weather_later", city="Oslo").then("Rain.")

    async def run() -> Any:
        runner = llm.async_anthropic(max_retries=0).beta.messages.tool_runner(
            model="claude-sonnet-5-5", max_tokens=100, messages=[user("How is the weather?")], tools=[weather_later]
        )
        return await runner.until_done()

    assert asyncio.run(run()).content[0].text == "Rain."


def test_a_thread_of_the_client_is_refused_or_goes_on_without_one() -> None:
    messages = MockLLM([{"name": "any", "reply": {"text": "Rain."}}]).anthropic(max_retries=0).beta.messages
    with pytest.raises(anthropic.BadRequestError, match="can't be part of a thread"):
        messages.thread(model="m", max_tokens=100).send(user("How is the weather?"))
    thread = messages.thread(model="m", max_tokens=100, unsupported_request_behavior="continue_unthreaded")
    assert [thread.send(user(words)).content[0].text for words in ("Oslo?", "Rome?")] == ["Rain.", "Rain."]


SHOWN = st.text(alphabet=st.characters(codec="utf-8"), min_size=1).filter(str.strip)
VALUES = st.recursive(st.none() | st.booleans() | st.integers() | SHOWN, st.lists, max_leaves=5)


@given(text=st.none() | SHOWN, calls=st.lists(st.dictionaries(SHOWN, VALUES, max_size=3), max_size=3))
@rounds(40)
def test_a_scene_says_and_calls_the_same_on_all_three_wires(text: str | None, calls: list[Any]) -> None:
    text = "said" if text is None and not calls else text
    uses = [ToolUse("search", arguments) for arguments in calls]
    llm = MockLLM([{"name": "any", "reply": {"python": lambda _: Reply(text=text, calls=uses)}}])
    function = {"name": "search", "parameters": {"type": "object", "properties": {}}}
    client, tool = llm.client(), {"type": "function", "strict": False, **function}
    chat = (
        client.chat.completions.create(model="m", messages=[USER], tools=[function_tool(function)]).choices[0].message
    )
    assert (chat.content or "") == (text or "")
    assert [json.loads(call.function.arguments) for call in chat.tool_calls or []] == calls
    response = client.responses.create(model="m", input="hello", tools=[tool])
    assert response.output_text == (text or "")
    assert [json.loads(item.arguments) for item in response.output if item.type == "function_call"] == calls
    message = llm.anthropic().messages.create(**asking({"max_tokens": 9_999, "tools": [TOOL_OF_ANYTHING]}))
    assert "".join(block.text for block in message.content if block.type == "text") == (text or "")
    assert [block.input for block in message.content if block.type == "tool_use"] == calls


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ({"kind": "rate_limit", "retry_after": 30}, anthropic.RateLimitError),
        ({"status": 529}, anthropic.OverloadedError),
        ({"status": 500}, anthropic.InternalServerError),
        ({"status": 401}, anthropic.AuthenticationError),
        ({"status": 413}, anthropic.ContentTooLargeError),
        ({"kind": "timeout"}, anthropic.APITimeoutError),
        ({"kind": "connection_error"}, anthropic.APIConnectionError),
        ({"kind": "error_event"}, anthropic.APIStatusError),
        ({"kind": "dropped"}, httpx2.RemoteProtocolError),
    ],
)
def test_faults_raise_what_the_genuine_client_raises(fault: dict[str, Any], error: type[Exception]) -> None:
    llm = MockLLM([{"name": "any", "reply": {"text": "a long enough answer", "faults": [fault]}}])
    client = llm.anthropic(max_retries=0, timeout=1.0)
    streams = fault.get("kind") in ("error_event", "dropped")
    with pytest.raises(error) as raised:
        list(client.messages.create(**asking({"stream": True} if streams else {})))
    if isinstance(raised.value, anthropic.RateLimitError):
        assert raised.value.response.headers["retry-after"] == "30"
        assert (raised.value.type, raised.value.request_id) == ("rate_limit_error", raised.value.body["request_id"])  # type: ignore[index]
    if fault == {"kind": "error_event"} and isinstance(raised.value, anthropic.APIStatusError):
        assert raised.value.type == "overloaded_error"


def test_other_clients_reach_the_script_over_http_and_when_caught(
    llm: MockLLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in os.environ if name.startswith("ANTHROPIC_")]:
        monkeypatch.delenv(name)
    with llm.serve() as base_url:
        client = anthropic.Anthropic(base_url=base_url.removesuffix("/v1"), api_key="none")
        with client.messages.stream(**asking({}, user("talk"))) as stream:
            assert "".join(stream.text_stream) == "It is  ünusual,\n but it works."
    with intercepted(llm.respond):
        assert anthropic.Anthropic(api_key="none").messages.create(**asking({})).stop_reason == "end_turn"
    assert len(llm.calls) == 2
