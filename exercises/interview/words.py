"""The words of answers: their forms, synonyms and kinds, from ``words.json``."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import snowballstemmer

_WORDS: dict[str, Any] = json.loads(Path(__file__).with_name("words.json").read_text(encoding="utf-8"))
FUNCTION, NEGATIONS, BREAKS, PRONOUNS, CONTINUES = (
    frozenset(_WORDS[name].split()) for name in ("function", "negations", "breaks", "pronouns", "continues")
)
_stemmer = snowballstemmer.stemmer("english")
IRREGULAR: dict[str, str] = _WORDS["irregular"]
LIMITS = re.compile(rf"\b(?:{'|'.join(_WORDS['limits'])})\b")
OPINIONS = re.compile(_WORDS["opinions"])  # they limit nothing
SENTENCE_END = re.compile(r"(?<=[.!?])[\"'\u201d)]*\s+|\n+")


@cache
def stem(word: str) -> str:
    """Return the stem of a word: British forms as American, irregular forms as their verb."""
    word = IRREGULAR.get(word) or IRREGULAR.get(word.removesuffix("s"), word)
    word = re.sub(r"is(e[sd]?|ing|ations?)$", r"iz\1", word)
    return str(_stemmer.stemWord(re.sub(r"our(s|ed|ing|al|)$", r"or\1", word) if len(word) > 5 else word))


_GROUPS = [frozenset(map(stem, group.split())) for group in _WORDS["synonyms"]]
_PHRASES = {tuple(map(stem, phrase.split())): word for phrase, word in _WORDS["phrases"].items()}
_FIRST = {phrase[0] for phrase in _PHRASES}


@cache
def meanings(word: str) -> frozenset[str | int]:
    """Return the stem of a word and the numbers of its groups of synonyms."""
    return frozenset([stem(word), *(number for number, group in enumerate(_GROUPS) if stem(word) in group)])


def limits(text: str) -> frozenset[str]:
    """Return the words with which a text limits or rejects what it says: "unless", "only if", "a mistake"."""
    return frozenset(LIMITS.findall(OPINIONS.sub("", text.lower())))


def tokens(text: str) -> list[str]:
    """Return the words of a text in lower case, with contractions and phrases resolved; a comma stands for any pause."""
    text = re.sub(r"[\u2018\u2019]", "'", text.lower())
    text = re.sub(r"\bcan't\b|\bcannot\b", "can not", re.sub(r"\bwon't\b", "will not", text))
    text = re.sub(r"\b(it|that|what|there|he|she|let)'s\b", r"\1 is", re.sub(r"n't\b", " not", text))
    text = re.sub(r"'(d|ll|re|ve|m)\b", "", re.sub(r"'s\b", "s", text))
    words = re.findall(r"[a-z0-9#$]+(?:[.'][0-9a-z]+)*|[,;:()]|\u2013|\u2014", text)
    stems = [stem(word) for word in words]
    joined: list[str] = []
    place = 0
    while place < len(words):
        sizes = (4, 3, 2) if stems[place] in _FIRST else ()
        size = next((size for size in sizes if tuple(stems[place : place + size]) in _PHRASES), 1)
        word = words[place] if words[place][0].isalnum() or words[place][0] in "#$" else ","
        if size > 1:
            joined.append(_PHRASES[tuple(stems[place : place + size])])
        elif not joined or word != joined[-1]:  # a repeated word counts once
            joined.append(word)
        place += size
    return joined
