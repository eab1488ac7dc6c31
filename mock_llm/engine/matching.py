"""Matches a scene against a request, condition by condition, so that an error can name the differences."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from mock_llm.script import Scene
from mock_llm.types import Message, Request

from .counters import Count, always_first


@dataclass(frozen=True, slots=True)
class Check:
    """A condition of a scene, checked against a request.

    Args:
        condition: as in the script, "says: 12 * 4 + 5".
        holds: whether the request meets it.
        actual: the request's value, if it doesn't.
    """

    condition: str
    holds: bool
    actual: str


@dataclass(frozen=True)
class Match:
    """A scene matched against a request: all its checks, and the captures of its `find` patterns."""

    scene: Scene
    checks: tuple[Check, ...]
    captures: Mapping[str, str]
    number: int | None = None  # the call's number, if the scene has a counter and its other conditions hold

    @property
    def fits(self) -> bool:
        """Whether all conditions hold."""
        return all(check.holds for check in self.checks)

    @property
    def closeness(self) -> tuple[bool, int, int, int]:
        """How closely the scene fits, as a tuple to compare.

        In order: whether only its number differs from the call's; the conditions that hold minus those that don't; the
        conditions that hold; and the distance between the numbers.
        """
        held = sum(check.holds for check in self.checks)
        waiting = self.number is not None and not self.fits
        between = abs((self.scene.when.turn or 0) - (self.number or 0)) if waiting else 0
        return waiting, 2 * held - len(self.checks), held, -between


def match(scene: Scene, request: Request, count: Count = always_first) -> Match:
    """Match a scene against a request.

    Args:
        count: returns this call's number of a named counter. It is asked only if all other conditions hold.
    """
    captures = {name: text for name, pattern in scene.when.find.items() if (text := request.find(pattern)) is not None}
    checks = tuple(_checks(scene, request, captures))
    drawn = None
    if scene.when.counter is not None:
        # Drawn last, and only if all other conditions hold, so that other requests use up no number.
        if all(check.holds for check in checks):
            number = drawn = count(scene.when.counter)
            actual = f"this is number {number}"
        else:
            number, actual = 0, "not counted, because the other conditions don't hold"
        condition = f"counter {scene.when.counter}: {scene.when.turn}"
        checks += (Check(condition, number == scene.when.turn, actual),)
    return Match(scene, checks, captures, drawn)


def best_matches(matches: Sequence[Match]) -> list[Match]:
    """Return the fitting scenes with the most conditions. If there are several, they are ambiguous."""
    fits = [candidate for candidate in matches if candidate.fits]
    # By number, not by position in the script, so that moving a scene changes no answer.
    most = max((len(candidate.checks) for candidate in fits), default=0)
    return [candidate for candidate in fits if len(candidate.checks) == most]


def _checks(scene: Scene, request: Request, captures: Mapping[str, str]) -> Iterator[Check]:
    when = scene.when
    spoken = [message.text for message in request.conversation]
    asked = [message.text for message in request.conversation if message.role == "user"]
    searched = (
        ("system", when.system, "the instructions", [request.system]),
        ("user", when.user, "what the user says", asked),
        ("says", when.says, "the conversation", spoken),
    )
    for kind, texts, where, messages in searched:
        for text in texts:
            somewhere = any(occurs(text, message) for message in messages)
            yield Check(f"{kind}: {text}", somewhere, _why_absent(text, where, "\n".join(messages)))
    for text in when.last:
        actual = _why_absent(text, f"the last message, {excerpt(request.last)}", request.last.text)
        yield Check(f"last: {text}", occurs(text, request.last.text), actual)
    for text in when.never:
        nowhere = not any(occurs(text, message) for message in spoken)
        yield Check(f"never: {text}", nowhere, "it is in the conversation")
    for name, pattern in when.find.items():
        yield Check(f"find {name}: {pattern}", name in captures, "no message of the conversation matches")
    if when.format is not None:
        fits = request.format.startswith("json") if when.format == "json" else request.format == when.format
        yield Check(f"format: {when.format}", fits, f"the format asked for is {request.format}")
    for tool in when.tools:
        offered = ", ".join(request.tools) or "none"
        yield Check(f"tools: {tool}", tool in request.tools, f"the tools offered: {offered}")
    for image in when.image:
        shown = ", ".join(whole[:12] for whole in request.images) or "none"
        held = any(whole.startswith(image) for whole in request.images)
        yield Check(f"image: {image}", held, f"the images shown: {shown}")
    for tool in when.called:
        called = ", ".join(sorted(request.called)) or "none"
        yield Check(f"called: {tool}", tool in request.called, f"the tools called so far: {called}")
    if when.turn is not None and when.counter is None:
        yield Check(f"turn: {when.turn}", request.turn == when.turn, f"it is turn {request.turn}")


def occurs(text: str, within: str) -> bool:
    """Return whether a text occurs in another one as whole words and numbers: "4" is not in "48" nor in "4.5"."""
    return text in within and _whole_words(text).search(within) is not None


def excerpt(message: Message, width: int = 60) -> str:
    """Return a message on one line, shortened in the middle: "user 'Compute 12 * 4 + 5'"."""
    text = " ".join(message.text.split())
    if len(text) > width:
        text = f"{text[: width // 2]} … {text[-width // 2 :]}"
    return f"{message.role} {text!r}"


@lru_cache(maxsize=4096)
def _whole_words(text: str) -> re.Pattern[str]:
    # A point or comma between digits is part of the number; after the last digit it is punctuation.
    before = r"(?<!\w)(?<!\d[.,])" if re.match(r"\w", text) else ""
    after = r"(?!\w|[.,]\d)" if re.search(r"\w\Z", text) else ""
    return re.compile(before + re.escape(text) + after)


def _why_absent(text: str, where: str, within: str) -> str:
    part = "; it is only part of a longer word there" if text in within else ""
    return f"not in {where}{part}"
