"""Which ideas an answer contains: wordings are matched inside one sentence, in order, with synonyms, without negation.

A wording is a few words, such as ``planner write plan|step``. Its words must follow each other in one sentence, in any
form ("the planner has written a plan") or as a synonym (in ``words.json``), with at most `GAP` words between two.
``=25 worker`` stands for a number near 25 in a sentence about workers. ``not`` stands for any negation; a wording without
it does not match a negated sentence. Only a wording with ``?`` in front matches a question. Lists of keywords, shuffled
words and the repeated question are no sentences.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import snowballstemmer

_WORDS: dict[str, Any] = json.loads(Path(__file__).with_name("words.json").read_text(encoding="utf-8"))
FUNCTION, LOOSE, BASE, NEGATIONS, BREAKS, PRONOUNS = (
    frozenset(_WORDS[name].split()) for name in ("function", "loose", "base", "negations", "breaks", "pronouns")
)
GAP = 8  # words between two neighbouring words of a wording
BEFORE = 5  # a negation this near before the first word negates the sentence
_MODAL = frozenset("can could will would must should may might".split())
_BE = frozenset("is are was were be been am has had does did".split())
_JOIN = frozenset("and or but if than because".split())
_OF = frozenset("of to in on at by for from with into".split())
_ARTICLE = frozenset("a an the".split())
_WHO = frozenset("i he she we they".split())
_REST = frozenset("it them him this that these those which who you us as until not".split())
IMPOSSIBLE = [  # no word of the first set comes right before a word of the second
    (_ARTICLE | {"its", "their", "our", "your"}, _MODAL | _BE | _JOIN | _OF | _ARTICLE | _WHO | _REST | {",", "."}),
    (frozenset(["of", "from", "into"]), _MODAL | _BE - {"be"} | _JOIN | _WHO),
    (_OF, {"and", "or", "but"} | _WHO - {"he"}),
    (_MODAL, _MODAL | _BE - {"be"} | _ARTICLE | (_OF - {"in", "at"}) | {"than"}),
    (_WHO, _ARTICLE | _OF | _WHO),
    (_BE, _BE - {"been", "be"} | _MODAL | {"than", "i", "he"}),
    (_JOIN, {"and", "or", "but", "than", "."}),
    (frozenset(["than", "not"]), frozenset(["is", "are", "was", "were", "and", "or"])),
]  # fmt: skip
NEVER_LAST = _JOIN | _ARTICLE | {"its", "their", "our", "your"}
GLUE = FUNCTION - set(
    "not no all only one same more before after with for again or how less without every each until when".split()
)
HELPERS = _MODAL | frozenset("to do does did not let lets make makes made help helps see sees and or never".split())

QUESTION = "a question"
NEAR = 0.1  # relative error of an estimate
LONGEST = 50  # words of a sentence
MOST = 20_000  # characters of an answer that are read
ENDING = re.compile(
    r"(?:s|ed|ing|ly|en|ght|ept|ent|ad|ore|ame|ook|aid|elt|un|ut|ost|est|al|ous|ive|ic|ful|less|able|ible)$"
)
_stemmer = snowballstemmer.stemmer("english")
_IRREGULAR: dict[str, str] = _WORDS["irregular"]


@cache
def stem(word: str) -> str:
    """Return the stem of a word: British forms as American, irregular forms as their verb."""
    word = _IRREGULAR.get(word) or _IRREGULAR.get(word.removesuffix("s"), word)
    word = re.sub(r"is(e[sd]?|ing|ations?)$", r"iz\1", word)
    return str(_stemmer.stemWord(re.sub(r"our(s|ed|ing|al|)$", r"or\1", word) if len(word) > 5 else word))


_GROUPS = [frozenset(map(stem, group.split())) for group in _WORDS["synonyms"]]
_PHRASES = {tuple(map(stem, phrase.split())): word for phrase, word in _WORDS["phrases"].items()}


@cache
def _meanings(word: str) -> frozenset[str | int]:
    """Return the stem of a word and the numbers of its groups of synonyms."""
    return frozenset([stem(word), *(number for number, group in enumerate(_GROUPS) if stem(word) in group)])


def tokens(text: str) -> list[str]:
    """Return the words of a text in lower case, with contractions and phrases resolved; a comma stands for any pause."""
    text = re.sub(r"[\u2018\u2019]", "'", text.lower())
    text = re.sub(r"\bcan't\b|\bcannot\b", "can not", re.sub(r"\bwon't\b", "will not", text))
    text = re.sub(r"\b(it|that|what|there|he|she|let)'s\b", r"\1 is", re.sub(r"n't\b", " not", text))
    text = re.sub(r"'(d|ll|re|ve|m)\b", "", re.sub(r"'s\b", "s", text))
    words = re.findall(r"[a-z0-9#$]+(?:[.'][0-9a-z]+)*|[,;:()]|\u2013|\u2014", re.sub(r"(?<=\w)[-/_](?=\w)", " ", text))
    joined: list[str] = []
    while words:
        for size in (4, 3, 2):
            if phrase := _PHRASES.get(tuple(stem(word) for word in words[:size])):
                joined.append(phrase)
                del words[:size]
                break
        else:
            word = words.pop(0)
            word = word if word[0].isalnum() or word[0] in "#$" else ","
            if not joined or word != joined[-1]:  # a word that is said twice counts once
                joined.append(word)
    return joined


@dataclass(frozen=True)
class Sentence:
    """One sentence of an answer: its text, its words, and the fault because of which it does not count ("" for none)."""

    text: str
    words: tuple[str, ...]
    fault: str = ""

    @cached_property
    def meanings(self) -> frozenset[str | int]:
        """The meanings of all words."""
        return frozenset().union(*map(_meanings, self.words))


def sentences(text: str, question: str = "") -> list[Sentence]:
    """Split an answer into sentences; those that only repeat the question don't count.

    A sentence that begins with a pronoun continues the one before it.
    """
    asked = _stems(tokens(question))
    return [
        replace(each, fault="the question") if _stems(each.words) <= asked else each for each in _split(text[:MOST])
    ]


def _stems(words: Sequence[str]) -> frozenset[str]:
    return frozenset(stem(word) for word in words if word not in FUNCTION and word not in ",.")


@lru_cache(1024)
def _split(text: str) -> tuple[Sentence, ...]:
    parts: list[Sentence] = []
    lowest = 0.1 if _share(tokens(text)) >= 0.25 else 0.2  # of function words in a sentence
    for part in re.split(r"(?<=[.!?])[\"'\u201d)]*\s+|\n+", text.strip()):
        if not (words := tuple(tokens(part))):
            continue
        fault = _fault(part, words, lowest)
        if parts and not fault and not parts[-1].fault and words[0] in PRONOUNS and parts[-1].words.count(".") < 2:
            parts[-1] = Sentence(f"{parts[-1].text} {part}", (*parts[-1].words, ".", *words))
        else:
            parts.append(Sentence(part, words, fault))
    return tuple(parts)


def _fault(text: str, words: tuple[str, ...], lowest: float) -> str:
    """Return why a sentence does not count, or ""."""
    plain = [word for word in words if word != ","]
    broken = sum(
        first in before and second in after for first, second in pairwise(words) for before, after in IMPOSSIBLE
    )
    if (
        _share(plain) < (0 if lowest < 0.2 and len(plain) < 5 else lowest)
        or broken > len(plain) // 40
        or (plain and plain[-1] in NEVER_LAST)
        or len(plain) > LONGEST
        or len(plain) < 3
        or sum(word in GLUE or word in _IRREGULAR or bool(re.search(r"([^s]s|ed|ing)$", word)) for word in plain)
        < 1 + (len(plain) > 6)
        or _disagrees(words)
        or _bare(words) > len(plain) // 20
        or 2.2 * sum(word in _ARTICLE for word in plain) > len(plain) > 3
        or 5 * sum(word in _JOIN for word in plain) > max(len(plain), 10)
        or 2.5 * words.count(",") > max(len(plain), 14)
    ):
        return "not a sentence"
    return QUESTION if text.rstrip().endswith("?") else ""


def _bare(words: tuple[str, ...]) -> int:
    """Count the runs of three words without a function word and without an ending, as in "planner write plan"."""
    bare = [
        bool(re.fullmatch(r"[a-z]+", word)) and word not in FUNCTION | LOOSE and not ENDING.search(word)
        for word in words
    ]
    return sum(all(bare[place : place + 3]) for place in range(len(bare) - 2))


def _disagrees(words: tuple[str, ...]) -> bool:
    """Say whether a base form of a verb comes right after a noun in the singular, as in "the planner write"."""
    for place in range(1, len(words)):
        before = words[place - 1]
        singular = before not in FUNCTION | LOOSE | {","} and not re.search(r"(s|ly|ed|ing|est|people|men)$", before)
        if words[place] in BASE and singular and HELPERS.isdisjoint(words[max(0, place - 6) : place]):
            return True
    return False


def _share(words: Sequence[str]) -> float:
    return sum(word in FUNCTION for word in words) / max(1, len(words))


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
        frozenset(("not",)) if part == "not" else frozenset().union(*map(_meanings, part.split("|")))
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
        if (word in NEGATIONS) if "not" in wanted[0] else not wanted[0].isdisjoint(_meanings(word)):
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
