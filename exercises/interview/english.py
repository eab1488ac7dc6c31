"""Tell an answer in English from a salad of its words, by the order of the kinds of its words.

Each word has a kind: a frequent function word is its own kind, other words are grouped by form ("-ing", "-ed", a number).
The cards and the sample answers teach which kind follows which. In an English answer, neighbours are about 1.6 times as
frequent as in random order (the mean of the logarithms is about 0.5); in a shuffled one they are no more frequent, or less.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from functools import cache, lru_cache
from itertools import pairwise
from math import log, sqrt
from pathlib import Path
from typing import Any, NamedTuple

from exercises.interview.words import BASE, FUNCTION, IRREGULAR, SENTENCE_END, tokens

FREQUENT = 12  # times that a function word is in the cards to be its own kind
USUAL, LOWEST = 0.5, 0.05  # the mean of English, and the lowest mean that passes
SPREAD = 2.8  # a short answer can be lower: by this number, divided by the root of its length
MOST_ARTICLES, FEW = 0.3, 20  # share of articles in an answer of more than a few words
FEWEST = 0.3  # share of function words
LACKING = 1  # function word that any answer may lack


class Learned(NamedTuple):
    """How often each kind of word follows another in the cards."""

    own: frozenset[str]
    pairs: Counter[tuple[str, str]]
    first: Counter[str]
    second: Counter[str]


@cache
def learned() -> Learned:
    """Read the cards and the sample answers, once."""
    files = [Path(__file__).with_name(name) for name in ("cards.json", "samples.json")]
    said = [text for file in files for text in _texts(json.loads(file.read_text(encoding="utf-8")))]
    words = Counter(word for text in said for part in SENTENCE_END.split(text) for word in tokens(part))
    own = frozenset(word for word in FUNCTION if words[word] >= FREQUENT)
    pairs = Counter(pair for text in said for pair in _pairs(text, own))
    first, second = Counter[str](), Counter[str]()
    for (one, other), count in pairs.items():
        first[one] += count
        second[other] += count
    return Learned(own, pairs, first, second)


def _texts(value: Any) -> list[str]:
    """Return the sentences of the cards, without the wordings and names."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        value = [each for key, each in value.items() if key not in ("accept", "id", "cell", "kind", "tags", "code")]
    return [text for each in value for text in _texts(each)] if isinstance(value, list) else []


def _pairs(text: str, own: frozenset[str]) -> list[tuple[str, str]]:
    """Return the neighbouring kinds of words of a text."""
    parts = [tokens(part) for part in SENTENCE_END.split(text.strip())]
    return [pair for words in parts if words for pair in pairwise(["^", *(_kind(word, own) for word in words), "$"])]


def _kind(word: str, own: frozenset[str]) -> str:
    if word == "," or word in own:
        return word
    if word in FUNCTION:
        return "function"
    if word[0].isdigit():
        return "number"
    if ending := re.search("(ing|ly)$", word):
        return ending[0]
    if word.endswith("ed") or word in IRREGULAR:
        return "ed"
    if word in BASE:
        return "verb"
    return "s" if re.search("[^s]s$", word) else "other"


@lru_cache(4096)
def is_english(text: str) -> bool:
    """Return whether an answer is English: the order of its words, and its shares of articles and function words."""
    words = [word for word in tokens(text) if word != ","]
    articles, function = (sum(word in kind for word in words) for kind in (("a", "an", "the"), FUNCTION))
    if (len(words) > FEW and articles > MOST_ARTICLES * len(words)) or function < FEWEST * len(words) - LACKING:
        return False
    return in_order(text)


@lru_cache(4096)
def in_order(text: str, spread: float = SPREAD) -> bool:
    """Return whether the words of a text follow each other as in English; a larger `spread` lets more short texts pass."""
    known = learned()
    pairs = _pairs(text, known.own)
    if not pairs:
        return False
    total = sum(known.first.values())
    mean = 0.0
    for one, other in pairs:
        by_chance = (known.first[one] + 0.5) * (known.second[other] + 0.5) / total
        mean += log((known.pairs[one, other] + 1) / (by_chance + 1)) / len(pairs)
    return mean > min(LOWEST, USUAL - spread / sqrt(len(pairs)))
