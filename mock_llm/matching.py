"""Does a scene fit a request? Condition by condition, so that a refusal can say what differed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from .counters import Count, always_first
from .exchange import Message, Request
from .script import Scene


@dataclass(frozen=True, slots=True)
class Check:
    """One condition of a scene held against one request.

    Args:
        condition: as the script has it, "says: 12 * 4 + 5".
        holds: whether the request meets it.
        seen: what the request has instead, when it doesn't.
    """

    condition: str
    holds: bool
    seen: str


@dataclass(frozen=True)
class Match:
    """A scene held against a request: all its checks, and what its `find` patterns found."""

    scene: Scene
    checks: tuple[Check, ...]
    found: Mapping[str, str]

    @property
    def fits(self) -> bool:
        """All conditions hold."""
        return all(check.holds for check in self.checks)

    @property
    def nearness(self) -> tuple[int, int]:
        """How near the scene comes: conditions that hold less those that don't, then those that hold."""
        held = sum(check.holds for check in self.checks)
        return 2 * held - len(self.checks), held


def match(scene: Scene, request: Request, count: Count = always_first) -> Match:
    """Hold a scene against a request.

    Args:
        count: counter name -> this call's number. Asked only when all other conditions hold.
    """
    found = {name: text for name, pattern in scene.when.find.items() if (text := request.find(pattern)) is not None}
    checks = tuple(_checks(scene, request, found))
    if scene.when.counter is not None:
        if all(check.holds for check in checks):
            number = count(scene.when.counter)
            seen = f"this is number {number}"
        else:
            number, seen = 0, "not counted, because the other conditions don't hold"
        told = f"counter {scene.when.counter}: {scene.when.turn}"
        checks += (Check(told, number == scene.when.turn, seen),)
    return Match(scene, checks, found)


def _checks(scene: Scene, request: Request, found: Mapping[str, str]) -> Iterator[Check]:
    when = scene.when
    if when.role is not None:
        seen = f"the role is {request.role!r}" if request.role else "the instructions have no line 'Role: …'"
        yield Check(f"role: {when.role}", request.role == when.role, seen)
    for text in when.system:
        yield Check(f"system: {text}", occurs(text, request.system), _absent(text, "the instructions", request.system))
    said = "\n".join(message.text for message in request.conversation)
    for text in when.says:
        somewhere = any(occurs(text, message.text) for message in request.conversation)
        yield Check(f"says: {text}", somewhere, _absent(text, "the conversation", said))
    for text in when.last:
        seen = _absent(text, f"the last message, {glimpse(request.last)}", request.last.text)
        yield Check(f"last: {text}", occurs(text, request.last.text), seen)
    for text in when.never:
        nowhere = not any(occurs(text, message.text) for message in request.conversation)
        yield Check(f"never: {text}", nowhere, "it is in the conversation")
    for name, pattern in when.find.items():
        yield Check(f"find {name}: {pattern}", name in found, "no message of the conversation matches")
    if when.format is not None:
        fits = request.format.startswith("json") if when.format == "json" else request.format == when.format
        yield Check(f"format: {when.format}", fits, f"the format asked for is {request.format}")
    for tool in when.tools:
        offered = ", ".join(request.tools) or "none"
        yield Check(f"tools: {tool}", tool in request.tools, f"the tools offered: {offered}")
    for tool in when.called:
        called = ", ".join(sorted(request.called)) or "none"
        yield Check(f"called: {tool}", tool in request.called, f"the tools called so far: {called}")
    if when.turn is not None and when.counter is None:
        yield Check(f"turn: {when.turn}", request.turn == when.turn, f"it is turn {request.turn}")


def occurs(text: str, within: str) -> bool:
    """Whether a text stands in another as whole words and whole numbers: "4" is not in "48" nor in "4.5"."""
    return text in within and _whole(text).search(within) is not None


def glimpse(message: Message, width: int = 60) -> str:
    """A message on one line, shortened in the middle: "user 'Compute 12 * 4 + 5'"."""
    text = " ".join(message.text.split())
    if len(text) > width:
        text = f"{text[: width // 2]} … {text[-width // 2 :]}"
    return f"{message.role} {text!r}"


@lru_cache(maxsize=4096)
def _whole(text: str) -> re.Pattern[str]:
    before = r"(?<!\w)(?<!\d[.,])" if re.match(r"\w", text) else ""
    after = r"(?!\w|[.,]\d)" if re.search(r"\w\Z", text) else ""
    return re.compile(before + re.escape(text) + after)


def _absent(text: str, where: str, within: str) -> str:
    part = "; it is only part of a longer word there" if text in within else ""
    return f"not in {where}{part}"
