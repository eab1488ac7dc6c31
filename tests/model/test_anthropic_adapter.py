"""The adapter gives planexec_lite the same answers from an Anthropic client as from an OpenAI client."""

from __future__ import annotations

import json
from typing import Any

import anthropic
import httpx2
import pytest

from mock_llm import MockLLM
from planexec_lab.anthropic_adapter import AnthropicAdapter
from planexec_lite import Toolbox, tool
from planexec_lite.model.answer import AnswerError
from planexec_lite.model.asking import Bounds, ask, ask_streaming
from planexec_lite.model.schemas import closed, function_schema

SYSTEM = {"role": "system", "content": "Be brief."}
SCHEMA = closed(
    total={"type": "integer", "minimum": 0}, words={"type": "array", "items": {"type": "string"}, "maxItems": 3}
)


@tool
def add(a: int, b: int) -> int:
    return a + b


FUNCTION = function_schema(next(iter(Toolbox([add]))))


@pytest.fixture
def llm() -> MockLLM:
    llm = MockLLM()
    llm.when(user="talk").then("It is  ünusual,\n but it works.").having(latency=2)
    llm.when(user="total").then(json={"total": 53, "words": []})
    llm.when(user="decline").then(refusal="I would rather not.")
    llm.when(user="sum").calls("add", a=1, b=2).also("add", a=3, b=4).then("3 and 7")
    return llm


def clients(llm: MockLLM) -> tuple[Any, Any]:
    return llm.client(), AnthropicAdapter(llm.anthropic())


def asked(word: str) -> list[dict[str, Any]]:
    return [SYSTEM, {"role": "user", "content": word}]


def without_ids(answer: Any) -> Any:
    calls = [(call.name, call.arguments) for call in answer.tool_calls]
    return answer.text, answer.refusal, "stop" if answer.refusal else answer.finish_reason, calls


@pytest.mark.parametrize(
    ("word", "options"),
    [
        ("talk", {}),
        ("talk", {"bounds": Bounds(max_tokens=3)}),
        ("total", {"schema": SCHEMA}),
        ("decline", {}),
        ("sum", {"tools": [FUNCTION]}),
    ],
)
def test_an_answer_is_the_same_as_from_the_other_client(llm: MockLLM, word: str, options: dict[str, Any]) -> None:
    first, second = (ask(client, "m", asked(word), **options) for client in clients(llm))
    assert without_ids(first) == without_ids(second)
    assert [call.output_tokens for call in llm.calls] == [llm.calls[0].output_tokens] * 2
    if "tools" not in options:
        *pieces, whole = ask_streaming(clients(llm)[1], "m", asked(word), **options)
        assert without_ids(whole) == without_ids(first)
        assert "".join(map(str, pieces)) == first.text


def test_tools_are_called_and_all_their_results_go_back_in_one_message(llm: MockLLM) -> None:
    for client in clients(llm):
        messages = asked("sum")
        answer = ask(client, "m", messages, tools=[FUNCTION])
        messages.append(answer.message)
        messages += [{"role": "tool", "tool_call_id": call.id, "content": "done"} for call in answer.tool_calls]
        assert ask(client, "m", messages, tools=[FUNCTION]).text == "3 and 7"
    sent = llm.calls[-1].request
    assert [message["role"] for message in sent["messages"]] == ["user", "assistant", "user"]
    assert sent["system"] == "Be brief."


TEXT, THOUGHT = {"type": "text", "text": "53"}, {"type": "thinking", "thinking": "12 * 4 + 5", "signature": "s"}
SEARCH = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}


@pytest.mark.parametrize(
    ("blocks", "reason", "expected", "words"),
    [
        ([THOUGHT, TEXT], "end_turn", "53", ""),
        ([THOUGHT], "end_turn", "", "the answer is empty; the model sent only its thoughts"),
        ([TEXT, SEARCH], "end_turn", "", "the endpoint sent a part of the kind 'server_tool_use'"),
        ([TEXT], "max_thoughts", "53", "the answer was cut off; the endpoint gives the reason 'max_thoughts'"),
        ([TEXT], "pause_turn", "53", "the answer was cut off; the endpoint gives the reason 'abort'"),
    ],
)
def test_other_blocks_are_thoughts_or_an_error(blocks: list[Any], reason: str, expected: str, words: str) -> None:
    usage = {"input_tokens": 3, "output_tokens": 2}
    message = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": [], "usage": usage}
    body = json.dumps({**message, "content": blocks, "stop_reason": reason, "stop_sequence": None})
    transport = httpx2.MockTransport(
        lambda request: httpx2.Response(200, headers={"content-type": "application/json"}, text=body)
    )
    client = AnthropicAdapter(anthropic.Anthropic(api_key="none", http_client=httpx2.Client(transport=transport)))
    try:
        answer = ask(client, "m", asked("sum"))
        text, problem = answer.text, answer.problem.message if answer.problem else ""
    except AnswerError as error:
        text, problem = "", str(error)
    assert (text, problem[: len(words)]) == (expected, words)
    assert bool(words) == bool(problem)


def test_the_service_s_errors_are_the_genuine_client_s(llm: MockLLM) -> None:
    llm.when(user="fail").fails(status=401, times=None)
    with pytest.raises(anthropic.AuthenticationError, match="invalid x-api-key"):
        ask(AnthropicAdapter(llm.anthropic()), "m", asked("fail"))
