"""What was said in a foreign span: a tool's arguments and result, and what a model was asked, in the shapes that frameworks use."""

from __future__ import annotations

import json
from typing import Any

from planexec_lite.plan.data import fixed
from planexec_lite.spans import names
from planexec_lite.spans.span import Span, utf8

_DEEPEST = 40


def arguments(span: Span) -> dict[str, Any]:
    """A tool's arguments by name; what is no object stands under "input"."""
    value = _first(span, names.ARGUMENTS, *names.ARGUMENTS_TOO)
    return value if isinstance(value, dict) else {} if value is None else {"input": value}


def result(span: Span) -> Any:
    """A tool's result; of a message that holds it, the content."""
    if names.RESULT in span.attributes:
        return fixed(_first(span, names.RESULT))
    value = _first(span, *names.RESULT_TOO)
    for key in ("output", "content"):
        if isinstance(value, dict) and key in value:
            value = value[key]
    return fixed(value)


def question(span: Span) -> str:
    """What the user said to a model or an agent; "" where it is not told."""
    content = _first(span, *names.ARGUMENTS_TOO[::-1])
    messages = content.get("messages") if isinstance(content, dict) else content
    for one in messages if isinstance(messages, list) else []:
        # a pair of role and text, or an object of OpenAI's, LangChain's, or the conventions'
        role, text = one if isinstance(one, list) and len(one) == 2 else (None, None)
        if isinstance(one, dict):
            role, text = one.get("role") or one.get("type"), one.get("content") or one.get("parts")
        if role in ("user", "human"):
            return _text(text)
    return ""


def answer(span: Span) -> str:
    """What a model answered in words; "" where it is not told."""
    return _text(_first(span, *names.RESULT_TOO[::-1]))


def _text(content: Any) -> str:
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
    """The first of these attributes that is there: what its JSON says, or the text."""
    value = next((span.attributes[key] for key in keys if key in span.attributes), None)
    if not isinstance(value, str):
        return list(value) if isinstance(value, tuple) else value
    try:
        data = json.loads(value, parse_constant=lambda constant: constant)
        if "\\ud" in value.lower():  # perhaps half a pair of surrogates, which can't be written down
            data = json.loads(utf8(json.dumps(data, ensure_ascii=False)))
        return value if _too_much(data) else data
    except (ValueError, RecursionError):
        return value


def _too_much(data: Any) -> bool:
    """Whether it is nested too deep, or holds a number that JSON can't write."""
    level = [data]
    for _ in range(_DEEPEST):
        if any(isinstance(one, float) and abs(one) == float("inf") for one in level):
            return True
        level = [
            part
            for one in level
            for part in (one.values() if isinstance(one, dict) else one if isinstance(one, list) else ())
        ]
        if not level:
            return False
    return True
