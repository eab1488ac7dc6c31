"""Items of a response other than messages and function calls: reasoning, custom tools, the service's own tools, compaction."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import openai
import pytest
import yaml

from mock_llm import MockLLM
from mock_llm.types import SERVICE_ITEMS, HttpRequest, image_hash
from tests.mock_llm import strictly
from tests.mock_llm.asking import CITY, function_tool, outputs

TOOL: Any = {"type": "function", "name": "weather", "parameters": CITY, "strict": True}
SQL: Any = {"type": "custom", "name": "sql"}
OFFERED: dict[str, Any] = {
    "web_search": {"type": "web_search"},
    "file_search": {"type": "file_search", "vector_store_ids": ["vs_1"]},
    "code_interpreter": {"type": "code_interpreter", "container": "cntr_1"},
    "mcp": {"type": "mcp", "server_label": "s", "server_url": "https://example.com"},
    **{kind: {"type": kind} for kind in ("image_generation", "local_shell", "shell", "apply_patch", "computer")},
}
ASK = {"role": "user", "content": "Oslo?"}
TABLES: Any = yaml.safe_load(Path(__file__).with_name("items.yaml").read_text("utf-8"))
SCENES, ITEM, OUTPUTS, EVENTS = (TABLES[name] for name in ("scenes", "given", "outputs", "events"))
IMAGE = OUTPUTS["computer_call"]["output"]["image_url"]


@pytest.fixture
def llm() -> MockLLM:
    return MockLLM(SCENES)


def asked(llm: MockLLM, **options: Any) -> Any:
    return llm.client().responses.create(**{"model": "gpt-5.4", "input": [ASK], "tools": [TOOL], **options})


def without(item: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in item.items() if name not in names}


ENCRYPTED: Any = {"include": ["reasoning.encrypted_content"]}
NO_REASONING = "'fc_ID_0' of type 'function_call' was provided without its required 'reasoning' item: 'rs_ID'."
NO_FOLLOWING = "'rs_ID' of type 'reasoning' was provided without its required following item."
UNVERIFIED = "'rs_ID could not be verified. Reason: Encrypted content could not be decrypted or parsed."
NOT_STORED = "'rs_ID' not found. Items are not persisted when `store` is set to false."
PAIRS: dict[str, tuple[dict[str, Any], Any, str]] = {
    "as it came": ({}, lambda thought, one, two: [thought, one, two], ""),
    "without the reasoning": ({}, lambda thought, one, two: [one, two], NO_REASONING),
    "something between": ({}, lambda thought, one, two: [thought, ASK, one, two], NO_FOLLOWING),
    "without the calls' ids": ({}, lambda thought, one, two: [without(one, "id"), without(two, "id")], ""),
    "reasoning alone": ({}, lambda thought, one, two: [thought, without(one, "id"), without(two, "id")], NO_FOLLOWING),
    "reasoning last": ({}, lambda thought, one, two: [one, two, thought], NO_REASONING),
    "not stored, without the reasoning": ({"store": False}, lambda thought, one, two: [one, two], ""),
    "not stored, as it came": ({"store": False}, lambda thought, one, two: [thought, one, two], NOT_STORED),
    "encrypted": ({"store": False, **ENCRYPTED}, lambda thought, one, two: [thought, one, two], ""),
    "encrypted, alone": ({"store": False, **ENCRYPTED}, lambda thought, one, two: [thought, ASK, one, two], ""),
    "encrypted, without an id": (
        {"store": False, **ENCRYPTED},
        lambda thought, one, two: [without(thought, "id"), one, two],
        "",
    ),
    "mangled": (
        {"store": False, **ENCRYPTED},
        lambda thought, one, two: [thought | {"encrypted_content": thought["encrypted_content"][:-5]}, one, two],
        UNVERIFIED,
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_reasoning_and_what_followed_it_are_sent_back_together(llm: MockLLM, name: str) -> None:
    options, changed, words = PAIRS[name]
    first = asked(llm, **options)
    items = [ASK, *changed(*(item.to_dict() for item in first.output)), *outputs(first)]
    if not words:
        assert asked(llm, input=items, **options).output_text == "Rain."
        return
    with pytest.raises(openai.APIStatusError) as caught:
        asked(llm, input=items, **options)
    message = str(caught.value.body["message"])  # type: ignore[index]
    assert words.lstrip("'") in message.replace(first.id.removeprefix("resp_"), "ID")
    assert caught.value.status_code == (404 if words == NOT_STORED else 400)


def test_a_response_that_is_referred_to_brings_its_reasoning_along(llm: MockLLM) -> None:
    first = asked(llm)
    second = asked(llm, previous_response_id=first.id, input=outputs(first))
    assert [item.type for item in second.output] == ["reasoning", "message"]
    third: Any = [ASK, *({"type": "item_reference", "id": item.id} for item in first.output), *outputs(first)]
    assert asked(llm, input=third).output_text == "Rain."


def test_reasoning_in_a_conversation_can_be_followed_by_an_item_with_a_new_id(llm: MockLLM) -> None:
    first, client = asked(llm), llm.client()
    thought, *calls = (item.to_dict() for item in first.output)
    kept = client.conversations.create(items=[thought, *(without(call, "id") for call in calls)])
    back = [item.to_dict() for item in client.conversations.items.list(kept.id, order="asc")]
    assert asked(llm, input=[ASK, *back, *outputs(first)]).output_text == "Rain."


def test_a_summary_and_the_encrypted_content_are_given_to_those_who_ask(llm: MockLLM) -> None:
    (plain, *_), (whole, *_) = asked(llm).output, asked(llm, reasoning={"summary": "auto"}, **ENCRYPTED).output
    assert (plain.summary, plain.encrypted_content) == ([], None)
    assert ([part.text for part in whole.summary], whole.encrypted_content[:7]) == (["I look it up."], "gAAAAAB")
    assert plain.id != whole.id


def test_usage_says_what_was_cached_and_what_was_reasoning(llm: MockLLM) -> None:
    usage = asked(llm).usage
    assert (usage.input_tokens_details.cached_tokens, usage.output_tokens_details.reasoning_tokens) == (64, 30)
    chat: Any = {"model": "m", "messages": [ASK], "tools": [function_tool(without(TOOL, "type"))]}
    spent = llm.client().chat.completions.create(**chat).usage
    assert spent is not None
    assert (spent.prompt_tokens_details.cached_tokens, spent.completion_tokens_details.reasoning_tokens) == (64, 30)  # type: ignore[union-attr]


def test_a_limit_is_used_up_by_reasoning_first(llm: MockLLM) -> None:
    starved = asked(llm, max_output_tokens=20)
    assert (starved.status, [item.type for item in starved.output]) == ("incomplete", ["reasoning"])
    assert starved.incomplete_details.reason == "max_output_tokens"
    assert (starved.usage.output_tokens, starved.usage.output_tokens_details.reasoning_tokens) == (20, 20)


def test_a_custom_tool_gets_text_and_its_call_an_output(llm: MockLLM) -> None:
    (call,) = asked(llm, input="query", tools=[SQL]).output
    assert (call.type, call.name, call.input) == ("custom_tool_call", "sql", "SELECT 1")
    items = [{"role": "user", "content": "query"}, call.to_dict()]
    output = {"type": "custom_tool_call_output", "call_id": call.call_id, "output": "1"}
    assert asked(llm, input=[*items, output], tools=[SQL]).output_text == "One row."
    with pytest.raises(openai.BadRequestError, match="No tool output found for custom tool call call_"):
        asked(llm, input=items, tools=[SQL])
    with pytest.raises(
        openai.BadRequestError, match="No tool call found for custom tool call output with call_id call_"
    ):
        asked(llm, input=[ASK, output], tools=[SQL])


def test_a_custom_tool_is_called_in_a_chat_too(llm: MockLLM) -> None:
    chat: Any = {"model": "m", "tools": [{"type": "custom", "custom": {"name": "sql"}}]}
    question: Any = {"role": "user", "content": "query"}
    message = llm.client().chat.completions.create(**chat, messages=[question]).choices[0].message
    (call,) = message.tool_calls or []
    assert (call.type, call.custom.input) == ("custom", "SELECT 1")  # type: ignore[union-attr]
    chunks = llm.client().chat.completions.create(**chat, messages=[question], stream=True)
    calls = [call for chunk in chunks for call in chunk.choices[0].delta.tool_calls or []]
    assert "".join(call.custom["input"] for call in calls) == "SELECT 1"  # type: ignore[attr-defined]
    after: Any = [question, message, {"role": "tool", "tool_call_id": call.id, "content": "1"}]
    assert llm.client().chat.completions.create(**chat, messages=after).choices[0].message.content == "One row."


def answers(items: Any) -> list[dict[str, Any]]:
    """The outputs of the calls that a client runs."""
    return [
        {"type": f"{item.type}_output", "id" if item.type == "local_shell_call" else "call_id": item.call_id}
        | OUTPUTS[item.type]
        for item in items
        if item.type in OUTPUTS
    ]


@pytest.mark.parametrize("kind", EVENTS)
def test_the_events_of_each_item_are_those_of_recordings(kind: str) -> None:
    reply: dict[str, Any] = {"reasoning": "I think.", "text": "x"}
    if kind in ITEM:
        reply = {"items": [{"type": kind, **ITEM[kind]}], "text": "x"}
    elif kind.endswith("call"):
        reply = {
            "calls": [{"tool": "sql", "arguments": "SELECT 1"}, {"tool": "weather", "arguments": {"city": "Oslo"}}]
        }
    body = {"model": "gpt-5.4", "input": "x", "reasoning": {"summary": "auto"}, "stream": True}
    body |= {"tools": [SQL, TOOL, *OFFERED.values()], "context_management": [{"type": "compaction"}]}
    answer = MockLLM([{"name": "one", "reply": reply}]).respond(
        HttpRequest("POST", "/v1/responses", {}, json.dumps(body).encode())
    )
    assert answer.status == 200, answer.body
    strictly.check(answer.status, answer.headers["content-type"], answer.body)
    events = [event for _, event in strictly.events(answer.body)]
    opened = next(event for event in events if event.get("item", {}).get("type") == kind)
    inside = [event for event in events if event.get("output_index") == opened["output_index"]]
    names = [event["type"].removeprefix("response.").replace(kind, "…") for event in inside]
    once = [name for n, name in enumerate(names) if n == 0 or name != names[n - 1]]
    assert once == [name.replace(kind, "…") for name in EVENTS[kind]]
    assert all(event["item"]["id"] == event.get("item_id", event["item"]["id"]) for event in inside if "item" in event)
    assert events[-1]["response"]["output"][opened["output_index"]] == inside[-1]["item"]


def test_an_item_of_the_service_is_accepted_when_it_comes_back() -> None:
    items = [{"type": kind, **fields} for kind, fields in ITEM.items()]
    llm = MockLLM([{"name": "one", "reply": {"items": items, "text": "x"}}])
    offered: Any = {"tools": list(OFFERED.values()), "context_management": [{"type": "compaction"}]}
    first = asked(llm, **offered)
    assert {item.type for item in first.output} == {*SERVICE_ITEMS, "message"}
    back: Any = [ASK, *(item.to_dict() for item in first.output), *answers(first.output), ASK]
    assert asked(llm, **offered, input=back).output_text == "x"
    with pytest.raises(openai.UnprocessableEntityError, match="but no tool of type web_search"):
        asked(llm)
    with pytest.raises(openai.UnprocessableEntityError, match="its items exist only in the Responses API"):
        llm.client().chat.completions.create(model="m", messages=[ASK])  # type: ignore[list-item]
    with pytest.raises(openai.UnprocessableEntityError, match="does not ask for it with context_management"):
        asked(llm, tools=list(OFFERED.values()))


@pytest.mark.parametrize("kind", OUTPUTS)
@pytest.mark.parametrize("continued", [False, True])
def test_a_call_that_the_client_runs_is_a_turn_and_needs_its_output(kind: str, continued: bool) -> None:
    name = kind.removesuffix("_call")
    llm = MockLLM([{"name": "run", "when": {"turn": 1}, "reply": {"items": [{"type": kind, **ITEM[kind]}]}}])
    seen = {"image": image_hash(IMAGE)[:8]} if kind == "computer_call" else {"last": "done"}
    llm.when(called=name, turn=2, **seen).then("It is done.")
    options: dict[str, Any] = {"tools": [OFFERED[name]]}
    first = asked(llm, **options)
    before: Any = [] if continued else [ASK, *(item.to_dict() for item in first.output)]
    options |= {"previous_response_id": first.id} if continued else {}
    assert asked(llm, input=[*before, *answers(first.output)], **options).output_text == "It is done."
    words = f"No tool output found for {kind.replace('_', ' ')} {first.output[0].call_id}."
    with pytest.raises(openai.BadRequestError, match=words):
        asked(llm, input=[*before, ASK], **options)
    with pytest.raises(openai.BadRequestError, match=f"No tool call found for {kind.replace('_', ' ')} output with"):
        asked(llm, input=answers(first.output), tools=options["tools"])


MODES: list[tuple[Any, str]] = [
    ({"mode": "auto", "tools": [{"type": "function", "name": "weather"}]}, ""),
    ({"mode": "required", "tools": [{"type": "custom", "name": "sql"}, OFFERED["mcp"]]}, "tool_choice allows only sql"),
    ({"mode": "auto", "tools": []}, "tool_choice allows no tool"),
    (
        {"mode": "auto", "tools": [{"type": "function", "name": "sql"}]},
        "Tool choice 'sql' not found in 'tools' parameter.",
    ),
    ({"mode": "none", "tools": []}, "Invalid value: 'none'. Supported values are: 'auto' and 'required'."),
    ({"tools": []}, "Missing required parameter: 'tool_choice.mode'."),
]


@pytest.mark.parametrize("wire", ["chat", "responses"])
@pytest.mark.parametrize(("allowed", "words"), MODES, ids=lambda value: None)
def test_a_tool_choice_can_limit_the_offered_tools(llm: MockLLM, allowed: Any, words: str, wire: str) -> None:
    def in_chat(tools: Any) -> Any:
        kinds = [(tool["type"], tool) for tool in tools if tool["type"] in ("function", "custom")]
        return [{"type": kind, kind: without(tool, "type")} for kind, tool in kinds]

    options: dict[str, Any] = {
        "tools": [TOOL, SQL, OFFERED["mcp"]],
        "tool_choice": {"type": "allowed_tools", **allowed},
    }
    if wire == "chat":
        choice = {"type": "allowed_tools", "allowed_tools": allowed | {"tools": in_chat(allowed["tools"])}}
        options = {"model": "m", "messages": [ASK], "tools": in_chat(options["tools"]), "tool_choice": choice}
    ask = llm.client().chat.completions.create if wire == "chat" else partial(asked, llm)
    if not words:
        ask(**options)
        return
    with pytest.raises(openai.APIStatusError) as caught:
        ask(**options)
    assert words in str(caught.value.body["message"]).replace(".allowed_tools.", ".")  # type: ignore[index]


def test_results_of_the_services_tools_are_given_to_those_who_ask() -> None:
    file = {"type": "file_search_call", "queries": ["x"], "results": [{"file_id": "file_1"}]}
    web = {
        "type": "web_search_call",
        "action": {"type": "search", "query": "x", "sources": [{"type": "url", "url": "u"}]},
    }
    llm = MockLLM([{"name": "one", "reply": {"items": [file, web], "text": "x"}}])
    for include, asked_for in (([], False), (["file_search_call.results", "web_search_call.action.sources"], True)):
        found, searched, _ = asked(llm, tools=list(OFFERED.values()), include=include).output
        assert (found.results is not None, searched.action.sources is not None) == (asked_for, asked_for)


def test_padding_hides_the_length_of_a_delta_unless_it_is_declined(llm: MockLLM) -> None:
    chat: Any = {"model": "m", "messages": [{"role": "user", "content": "query"}], "stream": True}
    chat["tools"] = [{"type": "custom", "custom": {"name": "sql"}}]
    body: Any = {"model": "m", "input": "query", "tools": [SQL], "stream": True}
    for path, sent in (("chat/completions", chat), ("responses", body)):
        for options in ({}, {"stream_options": {"include_obfuscation": False}}):
            request = HttpRequest("POST", f"/v1/{path}", {}, json.dumps(sent | options).encode())
            events = [event for _, event in strictly.events(llm.respond(request).body) if event != "[DONE]"]
            padded = [event for event in events if "obfuscation" in event]
            assert bool(padded) == (not options)
            lengths = {len(e["delta"] + e["obfuscation"]) % 16 for e in padded if "delta" in e}
            assert lengths == ({0} if padded and path == "responses" else set())
