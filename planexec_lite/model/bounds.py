"""How long answers and conversations with a model may be: a model that repeats itself must not fill its own context.

What is left out is said: a text that was shortened carries a sign of how much is missing.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Role = Literal["planner", "executor", "evaluator"]
DEFAULT_MAX_TOKENS: dict[str, int] = {"planner": 2_048, "executor": 1_024, "evaluator": 512}
DEFAULT_MAX_PROMPT = 60_000
SHORT = 4_000
"""The most characters of an invalid answer, and of what was wrong with it, that go back to the model."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """The bounds of one role; None: no bound.

    Args:
        max_tokens: the most tokens of an answer, thinking included where a model thinks.
        max_prompt: the most characters of a conversation (some four to a token), the system prompt and the tools aside.
    """

    max_tokens: int | None = None
    max_prompt: int | None = None

    @classmethod
    def of(cls, role: Role, max_tokens: int | None = None, max_prompt: int | None = None) -> Bounds:
        """Return the bounds of `role`: those given, else the environment's, else the defaults.

        The environment may say ``PLANEXEC_PLANNER_MAX_TOKENS`` and ``PLANEXEC_PLANNER_MAX_PROMPT``, and so on for each
        role. Raises `ValueError` for what is no whole number from 1.
        """
        tokens = _whole(f"{role}_max_tokens", max_tokens, DEFAULT_MAX_TOKENS[role])
        return cls(tokens, _whole(f"{role}_max_prompt", max_prompt, DEFAULT_MAX_PROMPT))


def _whole(name: str, given: int | None, default: int) -> int:
    setting = f"PLANEXEC_{name.upper()}"
    value: Any = os.environ.get(setting) or default if given is None else given
    try:
        number = int(value)
    except (TypeError, ValueError):
        number = 0
    if number < 1 or (given is not None and number != given):
        raise ValueError(f"{setting if given is None else name}={value!r}: give a whole number from 1")
    return number


def shortened(text: str, most: int) -> str:
    """Return `text` with its middle left out, and how many characters that were, where it is longer than `most`."""
    if len(text) <= most:
        return text
    kept = max(most - len(f" … [{len(text):,} characters left out] … "), 0)
    end = len(text) - kept // 3
    return f"{text[: kept - kept // 3]} … [{len(text) - kept:,} characters left out] … {text[end:]}"


def listed(lines: Iterable[str], most: int = SHORT) -> str:
    """Return the first of `lines` that fit into `most` characters, a line each, and how many more there are."""
    every = list(lines)
    shown: list[str] = []
    for line in every:
        line = shortened(line, most // 2)
        if sum(map(len, shown)) + len(line) > most:
            break
        shown.append(line)
    more = len(every) - len(shown)
    return "\n".join([*shown, *([f"- and {more} more"] if more else [])])


def fitted(messages: Sequence[dict[str, Any]], most: int) -> list[dict[str, Any]]:
    """Return the conversation with its longest contents shortened, so that all of them have `most` characters together.

    The system prompt stays whole: the rules and the tools stand in it. Short messages stay whole for as long as longer
    ones can give way.
    """
    lengths = sorted(len(message.get("content") or "") for message in messages if message["role"] != "system")
    room, longest = most, most
    for place, length in enumerate(lengths):
        longest = room // (len(lengths) - place)
        if length > longest:
            break
        room -= length
    else:
        return list(messages)
    return [
        message
        if message["role"] == "system" or len(message.get("content") or "") <= longest
        else {**message, "content": shortened(message["content"], longest)}
        for message in messages
    ]
