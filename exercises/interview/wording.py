"""Which ideas an answer contains: wordings are matched inside one sentence, in order, with synonyms, without negation.

A wording is a few words, such as ``planner write plan|step``. Its words must follow each other in one sentence, in any
form ("the planner has written a plan") or as a synonym (in ``words.json``), with at most `GAP` words between two.
``=25 worker`` stands for a number near 25 in a sentence about
workers. ``not`` stands for any negation; a wording without it does not match a negated sentence. Only a wording with ``?``
in front matches a question. The repeated question does not count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache

from exercises.interview.words import (
    BREAKS,
    FUNCTION,
    NEGATIONS,
    PRONOUNS,
    SENTENCE_END,
    meanings,
    stem,
    tokens,
)

GAP = 8  # words between two neighbouring words of a wording
BEFORE = 5  # a negation this near before the first word negates the sentence
QUESTION = "a question"
NEAR = 0.1  # relative error of an estimate
SHORTEST, LONGEST = 3, 50  # words and commas of a sentence
MOST = 20_000  # characters of an answer that are read


@dataclass(frozen=True)
class Sentence:
    """One sentence of an answer: its text, its words, and the fault because of which it does not count ("" for none)."""

    text: str
    words: tuple[str, ...]
    fault: str = ""

    @cached_property
    def meanings(self) -> frozenset[str | int]:
        """The meanings of all words."""
        return frozenset().union(*map(meanings, self.words))


def sentences(text: str, question: str = "") -> list[Sentence]:
    """Split an answer into sentences; those that only repeat the question don't count.

    A sentence that begins with a pronoun continues the one before it.
    """
    asked = _stems(tokens(question))
    return [
        replace(each, fault="the question" if _stems(each.words) <= asked else each.fault)
        for each in _split(text[:MOST])
    ]


def _stems(words: Sequence[str]) -> frozenset[str]:
    return frozenset(stem(word) for word in words if word not in FUNCTION and word not in ",.")


@lru_cache(1024)
def _split(text: str) -> tuple[Sentence, ...]:
    parts: list[Sentence] = []
    for part in SENTENCE_END.split(text.strip()):
        if not (words := tuple(tokens(part))):
            continue
        fault = QUESTION if part.rstrip().endswith("?") else ""
        if not SHORTEST <= len(words) <= LONGEST:
            fault = "not a sentence"
        if parts and not fault and not parts[-1].fault and words[0] in PRONOUNS and parts[-1].words.count(".") < 2:
            parts[-1] = Sentence(f"{parts[-1].text} {part}", (*parts[-1].words, ".", *words))
        else:
            parts.append(Sentence(part, words, fault))
    return tuple(parts)


def covers(wording: str, sentence: Sentence) -> bool:
    """Say whether the words of a wording follow each other in a sentence, and are not negated there."""
    if sentence.fault and not (sentence.fault == QUESTION and wording.startswith("?")):
        return False
    if wording.startswith("="):
        value, _, rest = wording[1:].partition(" ")
        near = any(abs(number - float(value)) <= NEAR * float(value) for number in numbers(sentence.text))
        return near and not _denied(sentence.words) and (not rest or covers(rest, sentence))
    wanted = _wording(wording.lstrip("? "))
    if len(sentence.words) <= len(wanted):  # the bare keywords
        return False
    if any("not" not in each and each.isdisjoint(sentence.meanings) for each in wanted):
        return False
    return any(not _negated(places, sentence.words) for places in _places(wanted, sentence.words))


def numbers(text: str) -> list[float]:
    """Return the numbers of a text; "1,200", "3k" and "2 million" are numbers too."""
    matches = re.findall(r"(\d[\d,]*(?:\.\d+)?|\.\d+)\s*(k\b|thousand|million)?", text.lower())
    return [float(digits.replace(",", "")) * {"": 1, "million": 1e6}.get(scale, 1e3) for digits, scale in matches]


@cache
def _wording(wording: str) -> tuple[frozenset[str | int], ...]:
    """Return the meanings of each word of a wording; ``a|b`` has the meanings of both."""
    return tuple(
        frozenset(("not",)) if part == "not" else frozenset().union(*map(meanings, part.split("|")))
        for part in wording.split()
    )


def _places(
    wanted: tuple[frozenset[str | int], ...], words: tuple[str, ...], start: int = 0, end: int | None = None
) -> Iterator[tuple[int, ...]]:
    """Yield the places of the wanted words, each at most `GAP` words after the one before it."""
    if not wanted:
        yield ()
        return
    for place in range(start, len(words) if end is None else min(end, len(words))):
        word = words[place]
        if (word in NEGATIONS) if "not" in wanted[0] else not wanted[0].isdisjoint(meanings(word)):
            for rest in _places(wanted[1:], words, place + 1, place + 2 + GAP):
                yield (place, *rest)


def _denied(words: tuple[str, ...]) -> bool:
    """Say whether a sentence begins like "it is not true that"."""
    return ("not" in words[:4] and "true" in words[:6]) or not {"false", "untrue", "myth"}.isdisjoint(words[:6])


def _negated(places: tuple[int, ...], words: tuple[str, ...]) -> bool:
    """Say whether a negation applies to the words at these places: it comes before one of them in the same clause."""
    if _denied(words):
        return True
    for place in range(max(0, places[0] - BEFORE), places[-1]):
        if words[place] in NEGATIONS and place not in places:
            following = next(each for each in places if each > place)
            if not any(word in BREAKS or word == "." for word in words[place + 1 : following]):
                return True
    return False
