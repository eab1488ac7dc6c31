"""Removes a key from a text that repeats it, such as the error of an endpoint that refuses the key.

Such texts reach journals, logs and traces. Services repeat keys whole, in part, and inside encoded headers.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterable, Iterator
from contextlib import suppress
from html import unescape
from urllib.parse import unquote

BLOT = "[key]"
_PART = 8  # characters; a shorter part of a key opens nothing
_WORD = re.compile(r"[\w%&#;\\+/.~-]{8,}")
_ESCAPE = re.compile(r"\\+u([0-9a-fA-F]{4})")
_FOR_URLS = str.maketrans("-_", "+/")  # the two alphabets of base64


def parts_of(keys: Iterable[str]) -> frozenset[str]:
    """Return all parts of `keys`, forwards and backwards, in lower case: 8 characters that include a digit and a letter.

    Other parts could be words.
    """
    whole = [text.casefold() for key in keys for text in (key, key[::-1])]
    parts = {
        text[start : start + _PART] for text in whole for start in range(len(text) - _PART + 1)
    }
    return frozenset(part for part in parts if re.search(r"\d", part) and re.search("[a-z]", part))


def without_echoes(text: str, parts: Iterable[str]) -> str:
    """Return `text` without the words that contain one of `parts`: plain, escaped, in base64 or in hexadecimal."""

    def echoes(words: Iterable[str]) -> bool:
        readings = "\n".join(reading for word in words for reading in _readings(word)).casefold()
        return any(part in readings for part in parts)

    if not echoes(_WORD.findall(text)):  # a quick look at all words at once
        return text
    return _WORD.sub(lambda word: BLOT if echoes([word[0]]) else word[0], text)


def _readings(word: str) -> Iterator[str]:
    yield word
    yield _ESCAPE.sub(lambda escape: chr(int(escape[1], 16)), unquote(unescape(word)))
    for start in range(4):  # the encoded text can begin inside the word
        letters = word[start:].translate(_FOR_URLS)
        with suppress(ValueError):
            yield b64decode(letters[: len(letters) // 4 * 4]).decode("latin-1")
        with suppress(ValueError):
            yield bytes.fromhex(word[start : start + (len(word) - start) // 2 * 2]).decode(
                "latin-1"
            )
