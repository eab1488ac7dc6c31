"""Reads the model's answer from an HTTP response of a real API, plain or streamed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from mock_llm.types import SERVICE_ITEMS, Answer, Choice, ToolCall, Usage

REASONS = {"max_output_tokens": "length", "content_filter": "content_filter"}


class UnreadableAnswer(ValueError):
    """A response contains no answer that a script can give: the reason."""


def read_answer(endpoint: str, body: bytes, seconds: float = 0.0) -> Answer:
    """Return the answer in the body of a successful response.

    Args:
        endpoint: "chat", "responses" or "anthropic".
        body: JSON, or a stream of server-sent events.
        seconds: the latency of the answer.

    Raises:
        UnreadableAnswer: it is not the body of such a response, or has parts that a script can't express.
    """
    try:
        choices, usage = READERS[endpoint](_whole(body, MERGERS[endpoint]))
    except (LookupError, TypeError, AttributeError) as error:
        raise UnreadableAnswer(f"the response can't be read: {error!r}") from None
    read, written, cached, reasoned = usage.input or 0, usage.output or 0, usage.cached or 0, usage.reasoning or 0
    return Answer("recorded", choices, read, written, round(seconds, 2), None, cached, reasoned)


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


Content = tuple[tuple[Choice, ...], Usage]


def _usage(given: Any, read: str, written: str, thought: str) -> Usage:
    """Return the usage of a call; the details have the tokens from the cache and those of the reasoning."""
    usage = given or {}
    cached = (usage.get(f"{read}_details") or {}).get("cached_tokens")
    reasoned = (usage.get(f"{written}_details") or {}).get(thought)
    return Usage(usage.get(read), usage.get(written), cached, reasoned)


def _chat(completion: Mapping[str, Any]) -> Content:
    choices = []
    for choice in completion["choices"]:
        message = choice["message"]
        if message.get("function_call"):
            raise UnreadableAnswer("the deprecated function_call is not supported")
        if beside := [part for part in ("audio", "images") if message.get(part)]:
            raise UnreadableAnswer(f"answers with {beside[0]} can't be recorded")
        calls = tuple(_call(call, call.get(call.get("type") or "function")) for call in message.get("tool_calls") or ())
        reason = choice.get("finish_reason") or "stop"
        choices.append(Choice(message.get("content"), message.get("refusal"), calls, reason))
    return tuple(choices), _usage(completion.get("usage"), "prompt_tokens", "completion_tokens", "reasoning_tokens")


def _call(call: Mapping[str, Any], tool: Mapping[str, Any]) -> ToolCall:
    custom = "input" in tool
    return ToolCall(call.get("id") or call["call_id"], tool["name"], tool["input" if custom else "arguments"], custom)


def _response(response: Mapping[str, Any]) -> Content:
    texts: list[str] = []
    refusal, reasoning = None, None
    calls, items = [], []
    for item in response["output"]:
        kind = item["type"]
        if kind in ("function_call", "custom_tool_call"):
            calls.append(_call({"id": item["call_id"]}, item))
        elif kind == "message":
            texts += [part["text"] for part in item["content"] if part["type"] == "output_text"]
            refusal = next((part["refusal"] for part in item["content"] if part["type"] == "refusal"), refusal)
        elif kind == "reasoning":
            reasoning = "\n".join(filter(None, [reasoning, *(part["text"] for part in item.get("summary") or ())]))
        elif kind in SERVICE_ITEMS:
            given = {name: item[name] for name in SERVICE_ITEMS[kind].fields if item.get(name) is not None}
            items.append({"type": kind, **given})
        else:
            raise UnreadableAnswer(f"items of type {kind} can't be recorded")
    reason = REASONS.get((response.get("incomplete_details") or {}).get("reason", ""), "stop")
    text = "".join(texts) if texts else None
    reason = "tool_calls" if calls and reason == "stop" else reason
    choice = Choice(text, refusal, tuple(calls), reason, reasoning, tuple(items))
    return (choice,), _usage(response.get("usage"), "input_tokens", "output_tokens", "reasoning_tokens")


def _message(message: Mapping[str, Any]) -> Content:
    """Return the content of a message of Anthropic's API."""
    texts, thoughts, calls = [], [], []
    for block in message["content"]:
        if block["type"] == "text":
            texts.append(block["text"])
        elif block["type"] == "tool_use":
            calls.append(ToolCall(block["id"], block["name"], json.dumps(block["input"], ensure_ascii=False)))
        elif block["type"] in ("thinking", "redacted_thinking"):
            thoughts.append(block.get("thinking") or "")
        else:
            raise UnreadableAnswer(f"blocks of type {block['type']} can't be recorded")
    reason, text = message["stop_reason"], "".join(texts) if texts else None
    refusal = (message.get("stop_details") or {}).get("explanation") or text or "" if reason == "refusal" else None
    finish = "length" if reason == "max_tokens" else "tool_calls" if calls else "stop"
    thought = "\n".join(filter(None, thoughts)) if thoughts else None
    usage = _usage(message["usage"], "input_tokens", "output_tokens", "thinking_tokens")
    cached = message["usage"].get("cache_read_input_tokens") or 0
    read = (usage.input or 0) + cached + (message["usage"].get("cache_creation_input_tokens") or 0)
    choice = Choice(None if refusal is not None else text, refusal, tuple(calls), finish, thought)
    return (choice,), Usage(read, usage.output, cached, usage.reasoning)


def _merged_events(events: Iterator[dict[str, Any]]) -> dict[str, Any]:
    """Merge the events of a streamed message of Anthropic's API."""
    message: dict[str, Any] = {}
    for event in events:
        kind, delta = event["type"], event.get("delta") or {}
        if kind == "message_start":
            message = event["message"] | {"content": []}
        elif kind == "content_block_start":
            message["content"].append(event["content_block"] | {"written": ""})
        elif kind == "content_block_delta":
            block = message["content"][event["index"]]
            written = next((delta[name] for name in ("text", "thinking", "partial_json") if name in delta), "")
            block["written"] += written
        elif kind == "message_delta":
            message |= delta | {"usage": message["usage"] | (event.get("usage") or {})}
    if message.get("stop_reason") is None:
        raise UnreadableAnswer("the stream has no event message_delta")
    for block in message["content"]:
        name = {"tool_use": "input"}.get(block["type"], block["type"])
        block[name] = json.loads(block["written"] or "{}") if name == "input" else block["written"]
    return message


def _merged_chunks(chunks: Iterator[dict[str, Any]]) -> dict[str, Any]:
    """Merge the chunks of a streamed chat completion."""
    choices: dict[int, dict[str, Any]] = {}
    usage = None
    for chunk in chunks:
        usage = chunk.get("usage") or usage
        for part in chunk.get("choices") or ():
            choice = choices.setdefault(part["index"], {"message": {}})
            _join(choice["message"], part.get("delta") or {})
            choice["finish_reason"] = part.get("finish_reason") or choice.get("finish_reason")
    if not choices:
        raise UnreadableAnswer("the stream has no choices")
    return {"choices": [choices[index] for index in sorted(choices)], "usage": usage}


def _join(whole: dict[str, Any], piece: Mapping[str, Any]) -> None:
    """Add a piece of a stream to what came before: texts are joined, and the calls of a list by index and id."""
    for name, value in piece.items():
        known = whole.get(name)
        if isinstance(value, list):
            for item in value:
                same = [one for one in whole.setdefault(name, []) if one.get("index") == item.get("index")]
                if same and item.get("id") in (None, "", same[-1].get("id")):
                    _join(same[-1], item)
                else:
                    whole[name].append(item)
        elif isinstance(known, dict) and isinstance(value, dict):
            _join(known, value)
        elif isinstance(known, str) and name not in ("id", "type", "role"):
            whole[name] += value or ""
        elif known is None or value:
            whole[name] = value


def _last_response(events: Iterator[dict[str, Any]]) -> Any:
    """Return the complete response at the end of a stream."""
    ends = ("response.completed", "response.incomplete")
    ended = [event["response"] for event in events if event.get("type") in ends]
    if not ended:
        raise UnreadableAnswer("the stream has no event response.completed")
    return ended[-1]


READERS: Mapping[str, Callable[[Any], Content]] = {"chat": _chat, "responses": _response, "anthropic": _message}
MERGERS: Mapping[str, Callable[[Iterator[dict[str, Any]]], Any]] = {
    "chat": _merged_chunks,
    "responses": _last_response,
    "anthropic": _merged_events,
}
