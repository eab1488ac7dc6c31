"""Text without hidden characters: an invisible or look-alike character is written as its code, such as ``\\u200b``.

Used for text that a person reads before approving it. Marks of direction, letters without a width and look-alikes have
carried attacks on reviewed source code ("Trojan Source", Boucher and Anderson, 2021).
"""

from __future__ import annotations

import json
import re
import unicodedata

from planexec_lab.views.drawing.look_alikes import look_alikes
from planexec_lab.views.drawing.text_fitting import isolated
from planexec_lite.tools import references

MANY = 8  # from this number on, blanks in a row are counted
_BLANKS = ((0x034F,), (0x115F, 0x1160), (0x17B4, 0x17B5), range(0x180B, 0x1810), (0x2800,), (0x3164,),
           range(0xFE00, 0xFE10), (0xFFA0,), range(0xE0100, 0xE01F0))  # fmt: skip
_BLANK = frozenset(number for some in _BLANKS for number in some)  # printable to Python, and nothing to the eye
_JOINERS, _EMOJI = "\u200c\u200d", "\ufe0f"
_RUN = re.compile(r"(.)\1*", re.DOTALL)


def hidden(text: str, at: int) -> bool:
    """Whether the character of `text` at this place is not seen.

    The joiners are seen inside a word of a script that joins its letters, and inside a picture of several characters.
    """
    char = text[at]
    if char.isprintable() and ord(char) not in _BLANK:
        return False
    before, after = text[at - 1 : at], text[at + 1 : at + 2]
    if char == _EMOJI:
        return not _pictured(before)
    if char in _JOINERS and before and after:
        joined = unicodedata.bidirectional(before) == unicodedata.bidirectional(after) == "AL"
        pictured = (_pictured(before) or before == _EMOJI) and _pictured(after)
        return not (joined or pictured or unicodedata.combining(before) == 9)
    return True


def code(char: str) -> str:
    """The code of a character, as Python writes it in a text."""
    return char.encode("unicode_escape").decode() if not char.isascii() or char < " " else f"\\x{ord(char):02x}"


def parts(text: str) -> list[tuple[str, str]]:
    """Divide `text` into what is what it looks like, and what is not: (the characters, ""), or (a code, its Unicode name).

    The same hidden character many times over is one part that says how often, as many blanks in a row are.
    """
    divided: list[tuple[str, str]] = []
    odd = look_alikes(text)
    for run in _RUN.finditer(text):
        char, times = run[1], len(run[0])
        if hidden(text, run.end() - 1) or not odd.isdisjoint(range(*run.span())):
            times_over = f"×{times}" if times > 3 else ""
            divided.append((code(char) * (1 if times_over else times) + times_over, name(char)))
        elif char == " " and times >= MANY:
            divided.append((f"␣×{times}", "blanks"))
        elif divided and not divided[-1][1]:
            divided[-1] = (divided[-1][0] + run[0], "")
        else:
            divided.append((run[0], ""))
    return divided


def visible(text: object) -> str:
    """Return `text` on one line, whole, with everything in it seen; one from right to left turns nothing around it."""
    text = str(text)
    if text.isascii() and text.isprintable() and " " * MANY not in text:
        return text
    return isolated("".join(part for part, _ in parts(text)))


def name(char: str) -> str:
    """The Unicode name of a character."""
    return unicodedata.name(char, f"U+{ord(char):04X}").lower()


def literal(value: object) -> str:
    """An argument on the line of a call: a lone reference bare, a string in quotes, anything else as Python."""
    return visible(references.whole(value) or repr(value))


def written(value: object) -> str:
    """A value as JSON on one line, whole."""
    return visible(json.dumps(value, ensure_ascii=False, default=str))


def call(tool: str | None, params: object) -> str:
    """A call on one line, whole: ``build_docker(tag='v2.3.1')``."""
    if tool is None:
        return "the executor chooses the tool"
    given = params.items() if isinstance(params, dict) else ()
    return f"{visible(tool)}({', '.join(f'{visible(key)}={literal(value)}' for key, value in given)})"


def _pictured(char: str) -> bool:
    return bool(char) and unicodedata.category(char) in ("So", "Sk")
