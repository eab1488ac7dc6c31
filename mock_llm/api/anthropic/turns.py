"""Validation of a conversation: who speaks, what is empty, and a result for every tool call."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any

from mock_llm.api import refusals
from mock_llm.types import ApiError

from .fields import invalid
from .models import LONG, model_of

Block = Mapping[str, Any]
ONLY_IN = {
    "tool_use": "assistant",
    "thinking": "assistant",
    "redacted_thinking": "assistant",
    "tool_result": "user",
}
THOUGHTS = ("thinking", "redacted_thinking")
MOST_CACHED = 4


def blocks_of(content: str | Sequence[Block]) -> Sequence[Block]:
    """Return a content as blocks; a string is a block of text."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def signature(thinking: str) -> str:
    """Return the signature of a thinking block, which must be sent back with the same text."""
    return hashlib.sha256(f"mock_llm thought: {thinking}".encode()).hexdigest()


def signed(body: Any) -> Any:
    """Return a request to the real service with signatures of the scripted model, without thoughts that are encrypted."""
    messages = body.get("messages") if isinstance(body, dict) else None
    if not isinstance(messages, list):
        return body
    return body | {"messages": [_signed(message) for message in messages]}


def _signed(message: Any) -> Any:
    content = message.get("content") if isinstance(message, dict) else None
    if not isinstance(content, list):
        return message
    kept = [block for block in content if not isinstance(block, dict) or block.get("type") != "redacted_thinking"]
    for n, block in enumerate(kept):
        if isinstance(block, dict) and block.get("type") == "thinking":
            kept[n] = block | {"signature": signature(str(block.get("thinking")))}
    return message | {"content": kept}


def conversation_errors(body: Mapping[str, Any]) -> Iterator[ApiError]:
    """Yield the errors of the messages and the system prompt, for a request with a valid shape."""
    messages = body["messages"]
    if not messages:
        yield invalid("messages: at least one message is required")
    for n, message in enumerate(messages):
        yield from _role_errors(n, messages, body["model"])
        if not message["content"] and not (n == len(messages) - 1 and message["role"] == "assistant"):
            what = "all messages must have non-empty content except for the optional final assistant message"
            yield invalid(f"messages.{n}: {what}")
        for place, block in enumerate(blocks_of(message["content"])):
            yield from _block_errors(block, message["role"], f"messages.{n}.content.{place}")
    for block in blocks_of(body.get("system") or []):
        yield from _text_errors(block, "system")
    if messages and messages[-1]["role"] == "assistant":
        last = [block.get("text", "") for block in blocks_of(messages[-1]["content"])][-1:]
        if last and last[0] != last[0].rstrip():
            yield invalid("messages: final assistant content cannot end with trailing whitespace")
    yield from _pairing_errors(messages)
    if (body.get("thinking") or {}).get("type") == "enabled":
        yield from _thought_errors(messages)
    cached = sum(part.get("cache_control") is not None for part in _parts(body))
    if cached > MOST_CACHED:
        yield invalid(f"A maximum of {MOST_CACHED} blocks with cache_control may be provided. Found {cached}.")


def _role_errors(n: int, messages: Sequence[Mapping[str, Any]], model: str) -> Iterator[ApiError]:
    if messages[n]["role"] != "system":
        return
    if n == 0:
        yield invalid("messages.0: use the top-level 'system' parameter for the initial system prompt")
    if not model_of(model).system:
        yield invalid("role 'system' is not supported on this model")
    after = messages[n + 1]["role"] if n + 1 < len(messages) else "assistant"
    if messages[n - 1]["role"] != "user" or after != "assistant":
        hint = "put it after a message of the user, at the end or before a message of the assistant."
        yield refusals.not_supported(f"'messages.{n}' (a system message here)", hint)


def _block_errors(block: Block, role: str, at: str) -> Iterator[ApiError]:
    kind = block["type"]
    if ONLY_IN.get(kind, role) != role:
        yield invalid(f"{at.split('.content')[0]}: `{kind}` blocks can only be in `{ONLY_IN[kind]}` messages")
    yield from _text_errors(block, "messages")
    for inner in blocks_of(block.get("content") or []):
        yield from _text_errors(inner, "messages")
    if kind == "thinking" and block["signature"] != signature(block["thinking"]):
        yield invalid(f"{at}: Invalid `signature` in `thinking` block")
    if kind == "redacted_thinking":
        yield invalid(f"{at}: Invalid `data` in `redacted_thinking` block")


def _text_errors(block: Block, at: str) -> Iterator[ApiError]:
    if block.get("type") == "text" and not block["text"].strip():
        what = "contain non-whitespace text" if block["text"] else "be non-empty"
        yield invalid(f"{at}: text content blocks must {what}")


def _pairing_errors(messages: Sequence[Mapping[str, Any]]) -> Iterator[ApiError]:
    called: set[str] = set()
    previous: set[str] = set()  # ids of the calls in the message before
    for n, message in enumerate(messages):
        answered: set[str] = set()
        for place, block in _of(message, "tool_result"):
            at, name = f"messages.{n}.content.{place}", block["tool_use_id"]
            if name not in previous:
                what = f"unexpected `tool_use_id` found in `tool_result` blocks: {name}. Each `tool_result` block must have a"
                yield invalid(f"{at}: {what} corresponding `tool_use` block in the previous message.")
            if name in answered:
                what = "each tool_use must have a single result. Found multiple `tool_result` blocks with id:"
                yield invalid(f"{at}: {what} {name}")
            answered.add(name)
        uses = _of(message, "tool_use")
        for place, block in uses:
            if block["id"] in called:
                yield invalid(f"messages.{n}.content.{place}: `tool_use` ids must be unique")
            called.add(block["id"])
        previous = {block["id"] for _, block in uses}
        results = _first_results(messages[n + 1]) if n + 1 < len(messages) else set()
        if missing := [block["id"] for _, block in uses if block["id"] not in results]:
            what = "`tool_use` ids were found without `tool_result` blocks immediately after:"
            must = "Each `tool_use` block must have a corresponding `tool_result` block in the next message."
            yield invalid(f"messages.{n}: {what} {', '.join(missing)}. {must}")


def _first_results(message: Mapping[str, Any]) -> set[str]:
    """Return the ids of the results at the beginning of a message; later ones do not count."""
    results = takewhile(lambda block: block["type"] == "tool_result", blocks_of(message["content"]))
    return {block["tool_use_id"] for block in results}


def _thought_errors(messages: Sequence[Mapping[str, Any]]) -> Iterator[ApiError]:
    """Yield the error of tool results without the thoughts that precede their calls."""
    if len(messages) > 1 and _of(messages[-1], "tool_result"):
        first = blocks_of(messages[-2]["content"])[0]["type"]
        if first not in THOUGHTS:
            yield invalid(
                f"messages.{len(messages) - 2}.content.0.type: Expected `thinking` or `redacted_thinking`, but found `{first}`. "
                "When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the "
                "lastmost set of `tool_use` and `tool_result` blocks). We recommend you include thinking blocks from "
                f"previous turns. To avoid this requirement, disable `thinking`. {LONG}"
            )


def _of(message: Mapping[str, Any], kind: str) -> list[tuple[int, Block]]:
    return [(place, block) for place, block in enumerate(blocks_of(message["content"])) if block["type"] == kind]


def _parts(body: Mapping[str, Any]) -> Iterator[Block]:
    """Return everything that can be marked for the prompt cache."""
    yield from blocks_of(body.get("system") or [])
    yield from body.get("tools") or []
    yield body
    for message in body["messages"]:
        for block in blocks_of(message["content"]):
            yield block
            yield from blocks_of(block.get("content") or [])
