"""The contents of a foreign span: a tool's arguments and result, and a model's messages, in the frameworks' shapes."""

from __future__ import annotations

import json
import math
import re
from typing import Any

from planexec_lab.spans import names
from planexec_lab.spans.span import Span, utf8
from planexec_lab.spans.tree import nested_deeper
from planexec_lite.plan.data import fixed, named_once

_DEEPEST = 40
_FAILED = {"error", "failed", "failure", "cancelled", "canceled", "timeout", "True", "true"}
# of a tool, its call or its result, and of no check of something else
_IS_ERROR = re.compile(
    r"(?:mcp|(?:mcp|gen_ai|anthropic)\.(?:tool|result)|tool|tool_result)(?:\.(?:call|result))*\.is_?error",
    re.IGNORECASE,
)
_CALL = {"args", "kwargs", "sanitize_inputs_outputs"}  # of a Python function, as OpenInference writes it


def arguments(span: Span) -> dict[str, Any]:
    """A tool's arguments by name; a value that is no object is under "input"."""
    value = _first(span, names.ARGUMENTS, *names.ARGUMENTS_TOO)
    if isinstance(value, dict) and isinstance(named := value.get("kwargs"), dict) and value.keys() <= _CALL:
        listed = value.get("args")
        return {f"arg{number}": one for number, one in enumerate(listed if isinstance(listed, list) else [], 1)} | named
    if isinstance(value, dict) and isinstance(value.get("inputs"), dict):  # OpenLLMetry's wrapper
        value = value["inputs"]
    return value if isinstance(value, dict) else {} if value is None else {"input": value}


def result(span: Span) -> Any:
    """A tool's result; of a message that holds it, the content, and of parts with text, the text."""
    if names.RESULT in span.attributes:
        return fixed(joined(_first(span, names.RESULT)))
    value = _message(span)
    for key in ("raw_output",) if isinstance(value, dict) and "tool_name" in value else ("output", "content"):
        if isinstance(value, dict) and key in value:
            value = value[key]
    return fixed(joined(value))


def failed(span: Span) -> bool:
    """Whether a tool's attributes, or the message with its result, say that the call failed."""
    message = _message(span)
    told = [span.attributes.get(name) for name in ("gen_ai.tool.status", "tool.status")]
    if isinstance(message, dict) and not message.keys().isdisjoint(
        ("tool_call_id", "tool_use_id", "isError", "is_error")
    ):
        told += [message.get(name) for name in ("status", "isError", "is_error")]
    told += [value for name, value in span.attributes.items() if _IS_ERROR.fullmatch(name)]
    untrue = [span.attributes.get(name) for name in ("tool.success", "success")]
    return not _FAILED.isdisjoint(map(str, told)) or not {"false", "False", "0"}.isdisjoint(map(str, untrue))


def _message(span: Span) -> Any:
    """A tool's result, or LangChain's message that holds it."""
    value = _first(span, names.RESULT, *names.RESULT_TOO)
    for key in ("output", "data", "kwargs"):
        if isinstance(value, dict) and isinstance(value.get(key), dict):
            value = value[key]
    return value


def joined(value: Any) -> Any:
    """The text of a list of parts with text, ``[{"type": "text", "text": "cold"}]``; other values are unchanged."""
    if not isinstance(value, list) or not value:
        return value
    if all(isinstance(one, dict) and "text" in one and one.keys() <= {"type", "text"} for one in value):
        return "".join(str(one["text"]) for one in value)
    return value


def question(span: Span) -> str:
    """The user's message to a model or an agent; "" if it is missing."""
    content = _first(span, *names.ARGUMENTS_TOO[::-1])
    if isinstance(content, dict):  # LangChain; Vercel's AI SDK; smolagents
        content = next((content[key] for key in ("messages", "prompt", "task") if key in content), None)
    for one in content if isinstance(content, list) else []:
        # a pair of role and text, or an object of OpenAI's, LangChain's, or the conventions'
        role, text = one if isinstance(one, list) and len(one) == 2 else (None, None)
        if isinstance(one, dict):
            role, text = one.get("role") or one.get("type"), one.get("content") or one.get("parts")
        if role in ("user", "human"):
            return text_of(text)
    return content if isinstance(content, str) else ""


def answer(span: Span) -> str:
    """A model's text answer; "" if it is missing."""
    return text_of(_first(span, *names.RESULT_TOO[::-1]))


def text_of(content: Any) -> str:
    """The first words among parts and messages."""
    waiting = [content]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str) and one:
            return one
        if isinstance(one, dict):
            keys = ("content", "text", "parts", "generations", "message", "kwargs", "output", "messages")
            waiting += [one[key] for key in reversed(keys) if key in one]
        waiting += reversed(one) if isinstance(one, list) else []
    return ""


def _first(span: Span, *keys: str) -> Any:
    """The first of these attributes that is there: what its JSON says, or the text.

    A number whose text is not the number's own writing, such as 1.10 or 1e3, stays a text: it could be a version or an id.
    """
    value = next((span.attributes[key] for key in keys if key in span.attributes), None)
    if not isinstance(value, str):
        return list(value) if isinstance(value, tuple) else value
    try:
        data = json.loads(value, object_pairs_hook=named_once, parse_constant=str, parse_float=_finite)
        if isinstance(data, float) and json.dumps(data) != value:
            return value
        if "\\ud" in value.lower():  # perhaps half a pair of surrogates, which can't be written down
            data = json.loads(utf8(json.dumps(data, ensure_ascii=False)))
        return value if nested_deeper(data, _DEEPEST) else data
    except (ValueError, RecursionError):
        return value


def parsed(value: object) -> Any:
    """What the JSON says; None for other text."""
    try:
        return json.loads(str(value))
    except (ValueError, RecursionError):
        return None


def _finite(digits: str) -> float | str:
    """A number, or its digits if it is too large."""
    number = float(digits)
    return number if math.isfinite(number) else digits
