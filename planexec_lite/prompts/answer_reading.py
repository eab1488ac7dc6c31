"""What an endpoint's body says: the answer's text, why it ended, what it used; whole, or as far as it came."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from planexec_lite.prompts.request_log import Reply


def read(body: str, streamed: bool) -> Reply:
    """Return what a body of the chat completions or of the Responses API says. What can't be read is left out."""
    reply, texts, calls = Reply(), dict[Any, str](), dict[Any, dict[str, Any]]()
    for part in _events(body) if streamed else [_json(body)]:
        if isinstance(part.get("error"), dict):
            reply.status, reply.error = "failed", str(part["error"].get("message", ""))
        _chat(part, reply, texts, calls)
        _responses(part, reply, texts, calls)
    told = "\n\n".join(text for text in texts.values() if text)  # several where several choices were asked for
    reply.answer = told if told or not calls else json.dumps(list(calls.values()), ensure_ascii=False)
    if reply.status == "answered" and (reply.finish_reason == "length" or (streamed and not reply.finish_reason)):
        reply.status = "cut off"
    return reply


def is_object(body: str) -> bool:
    """Whether a body is a JSON object, as an answer is."""
    return bool(_json(body))


def _chat(part: dict[str, Any], reply: Reply, texts: dict[Any, str], calls: dict[Any, dict[str, Any]]) -> None:
    for choice in _dicts(part.get("choices")):
        told, place = _dict(choice.get("delta")) or _dict(choice.get("message")), str(choice.get("index"))
        for name in ("content", "refusal"):
            texts[place] = texts.get(place, "") + str(told.get(name) or "")
        reply.finish_reason = str(choice.get("finish_reason") or reply.finish_reason)
        for number, call in enumerate(_dicts(told.get("tool_calls"))):
            function = _dict(call.get("function"))
            known = calls.setdefault((place, str(call.get("index", number))), {"name": "", "arguments": ""})
            for name in known:
                known[name] += str(function.get(name) or "")
    if isinstance(usage := part.get("usage"), dict) and "prompt_tokens" in usage:
        reply.input_tokens, reply.output_tokens = _count(usage, "prompt_tokens"), _count(usage, "completion_tokens")


def _responses(part: dict[str, Any], reply: Reply, texts: dict[Any, str], calls: dict[Any, dict[str, Any]]) -> None:
    kind = str(part.get("type", ""))
    if kind in ("response.output_text.delta", "response.refusal.delta"):
        texts[None] = texts.get(None, "") + str(part.get("delta", ""))
    if kind == "error":
        reply.status, reply.error = "failed", str(part.get("message", ""))
    whole = part.get("response") if kind.startswith("response.") else part
    if not isinstance(whole, dict) or whole.get("object") != "response":
        return
    if whole.get("status") in ("completed", "incomplete", "failed"):
        reply.finish_reason = {"completed": "stop", "incomplete": "length"}.get(whole["status"], "")
        outputs = _dicts(whole.get("output"))
        told = [one for output in outputs for one in _dicts(output.get("content"))]
        if told:
            texts[None] = "".join(str(one.get("text") or one.get("refusal") or "") for one in told)
        for number, output in enumerate(outputs):
            if output.get("type") == "function_call":
                calls[number] = {"name": output.get("name"), "arguments": output.get("arguments")}
    if isinstance(usage := whole.get("usage"), dict):
        reply.input_tokens, reply.output_tokens = _count(usage, "input_tokens"), _count(usage, "output_tokens")
    if isinstance(error := whole.get("error"), dict):
        reply.status, reply.error = "failed", str(error.get("message", ""))


def _events(body: str) -> Iterator[dict[str, Any]]:
    for line in re.split(r"\r\n|\n|\r", body):  # and at nothing else: a text may hold other ends of lines
        if line.startswith("data:"):
            yield _json(line.removeprefix("data:"))


def _json(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _count(usage: dict[str, Any], name: str) -> int:
    count = usage.get(name)
    return count if type(count) is int and 0 <= count < 2**63 else 0
