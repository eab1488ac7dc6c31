"""Independent judges of the wire: the openai package's own types, strictly, and what the published schema requires."""

import json
from typing import Any

import pydantic
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.responses import Response, ResponseStreamEvent

# What OpenAI's published schema requires; the package's types leave some of it optional.
COMPLETION = {"id", "object", "created", "model", "choices"}
CHOICE = {"index", "message", "logprobs", "finish_reason"}
MESSAGE = {"role", "content", "refusal"}
CHUNK_CHOICE = {"index", "delta", "finish_reason"}
RESPONSE = set(
    "id object created_at error incomplete_details instructions model tools output parallel_tool_calls metadata "
    "tool_choice temperature top_p".split()
)
FUNCTION = {"type", "name", "parameters", "strict"}
OUTPUT = {
    "message": {"id", "type", "role", "content", "status"},
    "function_call": {"type", "call_id", "name", "arguments"},
}
EXTRA = {"store", "frequency_penalty", "presence_penalty", "billing"}  # recorded, and unknown to the package
PARTS = {"output_text": {"type", "text", "annotations", "logprobs"}, "refusal": {"type", "refusal"}}
EVENT: pydantic.TypeAdapter[Any] = pydantic.TypeAdapter(ResponseStreamEvent)


def check_completion(body: dict[str, Any]) -> None:
    """A chat completion is of the package's type, strictly, and has every required field."""
    no_extra(ChatCompletion.model_validate(body, strict=True))
    assert set(body) >= COMPLETION | {"usage"}
    for choice in body["choices"]:
        assert set(choice) >= CHOICE
        assert set(choice["message"]) >= MESSAGE
        check_calls(choice["message"].get("tool_calls", []), choice["message"])


def check_chunk(body: dict[str, Any]) -> None:
    """A chunk of a streamed completion likewise, padded by its obfuscation."""
    body = dict(body)
    assert isinstance(body.pop("obfuscation", ""), str)
    no_extra(ChatCompletionChunk.model_validate(body, strict=True))
    assert set(body) >= COMPLETION
    for choice in body["choices"]:
        assert set(choice) >= CHUNK_CHOICE


def check_calls(calls: list[Any], message: dict[str, Any]) -> None:
    """Tool calls are whole, and an empty list of them is left out."""
    assert calls or "tool_calls" not in message
    for call in calls:
        assert set(call) == {"id", "type", call["type"]}
        assert set(call[call["type"]]) == {"name", "arguments" if call["type"] == "function" else "input"}


def check_response(body: dict[str, Any]) -> None:
    """A response is of the package's type, strictly, and has every required field."""
    # The package's type of a custom tool's call has no status.
    output = [without_status(item) for item in body["output"]]
    response = Response.model_validate(body | {"output": output}, strict=True)
    assert set(response.model_extra or {}) <= EXTRA
    for name in type(response).model_fields:
        no_extra(getattr(response, name))
    assert set(body) >= RESPONSE | EXTRA - {"billing"}
    assert all(set(tool) >= FUNCTION for tool in body["tools"] if tool["type"] == "function")
    for item in body["output"]:
        assert set(item) >= OUTPUT.get(item["type"], {"id", "type"})
        assert all(set(part) >= PARTS[part["type"]] for part in item.get("content", []))


def without_status(item: dict[str, Any]) -> dict[str, Any]:
    """An item as the package's type has it: the call of a custom tool without its status."""
    return {name: value for name, value in item.items() if item["type"] != "custom_tool_call" or name != "status"}


def check_event(name: str | None, body: dict[str, Any]) -> None:
    """An event of a streamed response is the type that its name says."""
    if name == "error":  # recordings nest the error, unlike the package's type
        assert set(body["error"]) == {"type", "code", "message", "param"}
        return
    body = dict(body)
    assert isinstance(body.pop("obfuscation", ""), str)
    item = body.get("item") or {}
    if str(name).startswith("response.apply_patch_call_operation_diff."):
        return  # recorded, and unknown to the package
    if item.get("type") == "web_search_call":
        body |= {"item": {"action": {"type": "search"}} | item}  # recordings open it without its action
    elif item:
        body |= {"item": without_status(item)}
    value = EVENT.validate_python(body, strict=True)
    assert name == body["type"] == value.type
    if "response" not in body:
        no_extra(value)
    if "response" in body:
        check_response(body["response"])


def check_error(body: dict[str, Any]) -> None:
    """An error has its four fields and words."""
    assert list(body) == ["error"]
    assert set(body["error"]) == {"message", "type", "param", "code"}
    assert body["error"]["message"]
    assert body["error"]["type"]


def no_extra(value: Any) -> None:
    """No field that the package does not know."""
    if isinstance(value, pydantic.BaseModel):
        assert not value.model_extra, value.model_extra
        for name in type(value).model_fields:
            no_extra(getattr(value, name))
    elif isinstance(value, list):
        for item in value:
            no_extra(item)


def events(body: bytes) -> list[tuple[str | None, Any]]:
    """The server-sent events of a body: (name, JSON); [DONE] as it is."""
    parsed = []
    for block in body.decode().split("\n\n")[:-1]:
        fields = dict(line.split(": ", 1) for line in block.split("\n"))
        data = fields["data"]
        parsed.append((fields.get("event"), data if data == "[DONE]" else json.loads(data)))
    return parsed


def check(status: int, content_type: str, body: bytes) -> str:
    """Check a whole answer, and return its kind."""
    if content_type.startswith("text/event-stream"):
        return check_stream(events(body))
    answer = json.loads(body)
    if status != 200:
        check_error(answer)
        return "error"
    if answer["object"] == "response":
        check_response(answer)
    elif answer["object"] == "chat.completion":
        check_completion(answer)
    return str(answer["object"])


def check_stream(stream: list[tuple[str | None, Any]]) -> str:
    """A stream is valid event by event, and whole."""
    if stream[0][0] == "response.created":
        assert [body["sequence_number"] for _, body in stream] == list(range(len(stream)))
        for name, body in stream:
            check_event(name, body)
        assert stream[-1][0] in ("response.completed", "response.incomplete", "response.failed")
        return "response stream"
    assert stream.pop() == (None, "[DONE]")
    for name, body in stream:
        assert name is None
        check_chunk(body)
    assert stream[0][1]["choices"][0]["delta"]["role"] == "assistant"
    last = [body for _, body in stream if body["choices"]][-1]["choices"][0]
    assert (last["delta"], last["finish_reason"] is None) == ({}, False)
    return "chunk stream"
