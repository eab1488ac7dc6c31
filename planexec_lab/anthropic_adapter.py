"""An Anthropic client in the place of an OpenAI client, for planners, executors and evaluators.

    planner = LLMPlanner(AnthropicAdapter(anthropic.Anthropic()), "claude-sonnet-5-5")

The adapter translates each request to the Messages API, and the answer back to a chat completion. In the Messages API the system
prompt is a separate field, tool results are blocks of a user message, and `max_tokens` is required. The adapter omits the
temperature. It asks for the whole answer, so the steps of a streaming planner start when its answer is complete.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from types import SimpleNamespace
from typing import Any

Body = dict[str, Any]
REASONS = {  # a reason that is not here is passed on, and ends no whole answer
    **dict.fromkeys(("end_turn", "stop_sequence", "refusal"), "stop"),
    "max_tokens": "length",
    "tool_use": "tool_calls",
    "model_context_window_exceeded": "length",
    "pause_turn": "abort",
}
# Keywords that structured outputs refuse; an answer is checked after it arrives anyway.
REFUSED = frozenset("minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems".split())


class AnthropicAdapter:
    """Has the one method of an `openai.OpenAI` client that planexec_lite calls.

    Args:
        client: an `anthropic.Anthropic` client.
    """

    def __init__(self, client: Any) -> None:
        self._client = client
        asking = SimpleNamespace(create=self._create)
        self.chat = SimpleNamespace(completions=SimpleNamespace(with_streaming_response=asking))

    @contextmanager
    def _create(self, **request: Any) -> Iterator[SimpleNamespace]:
        """Ask, and yield the answer's headers and a function that yields its bytes."""
        raw = self._client.messages.with_raw_response.create(**_translated(request))
        duration = re.search(r"dur=(\d+)", raw.headers.get("server-timing", ""))
        headers = {"openai-processing-ms": duration[1]} if duration else {}
        body = json.dumps(_completion(raw.parse())).encode()
        yield SimpleNamespace(headers=headers, iter_bytes=lambda: iter([body]))


def _translated(request: Mapping[str, Any]) -> Body:
    """Convert a request for a chat completion into a request to the Messages API."""
    messages = request["messages"]
    rules = [message["content"] for message in messages if message["role"] == "system"]
    limit = request.get("max_tokens") or request.get("max_completion_tokens")
    asked: Body = {"model": request["model"], "messages": _turns(messages)}
    asked["max_tokens"] = limit or 4_096
    if system := "\n\n".join(rules):
        asked["system"] = system
    if shape := request.get("response_format"):
        schema = _plain(shape["json_schema"]["schema"])
        asked["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
    if tools := request.get("tools"):
        asked["tools"] = [_tool(tool["function"]) for tool in tools]
    return asked


def _tool(function: Mapping[str, Any]) -> Body:
    return {"name": function["name"], "description": function["description"], "input_schema": function["parameters"]}


def _turns(messages: Sequence[Mapping[str, Any]]) -> list[Body]:
    turns: list[Body] = []
    for message in messages:
        if message["role"] == "tool":
            result = {"type": "tool_result", "tool_use_id": message["tool_call_id"], "content": message["content"]}
            if turns[-1]["role"] == "user":  # all results of an answer are in one message
                turns[-1]["content"].append(result)
            else:
                turns.append({"role": "user", "content": [result]})
        elif message.get("tool_calls"):
            texts = [{"type": "text", "text": message["content"]}] if message.get("content") else []
            turns.append({"role": "assistant", "content": texts + [_use(call) for call in message["tool_calls"]]})
        elif message["role"] != "system":
            turns.append({"role": message["role"], "content": message["content"]})
    return turns


def _use(call: Mapping[str, Any]) -> Body:
    arguments = {}
    with suppress(ValueError):  # broken arguments can't be sent back on this wire
        arguments = json.loads(call["function"]["arguments"])
    return {"type": "tool_use", "id": call["id"], "name": call["function"]["name"], "input": arguments}


def _plain(schema: Any) -> Any:
    """Return a schema without the keywords that structured outputs refuse."""
    if isinstance(schema, list):
        return [_plain(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    named = schema.get("properties")
    kept = {key: _plain(part) for key, part in schema.items() if key not in REFUSED and key != "properties"}
    return kept if named is None else kept | {"properties": {name: _plain(part) for name, part in named.items()}}


def _completion(answer: Any) -> Body:
    calls = [
        {"id": block.id, "function": {"name": block.name, "arguments": json.dumps(block.input)}}
        for block in answer.content
        if block.type == "tool_use"
    ]
    # the kit reads text, skips thoughts, and rejects parts of other kinds
    parts = [
        {"type": block.type, "text": getattr(block, "text", "")} for block in answer.content if block.type != "tool_use"
    ]
    message = {"content": parts, "refusal": _refusal(answer), "tool_calls": calls}
    return {
        "choices": [{"message": message, "finish_reason": REASONS.get(answer.stop_reason, answer.stop_reason)}],
        "usage": _usage(answer.usage),
    }


def _refusal(ended: Any) -> str | None:
    if ended.stop_reason != "refusal":
        return None
    return getattr(ended.stop_details, "explanation", None) or "the model gave no reason"


def _usage(usage: Any) -> dict[str, int | None]:
    cached = usage.cache_read_input_tokens or 0, usage.cache_creation_input_tokens or 0
    counts = usage.input_tokens, *cached
    known = all(type(count) is int and count >= 0 for count in counts)
    return {"prompt_tokens": sum(counts) if known else None, "completion_tokens": usage.output_tokens}
