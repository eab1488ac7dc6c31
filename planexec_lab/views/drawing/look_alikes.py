"""Letters and signs that look like others: the places in a text where a reader would take one character for another.

A word that mixes Latin letters with Cyrillic, Greek or other look-alikes is not what it seems to be ("homograph attack",
Gabrilovich and Gontmakher, 2002). So are full-width digits, mathematical letters and foreign digits.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

_SAME = frozenset(  # letters that look like Latin ones in most fonts
    "аеорсухѕіјһӏԁԛԝѵүАВЕЗКМНОРСТУХЅІЈӀԚԜҮονϲϳΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹͿօսոհցքՕՍԼ"
)
_NEARLY = frozenset("бвгиклмнптъьёїВГЁЇαβγεηικρτυχωάέίόύΆΈΉΊΌΎզղյեՏ")  # and letters that do so in a word
_WHOLE_SCRIPTS = ("CHEROKEE", "COPTIC", "DESERET", "LISU", "OSAGE", "RUNIC", "VAI", "WARANG")  # each has look-alikes
_SCRIPTS = ("ARMENIAN", "CYRILLIC", "GEORGIAN", "GREEK", "LATIN", *_WHOLE_SCRIPTS)
# ! : - / . ,
_SIGNS = frozenset("\u01c3\u02d0\u2010\u2044\u2215\u2236\u2571\u29f8\ua789\u0589\u05c3\u0660\u06d4\u066b")
_PHONETIC_AND_OVERLAYS = (range(0x250, 0x2B0), range(0x1D00, 0x1DC0), range(0x334, 0x339))
_RAISED = ("<super>", "<sub>", "<circle>")  # forms that no reader confuses with the plain letter
_WORD = re.compile(r"[^\W_]+(?:[\u0300-\u036f]+[^\W_]*)*")
_TOKEN = re.compile(r"\S+")


def look_alikes(text: str) -> frozenset[int]:
    """Return the places in `text` of the characters that are not what they look like."""
    if text.isascii():
        return frozenset()
    odd = {place for place, char in enumerate(text) if _is_dressed_up(text, place, char)}
    plain = _scripts_beyond_doubt(text)
    for token in _TOKEN.finditer(text):
        words = list(_WORD.finditer(text, token.start(), token.end()))
        latin = any(_script(char) == "LATIN" for char in token[0])
        for word in words:
            odd.update(_in_word(word, plain, latin and len(words) > 1))
    return frozenset(odd)


def _in_word(word: re.Match[str], plain: set[str], beside_latin: bool) -> Iterator[int]:
    """The places of the odd letters and digits of a word; `plain` are scripts in which the text is clearly written."""
    scripts = {place: _script(char) for place, char in enumerate(word[0], word.start()) if _script(char)}
    latin = [place for place, script in scripts.items() if script == "LATIN"]
    others = {place: word.string[place] for place in scripts if place not in latin}
    for place, char in enumerate(word[0], word.start()):
        mixed = any(one.isascii() for one in word[0])
        if char.isdecimal() and not char.isascii() and (mixed or _digit_script(char) not in plain):
            yield place
    if latin and len(latin) < len(others) and not all(map(_resembles, others.values())):
        yield from latin  # a word of another script with a few Latin letters in it
    elif latin or len(set(scripts.values())) > 1:
        # Greek letters that resemble no Latin letter are common in Latin text: "kΩ"
        yield from (place for place, char in others.items() if scripts[place] != "GREEK" or _resembles(char))
    elif all(map(_is_same, others.values())):
        yield from (place for place in others if beside_latin or scripts[place] not in plain)


def _scripts_beyond_doubt(text: str) -> set[str]:
    """The scripts of the letters that look like no Latin one: the text is written in these."""
    return {unicodedata.name(char, "").split(" ")[0] for char in text if char.isalpha() and not _is_same(char)}


def _script(char: str) -> str:
    """The script of a letter, where letters of this script look like others; else ""."""
    if not char.isalpha():
        return ""
    script = "LATIN" if char.isascii() else unicodedata.name(char, "").split(" ")[0]
    return script if script in _SCRIPTS else ""


def _digit_script(char: str) -> str:
    return unicodedata.name(char, "").removeprefix("EXTENDED ").split(" ")[0].removesuffix("-INDIC")


def _is_same(char: str) -> bool:
    return char in _SAME or unicodedata.name(char, "").startswith(_WHOLE_SCRIPTS)


def _resembles(char: str) -> bool:
    return char in _NEARLY or _is_same(char)


def _is_dressed_up(text: str, place: int, char: str) -> bool:
    """Whether a character is another form of an ASCII one, such as a full-width digit, or a phonetic letter among ASCII."""
    if char.isascii():
        return False
    around = text[max(place - 1, 0) : place] + text[place + 1 : place + 2]
    beside_ascii = any(one.isascii() and one.isalnum() for one in around)
    plain = unicodedata.normalize("NFKC", char)
    same = len(plain) == 1 and plain.isascii() and not unicodedata.decomposition(char).startswith(_RAISED)
    if same and plain.isalnum():
        return True
    return beside_ascii and (same or char in _SIGNS or any(ord(char) in some for some in _PHONETIC_AND_OVERLAYS))
