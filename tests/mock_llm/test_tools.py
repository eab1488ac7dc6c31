"""The model calls tools: alone and in parallel, over several turns, counted, and validated."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import openai
import pytest

from mock_llm import MockLLM
from tests.mock_llm.asking import CITY, function_tool, user

TOOLS = [function_tool({"name": name, "parameters": CITY}) for name in ("weather", "hotel")]


def ask(*messages: Any, **options: Any) -> dict[str, Any]:
    return {"model": "m", "messages": list(messages), "tools": TOOLS, **options}


def one(reply: dict[str, Any], **when: Any) -> MockLLM:
    return MockLLM([{"name": "one", "when": when, "reply": reply}])


MISMATCHES: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({"tool": "bake"}, {}, "it calls the tool 'bake', which was not offered (offered: weather, hotel)"),
    ({"tool": "weather", "arguments": {"town": "x"}}, {}, "do not fit its schema: the whole value: 'city' is missing"),
    ({"tool": "weather", "arguments": {"city": 5}}, {}, "city: 5 is not of type string"),
    ({"tool": "weather", "arguments": '{"city": '}, {}, "the arguments of weather are not JSON"),
    ({"tool": "weather", "arguments": [1]}, {}, "not a JSON object"),
    ({"tool": "weather", "arguments": {"city": "x"}}, {"tool_choice": "none"}, "tool_choice is 'none'"),
    (
        {"tool": "weather", "arguments": {"city": "x"}},
        {"tool_choice": {"type": "function", "function": {"name": "hotel"}}},
        "it does not call the tool that tool_choice requires, hotel",
    ),
]


@pytest.mark.parametrize(("call", "options", "told"), MISMATCHES, ids=lambda value: None)
def test_scripted_calls_must_fit_the_tools_offered_unless_broken_on_purpose(
    call: dict[str, Any], options: dict[str, Any], told: str
) -> None:
    with pytest.raises(openai.UnprocessableEntityError) as caught:
        one({"calls": [call]}).client().chat.completions.create(**ask(user("x"), **options))
    assert told in str(caught.value)
    broken = one({"calls": [call], "broken": True}).client().chat.completions.create(**ask(user("x"), **options))
    assert len(broken.choices[0].message.tool_calls or []) == 1


def test_a_demand_for_calls_must_be_met() -> None:
    calls = {"calls": [{"tool": name, "arguments": {"city": "x"}} for name in ("weather", "hotel")]}
    demands = [({"text": "no"}, {"tool_choice": "required"}, "it calls no tool, but tool_choice requires a call")]
    for reply, options, words in [*demands, (calls, {"parallel_tool_calls": False}, "parallel_tool_calls is false")]:
        with pytest.raises(openai.UnprocessableEntityError, match=words):
            one(reply).client().chat.completions.create(**ask(user("x"), **options))
    one(calls).client().chat.completions.create(**ask(user("x"), tool_choice="required"))


def test_a_limit_cuts_the_arguments_and_drops_the_calls_behind_it() -> None:
    long = {"tool": "weather", "arguments": {"city": "x" * 100}}
    llm = one({"calls": [long, {"tool": "hotel", "arguments": {"city": "y"}}]})
    for limit in ("max_tokens", "max_completion_tokens"):
        completion = llm.client().chat.completions.create(**ask(user("x"), **{limit: 10}))
        (call,) = completion.choices[0].message.tool_calls or []
        assert completion.choices[0].finish_reason == "length"
        assert completion.usage is not None
        assert completion.usage.completion_tokens == 10
        assert call.type == "function"
        assert '{"city": "xxx' in call.function.arguments
        with pytest.raises(json.JSONDecodeError):
            json.loads(call.function.arguments)


def test_n_repeats_a_reply_or_takes_different_choices() -> None:
    def texts(reply: dict[str, Any], n: int, **options: Any) -> list[str | None]:
        completion = one(reply).client().chat.completions.create(**ask(user("x"), n=n, **options))
        assert [choice.index for choice in completion.choices] == list(range(n))
        assert completion.usage is not None
        assert completion.usage.completion_tokens >= n
        assert {choice.finish_reason for choice in completion.choices} == {"stop"}
        return [choice.message.content for choice in completion.choices]

    assert texts({"text": "hello"}, 3) == ["hello"] * 3
    votes = {"choices": [{"text": "53"}, {"text": "65"}, {"text": "53"}]}
    assert texts(votes, 3) == ["53", "65", "53"]
    assert texts(votes, 1) == ["53"]
    assert texts({"choices": [{"text": "one two"}, {"text": "three"}]}, 2, stop=["o", " "]) == ["", "three"]
    with pytest.raises(openai.UnprocessableEntityError, match="the request has n=4, but the reply has 3 choices"):
        texts(votes, 4)


def counted(**reply: Any) -> MockLLM:
    when = {"says": "roll", "counter": "dice"}
    return MockLLM(
        [{"name": f"{n}", "when": {**when, "turn": n}, "reply": {"text": f"{n}", **reply}} for n in range(1, 33)]
    )


def roll(llm: MockLLM, text: str = "roll", retry: int = 0) -> str:
    headers = {"x-stainless-retry-count": str(retry)}
    completion = llm.client().chat.completions.create(**ask(user(text)), extra_headers=headers)
    return str(completion.choices[0].message.content)


def test_a_named_counter_counts_calls_and_not_retries() -> None:
    llm = counted()
    assert [roll(llm), roll(llm), roll(llm, retry=1), roll(llm, "roll again"), roll(llm)] == ["1", "2", "2", "3", "4"]


def test_32_retried_calls_beside_each_other_keep_their_numbers() -> None:
    llm = counted(faults=["rate_limit"] * 3)
    client = llm.client(max_retries=3)
    with ThreadPoolExecutor(32) as pool:
        completions = list(pool.map(lambda _: client.chat.completions.create(**ask(user("roll"))), range(32)))
    assert sorted(int(str(one.choices[0].message.content)) for one in completions) == list(range(1, 33))
    assert len(llm.calls) == 32 * 4
