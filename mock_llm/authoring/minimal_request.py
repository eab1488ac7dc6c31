"""The minimal request for a scene: it meets the scene's conditions and contains nothing else."""

from __future__ import annotations

import re
from typing import Any

from mock_llm.script import Scene
from mock_llm.types import Request


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


FIRST_BRANCH = re.compile(r"(?<!\\)\(((?:\?:)?[^()|]*)\|[^()]*\)|^([^()|]+)\|.*", re.DOTALL)
# An escaped character, a set, a number of repetitions, marks that match no text, any other character.
TOKEN = re.compile(
    r"\\(.)|\[(\^?)(\\?.)(?:\\.|[^\]])*\]|\{(\d+)[^}]*\}|\(\?[aimsux]+\)|\(\?:|\(\?P<\w+>|[()^$*+?]|(.)", re.DOTALL
)
CLASSES = {"d": "7", "w": "w", "s": " ", "D": "w", "S": "w", "W": " ", "n": "\n", "b": "", "A": "", "Z": ""}


def sample(pattern: str) -> str | None:
    """Return a text that a regular expression matches, or None if none was found."""
    text = ""
    for escaped, negated, member, times, literal in TOKEN.findall(FIRST_BRANCH.sub(r"(\1\2)", pattern)):
        if negated or literal == ".":
            text += "w"
        elif times:
            text += text[-1:] * (int(times) - 1)
        elif escaped or member.startswith("\\"):
            name = escaped or member[1]
            text += CLASSES.get(name, name)
        else:
            text += member or literal
    return text if re.search(pattern, text) else None
