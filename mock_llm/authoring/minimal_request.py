"""The minimal request for a scene: it meets the scene's conditions and contains nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from mock_llm.script import Scene
from mock_llm.types import Request

try:  # Python's regular expression parser; without it, scenes with `find` get no minimal request
    from re import _parser as parser  # type: ignore[attr-defined]
except ImportError:
    parser = None


def minimal_request(scene: Scene) -> Request | None:
    """Return a request that meets a scene's conditions, as far as possible.

    Returns:
        The request, or None if no text was found for a pattern of `find`.
    """
    when = scene.when
    samples = [sample(pattern) for pattern in when.find.values()]
    if None in samples:
        return None
    texts = [*when.user, *when.says, *(text for text in samples if text)]
    messages: list[dict[str, Any]] = [{"role": "system", "content": "\n".join(when.system)}] * bool(when.system)
    messages += [{"role": "user", "content": text} for text in texts] or [{"role": "user", "content": ""}]
    calls = [
        {"id": f"c{n}", "type": "function", "function": {"name": tool, "arguments": ""}}
        for n, tool in enumerate(when.called)
    ]
    if calls:
        messages.append({"role": "assistant", "content": None, "tool_calls": calls})
        messages += [{"role": "tool", "tool_call_id": call["id"], "content": ""} for call in calls]
    turns = (when.turn or 1) if when.counter is None else 1
    # The message that calls the tools counts as a turn of the model.
    messages += [{"role": "assistant", "content": ""}] * (turns - 1 - bool(calls))
    if when.last:
        messages.append({"role": "user", "content": "\n".join(when.last)})
    formats = {None: None, "text": None, "json": "json_object"}
    wanted = formats.get(when.format, when.format)
    body: dict[str, Any] = {"model": "m", "messages": messages}
    if wanted:
        body["response_format"] = {"type": wanted}
    if when.image:
        return None  # an image with a given hash can't be constructed
    if when.tools:
        body["tools"] = [{"type": "function", "function": {"name": name}} for name in when.tools]
    return Request(body)


def sample(pattern: str) -> str | None:
    """Return a text that matches a regular expression, or None if none was found."""
    if parser is None:
        return None
    try:
        text = _text(parser.parse(pattern))
    except (KeyError, ValueError, RecursionError):
        return None
    return text if re.search(pattern, text) else None


CATEGORIES = {"CATEGORY_DIGIT": "7", "CATEGORY_WORD": "w", "CATEGORY_SPACE": " ", "CATEGORY_NOT_SPACE": "w"}
CATEGORIES |= {"CATEGORY_NOT_DIGIT": "w", "CATEGORY_NOT_WORD": " "}
CANDIDATES = "w7 .,-_:/WxX\n"


def _text(parts: Iterable[Any]) -> str:
    return "".join(_part(str(kind), value) for kind, value in parts)


def _part(kind: str, value: Any) -> str:
    match kind:
        case "LITERAL":
            return chr(value)
        case "ANY":
            return "w"
        case "NOT_LITERAL":
            return "w" if chr(value) != "w" else "v"
        case "IN":
            return _one_of(value)
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            least, _, inner = value
            return _text(inner) * int(least)
        case "SUBPATTERN":
            return _text(value[3])
        case "BRANCH":
            return _text(value[1][0])
        case "AT" | "ASSERT" | "ASSERT_NOT":
            return ""
    raise KeyError(kind)


def _one_of(choices: Any) -> str:
    first = str(choices[0][0])
    if first == "NEGATE":
        tokens = [_one_of([choice]) for choice in choices[1:]]
        return next(text for text in CANDIDATES if text not in tokens)
    if first == "LITERAL":
        return chr(choices[0][1])
    if first == "RANGE":
        return chr(choices[0][1][0])
    return CATEGORIES[str(choices[0][1])]
