"""Everything that the wire can say, held against the openai package's types; streams add up to the plain answer."""

import base64
import hashlib
import json
from pathlib import Path
from typing import Any

import openai
import pydantic
import pytest
import yaml

from mock_llm import MockLLM, Request
from mock_llm.types import HttpRequest
from tests.mock_llm import strictly
from tests.mock_llm.asking import closed, function_tool, outputs

SCHEMA = closed(total={"type": "integer"})
FUNCTION = {"name": "add", "description": "Add.", "parameters": SCHEMA, "strict": True}
SCENES: list[dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("wire.yaml").read_text("utf-8"))["scenes"]
WORDS = ["talk", "nothing", "refuse", "filter", "total", "call", "silently", "unscripted"]


def completion(word: str, **options: Any) -> dict[str, Any]:
    body: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": word}]}
    if word in ("call", "silently"):
        body["tools"] = [function_tool(FUNCTION)]
    if word == "total":
        shape = {"name": "total", "strict": True, "schema": SCHEMA}
        body["response_format"] = {"type": "json_schema", "json_schema": shape}
    return body | options


def response(word: str, **options: Any) -> dict[str, Any]:
    body: dict[str, Any] = {"model": "m", "input": word}
    if word in ("call", "silently"):
        body["tools"] = [{"type": "function", **FUNCTION}]
    if word == "total":
        body["text"] = {"format": {"type": "json_schema", "name": "total", "strict": True, "schema": SCHEMA}}
    return body | options


@pytest.fixture
def llm() -> MockLLM:
    return MockLLM(SCENES)


def spoken(part: Any) -> Any:
    """What a completion says, without what the package adds to the parts of a stream."""
    if isinstance(part, dict):
        added = ("index", "parsed", "parsed_arguments")
        return {name: spoken(value) for name, value in part.items() if value and name not in added}
    return [spoken(one) for one in part] if isinstance(part, list) else part


@pytest.mark.parametrize("word", [word for word in WORDS[:-1] if word != "filter"])
@pytest.mark.parametrize("n", [1, 2])
def test_a_streamed_completion_adds_up_to_the_plain_one(llm: MockLLM, word: str, n: int) -> None:
    client, body = llm.client(), completion(word, n=n)
    plain = MockLLM(SCENES).client().chat.completions.create(**body)
    with client.chat.completions.stream(**body, stream_options={"include_usage": True}) as stream:
        assert spoken(stream.get_final_completion().to_dict()) == spoken(plain.to_dict())


def test_only_a_client_that_asks_for_the_usage_gets_it_in_the_last_chunk(llm: MockLLM) -> None:
    create = llm.client().chat.completions.create
    *chunks, last = create(**completion("call"), stream=True, stream_options={"include_usage": True})
    assert all(chunk.usage is None and "usage" in chunk.model_fields_set for chunk in chunks)
    assert (last.choices, last.usage is None) == ([], False)
    assert len({chunk.id for chunk in [*chunks, last]}) == 1
    assert all("usage" not in chunk.model_fields_set for chunk in create(**completion("talk"), stream=True))
    calls = [call for chunk in chunks for call in chunk.choices[0].delta.tool_calls or []]
    named = [(call.index, call.type, call.function.name, call.function.arguments) for call in calls if call.id]  # type: ignore[union-attr]
    assert named == [(index, "function", "add", "") for index in range(2)]
    assert all(call.type is call.function.name is None for call in calls if not call.id)  # type: ignore[union-attr]


class Total(pydantic.BaseModel):
    total: int


def test_structured_answers_are_parsed_plain_and_streamed_on_both_endpoints(llm: MockLLM) -> None:
    client = llm.client()
    asked = {"model": "m", "messages": [{"role": "user", "content": "total"}]}
    assert client.chat.completions.parse(**asked, response_format=Total).choices[0].message.parsed == Total(total=53)
    with client.chat.completions.stream(**asked, response_format=Total) as stream:
        assert stream.get_final_completion().choices[0].message.parsed == Total(total=53)
    assert client.responses.parse(model="m", input="total", text_format=Total).output_parsed == Total(total=53)
    with client.responses.stream(model="m", input="total", text_format=Total) as events:
        assert events.get_final_response().output_parsed == Total(total=53)


@pytest.mark.parametrize("word", WORDS[:-1])
def test_a_streamed_response_adds_up_to_the_plain_one(llm: MockLLM, word: str) -> None:
    client, other = llm.client(), MockLLM(SCENES).client()
    plain = other.responses.create(**response(word))
    events = list(client.responses.create(**response(word), stream=True))
    last = events[-1]
    assert last.type in ("response.completed", "response.incomplete")
    assert last.response.model_dump() == plain.model_dump()
    assert (plain.incomplete_details and plain.incomplete_details.reason) == (
        "content_filter" if word == "filter" else None
    )
    deltas = "".join(event.delta for event in events if event.type == "response.output_text.delta")
    assert deltas == plain.output_text
    assert [event.type for event in events[:2]] == ["response.created", "response.in_progress"]


def test_a_response_can_be_referred_to_instead_of_sent_again(llm: MockLLM) -> None:
    client = llm.client()
    first = client.responses.create(**response("call"))
    second = client.responses.create(model="m", previous_response_id=first.id, input=outputs(first))
    assert (second.output_text, second.previous_response_id) == ("Both are added.", first.id)
    third = client.responses.create(model="m", previous_response_id=second.id, input="talk", stream=True)
    assert list(third)[-1].type == "response.completed"
    asked = (llm.calls[-1].parsed or Request({})).conversation
    assert [message.text for message in asked if message.role == "user"] == ["call", "talk"]
    reference: Any = {"type": "item_reference", "id": second.output[0].id}
    fourth = client.responses.create(model="m", input=[TALK, reference, TALK])
    assert fourth.output_text == SCENES[0]["reply"]["text"]
    assert [message.role for message in (llm.calls[-1].parsed or Request({})).messages] == ["user", "assistant", "user"]


def test_a_conversation_is_kept_read_and_continued(llm: MockLLM) -> None:
    client = llm.client()
    items = client.conversations.items
    kept = client.conversations.create(metadata={"a": "b"}, items=[{"role": "assistant", "content": "hello"}])
    first = client.responses.create(**response("call", conversation=kept.id, store=False))
    second = client.responses.create(model="m", conversation={"id": kept.id}, input=outputs(first))
    assert (second.output_text, second.conversation and second.conversation.id) == ("Both are added.", kept.id)
    said = [item.to_dict() for item in items.list(kept.id, order="asc", limit=2)]
    roles = [item.get("role", item["type"]) for item in said]
    calls, results = ["function_call"] * 2, ["function_call_output"] * 2
    assert roles == ["assistant", "user", "assistant", *calls, *results, "assistant"]
    assert (said[1]["content"], len({item["id"] for item in said})) == ([{"type": "input_text", "text": "call"}], 8)
    assert not items.list(kept.id, limit=8).has_more
    assert [item.id for item in items.list(kept.id)] == [item["id"] for item in reversed(said)]
    assert items.delete(said[-1]["id"], conversation_id=kept.id) == client.conversations.retrieve(kept.id) == kept
    (added,) = items.create(kept.id, items=[TALK]).data
    assert items.retrieve(added.id, conversation_id=kept.id) == items.list(kept.id).data[0] == added
    assert client.conversations.update(kept.id, metadata={"c": "d"}).metadata == {"c": "d"}
    assert client.responses.create(model="m", conversation=kept.id, input="talk").output_text
    assert client.conversations.delete(kept.id).deleted
    unknown = f"Conversation with id '{kept.id}' not found"
    absent: list[tuple[str, Any]] = [
        (unknown, lambda: items.list(kept.id)),
        (unknown, lambda: client.responses.create(model="m", conversation=kept.id, input="talk")),
        ("Item with id 'x' not found", lambda: items.retrieve("x", conversation_id=client.conversations.create().id)),
        ("Mutually exclusive", lambda: client.responses.create(**response("talk"), **BOTH)),
        ("Supported values are: 'assistant', ", lambda: client.conversations.create(items=[{}])),  # type: ignore[list-item]
        ("with maximum length 20", lambda: client.conversations.create(items=[TALK] * 21)),
        ("Unknown parameter: 'x'", lambda: client.conversations.create(extra_body={"x": 1})),
        ("Missing required parameter: 'items'", lambda: client.post("/conversations/c/items", body={}, cast_to=object)),
        ("'limit'", lambda: items.list(client.conversations.create().id, limit=101)),
        ("'limit'", lambda: items.list(client.conversations.create().id, limit=int("9" * 4000))),
        ("below minimum value", lambda: items.list(client.conversations.create().id, limit=-1)),
        (r"Missing required parameter: 'items\[0\].id'", lambda: client.conversations.create(items=[REASONING])),
        ("expected an object", lambda: client.responses.create(model="m", conversation=5, input="talk")),  # type: ignore[call-overload]
    ]
    for words, ask in absent:
        with pytest.raises(openai.APIStatusError, match=words):
            ask()


REASONING: Any = {"type": "reasoning", "summary": []}
BOTH: Any = {"conversation": "conv_1", "previous_response_id": "resp_1"}


TALK = {"role": "user", "content": "talk"}


def test_a_response_is_retrieved_as_it_was_given(llm: MockLLM) -> None:
    client = llm.client()
    given = client.responses.create(**response("talk"))
    assert client.responses.retrieve(given.id) == given
    kept = client.responses.create(**response("total"), store=False)
    for absent in (kept.id, "resp_none"):
        with pytest.raises(openai.NotFoundError, match=f"Response with id '{absent}' not found"):
            client.responses.retrieve(absent)
    assert len(llm.calls) == 2
    with pytest.raises(openai.BadRequestError, match="not found"):
        client.responses.create(model="m", previous_response_id=kept.id, input="talk")


def test_tokens_are_counted_as_the_answer_will_report_them(llm: MockLLM) -> None:
    client = llm.client()
    counted = client.responses.input_tokens.count(model="m", input="talk", instructions="Be brief.")
    answer = client.responses.create(model="m", input="talk", instructions="Be brief.")
    assert answer.usage is not None
    assert (counted.object, counted.input_tokens) == ("response.input_tokens", answer.usage.input_tokens)
    assert len(llm.calls) == 1
    with pytest.raises(openai.BadRequestError, match="Unknown parameter: 'temperature'"):
        client.responses.input_tokens.count(model="m", input="x", extra_body={"temperature": 1})


def test_an_error_in_a_streamed_response_is_an_error_event() -> None:
    llm = MockLLM([{"name": "one", "reply": {"text": "one two three", "fault": {"kind": "error_event", "after": 2}}}])
    body = json.dumps({"model": "m", "input": "x", "stream": True}).encode()
    events = strictly.events(llm.respond(HttpRequest("POST", "/v1/responses", {}, body)).body)
    assert [name for name, _ in events] == ["response.created", "response.in_progress", "error", "response.failed"]
    strictly.check_stream(events)
    told, failed = events[-2][1]["error"], events[-1][1]["response"]["error"]
    assert told == failed | {"param": told["param"], "type": told["type"]}


def test_an_image_is_told_by_its_hash_on_both_endpoints() -> None:
    def url(data: bytes) -> str:
        return f"data:image/png;base64,{base64.b64encode(data).decode()}"

    cat, cow = (hashlib.sha256(data).hexdigest()[:12] for data in (b"a cat", b"a cow"))
    client = MockLLM([{"name": "cat", "when": {"image": cat}, "reply": {"text": "A cat."}}]).client()
    part: Any = {"type": "input_image", "image_url": url(b"a cat"), "detail": "auto"}
    text: Any = {"type": "input_text", "text": "What is it?"}
    assert client.responses.create(model="m", input=[{"role": "user", "content": [text, part]}]).output_text == "A cat."
    image: Any = {"type": "image_url", "image_url": {"url": url(b"a cow"), "detail": "low"}}
    with pytest.raises(openai.UnprocessableEntityError, match=rf"(?s)the images shown: {cow}.*- {cow}"):
        client.chat.completions.create(model="m", messages=[{"role": "user", "content": [image]}])
