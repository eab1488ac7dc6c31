"""Reads the model's answer from an HTTP response of the real API: chat completions and responses, plain or streamed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from mock_llm.types import Answer, Choice, ToolCall

REASONS: Final = {"max_output_tokens": "length", "content_filter": "content_filter"}
SILENT_ITEMS: Final = ("message", "function_call", "reasoning")


class UnreadableAnswer(ValueError):
    """A response contains no answer that a script can give: the reason."""


def read_answer(endpoint: str, body: bytes, seconds: float = 0.0) -> Answer:
    """Return the answer in the body of a successful response.

    Args:
        endpoint: "chat" or "responses".
        body: JSON, or a stream of server-sent events.
        seconds: the latency of the answer.

    Raises:
        UnreadableAnswer: it is not the body of such a response, or has parts that a script can't express.
    """
    read = READERS.get(endpoint)
    if read is None:
        raise UnreadableAnswer(f"answers of {endpoint} can't be recorded")
    try:
        choices, (tokens_in, tokens_out) = read(_whole(body, MERGERS[endpoint]))
    except (LookupError, TypeError, AttributeError) as error:
        raise UnreadableAnswer(f"the response can't be read: {error!r}") from None
    return Answer("recorded", choices, tokens_in, tokens_out, round(seconds, 2))


def output_items(body: bytes) -> tuple[str, list[Any]]:
    """Return the id and the output items of a successful response of the Responses API, for requests that continue it."""
    response = _whole(body, _last_response)
    return str(response["id"]), list(response["output"])


def _whole(body: bytes, merge: Callable[[Iterator[dict[str, Any]]], Any]) -> Any:
    """Return the JSON of a plain or streamed body."""
    try:
        text = body.decode()
        return json.loads(text) if text.lstrip().startswith("{") else merge(_events(text))
    except UnicodeDecodeError as error:
        raise UnreadableAnswer(f"the response is not text: {error.reason}") from None
    except json.JSONDecodeError as error:
        raise UnreadableAnswer(f"the response is not JSON: {error}") from None


def _events(text: str) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects of a stream of server-sent events."""
    for event in text.replace("\r\n", "\n").split("\n\n"):
        data = "\n".join(line[5:].removeprefix(" ") for line in event.split("\n") if line.startswith("data:"))
        if data and data != "[DONE]":
            yield json.loads(data)


Content = tuple[tuple[Choice, ...], tuple[int, int]]


def _chat(completion: Mapping[str, Any]) -> Content:
    choices = []
    for choice in completion["choices"]:
        message = choice["message"]
        if message.get("function_call"):
            raise UnreadableAnswer("the deprecated function_call is not supported")
        calls = tuple(
            ToolCall(call["id"], call["function"]["name"], call["function"]["arguments"])
            for call in message.get("tool_calls") or ()
        )
        reason = choice.get("finish_reason") or "stop"
        choices.append(Choice(message.get("content"), message.get("refusal"), calls, reason))
    usage = completion.get("usage") or {}
    return tuple(choices), (int(usage.get("prompt_tokens") or 0), int(usage.get("completion_tokens") or 0))


def _response(response: Mapping[str, Any]) -> Content:
    texts: list[str] = []
    refusal = None
    calls = []
    for item in response["output"]:
        if item["type"] not in SILENT_ITEMS:
            raise UnreadableAnswer(f"items of type {item['type']} can't be recorded")
        if item["type"] == "function_call":
            calls.append(ToolCall(item["call_id"], item["name"], item["arguments"]))
        elif item["type"] == "message":
            texts += [part["text"] for part in item["content"] if part["type"] == "output_text"]
            refusal = next((part["refusal"] for part in item["content"] if part["type"] == "refusal"), refusal)
    reason = REASONS.get((response.get("incomplete_details") or {}).get("reason", ""), "stop")
    choice = Choice("".join(texts) if texts else None, refusal, tuple(calls), "tool_calls" if calls else reason)
    usage = response.get("usage") or {}
    return (choice,), (int(usage.get("input_tokens") or 0), int(usage.get("output_tokens") or 0))


def _merged_chunks(chunks: Iterator[dict[str, Any]]) -> dict[str, Any]:
    """Merge the chunks of a streamed chat completion."""
    choices: dict[int, dict[str, Any]] = {}
    usage = None
    for chunk in chunks:
        usage = chunk.get("usage") or usage
        for part in chunk.get("choices") or ():
            choice = choices.setdefault(part["index"], {"message": {}, "calls": {}, "finish_reason": None})
            delta = part.get("delta") or {}
            for name in ("content", "refusal"):
                if delta.get(name) is not None:
                    choice["message"][name] = choice["message"].get(name, "") + delta[name]
            for call in delta.get("tool_calls") or ():
                whole = choice["calls"].setdefault(call["index"], {"id": "", "function": {"name": "", "arguments": ""}})
                whole["id"] = call.get("id") or whole["id"]
                for name, piece in (call.get("function") or {}).items():
                    whole["function"][name] += piece or ""
            choice["finish_reason"] = part.get("finish_reason") or choice["finish_reason"]
    if not choices:
        raise UnreadableAnswer("the stream has no choices")
    for choice in choices.values():
        choice["message"]["tool_calls"] = list(choice["calls"].values())
    return {"choices": [choices[index] for index in sorted(choices)], "usage": usage}


def _last_response(events: Iterator[dict[str, Any]]) -> Any:
    """Return the complete response at the end of a stream."""
    ends = ("response.completed", "response.incomplete")
    ended = [event["response"] for event in events if event.get("type") in ends]
    if not ended:
        raise UnreadableAnswer("the stream has no event response.completed")
    return ended[-1]


READERS: Final[Mapping[str, Callable[[Any], Content]]] = {"chat": _chat, "responses": _response}
MERGERS: Final[Mapping[str, Callable[[Iterator[dict[str, Any]]], Any]]] = {
    "chat": _merged_chunks,
    "responses": _last_response,
}
