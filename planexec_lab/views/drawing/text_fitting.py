"""Text that fits: cleaning, measuring, shortening in the middle, wrapping, and aligning the cells of a table.

Text is measured by a fixed table, DejaVu Sans's widths (Verdana's are nearly the same, most others are narrower), so that
a layout does not depend on the fonts of the machine.
"""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections.abc import Callable, Iterable
from math import fsum

_BY_WIDTH = {
    30: "'ijlIJ", 34: " \u00a0,./:;\\|f", 39: "-()[]t!r", 50: '*_`"', 55: "szc?L", 60: "FkvxyPTYaoe", 64: "ESbdghnpqu$0123456789{}",
    69: "KAVBRXZC", 78: "UHNDGOQ&", 84: "w#+<=>^~M", 100: "%mW@…",
}  # fmt: skip
_WIDTH = {char: width / 100 for width, chars in _BY_WIDTH.items() for char in chars}
_BOLD = 1.15
HUGE = 100  # characters of a word
LONG = 10_000  # characters: of a longer text, only the two ends are measured and shown
_ISOLATE, _END = "\u2068", "\u2069"
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
_NOTHING = re.compile(
    "[\u0300-\u036f\u200b-\u200f\u2066-\u2069\u20d0-\u20ff\ufe00-\ufe0f\U0001f3fb-\U0001f3ff\U000e0100-\U000e01ef]"
)
_WIDE = re.compile("[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]")
_CLUSTER = re.compile(rf".(?:{_NOTHING.pattern}|(?<=\u200d).)*", re.DOTALL)
_PIECE = re.compile(r" *[^ _\-./(,=:]*[_\-./(,=:]*")


def clean(text: object) -> str:
    """Return `text` on one line, without what XML forbids or what turns the direction of the text around it."""
    return _UNSAFE.sub("\N{REPLACEMENT CHARACTER}", " ".join(str(text).split()))


def isolated(text: str) -> str:
    """Return `text`; right-to-left text is put between marks so that it can't reorder numbers next to it."""
    turns = any(unicodedata.bidirectional(char) in ("R", "AL", "AN") for char in text)
    return f"{_ISOLATE}{text}{_END}" if turns and not text.startswith(_ISOLATE) else text


def isolated_lines(lines: Iterable[str]) -> list[str]:
    """Return the lines of a text that was broken, each with the marks of direction that are open in it."""
    whole, opened = [], 0
    for line in lines:
        left = opened + line.count(_ISOLATE) - line.count(_END)
        whole.append(_ISOLATE * opened + line + _END * left)
        opened = left
    return whole


def width(text: str, size: float, bold: bool = False) -> float:
    """Return the width of `text` in pixels at a font `size` in pixels."""
    return fsum(map(_em, text)) * size * (_BOLD if bold else 1)


def columns(text: str) -> int:
    """Return how many columns `text` takes in a terminal."""
    if text.isascii():  # nearly all of a table, and twenty times as fast
        return len(text)
    return sum(0 if _NOTHING.match(c) else 2 if _WIDE.match(c) or ord(c) >= 0x1F000 else 1 for c in text)


def shorten(text: str, fits: Callable[[str], bool]) -> str:
    """Return `text`, with as much of its middle left out as is needed until it `fits`.

    The middle of a `LONG` text goes first, so that a result of many megabytes takes no longer to draw than a page.
    """
    if len(text) > LONG:
        text = f"{text[: LONG // 2]}…{text[-LONG // 2 :]}"
    if fits(text):
        return text
    parts = _CLUSTER.findall(text)
    least, most = 0, min(len(parts) - 1, 400)
    while least < most:
        kept = (least + most + 1) // 2
        least, most = (kept, most) if fits(_without_middle(parts, kept)) else (least, kept - 1)
    return _without_middle(parts, least)


def fit(text: str, room: float, size: float, bold: bool = False) -> str:
    """Return `text`, shortened in the middle to `room` pixels."""
    return shorten(text, lambda shorter: width(shorter, size, bold) <= room)


def fit_columns(text: str, most: int) -> str:
    """Return `text`, shortened in the middle to `most` columns of a terminal."""
    return shorten(text, lambda shorter: columns(shorter) <= most)


def wrap(text: str, room: float, size: float, bold: bool = False) -> list[str]:
    """Return `text` in lines of at most `room` pixels, broken at blanks and after punctuation where that is possible.

    A no-break space keeps its two neighbours on one line.
    """
    lines = [""]
    for piece in _PIECE.findall(text):
        if width(lines[-1] + piece, size, bold) <= room:
            lines[-1] += piece
            continue
        lines.append("")
        for cluster in _clusters(piece.lstrip(), room, size):
            if lines[-1] and width(lines[-1] + cluster, size, bold) > room:
                lines.append("")
            lines[-1] += cluster
    return [line for line in lines if line.strip()] or [""]


def wrap_words(text: str, most: int) -> list[str]:
    """Return `text` in lines of at most `most` characters, broken only at blanks; a word is never broken, unless it is huge."""
    lines = textwrap.wrap(text, most, break_long_words=False, break_on_hyphens=False)
    return [line[at : at + HUGE] for line in lines for at in range(0, len(line), HUGE)]


def has_huge_word(text: str) -> bool:
    """Whether a word of `text` is too long for one line of a table."""
    return any(len(word) > HUGE for word in text.split())


def wrapped(value: object, most: int = 88) -> str:
    """Return `value` as text in lines of at most `most` columns, which fit next to JupyterLab's list of files.

    Lines break only at blanks, so a very long word can exceed the limit. Continued lines are indented by four columns.
    """
    lines = []
    for line in str(value).split("\n"):
        indent = " " * (len(line) - len(line.lstrip()) + 4)
        lines += textwrap.wrap(
            line, most, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
        ) or [""]
    return "\n".join(lines)


def _clusters(text: str, room: float, size: float) -> list[str]:
    """The characters as a reader sees them; a character that is too wide is split."""
    clusters: list[str] = _CLUSTER.findall(text)
    return [part for one in clusters for part in ([one] if width(one, size) <= room else one)]


def whole(text: str, room: float, size: float) -> bool:
    """Whether `text` can be wrapped to `room` pixels without breaking a word."""
    return all(width(piece.strip(), size) <= room for piece in _PIECE.findall(text))


def wrap_to(text: str, room: float, size: float, most: int, bold: bool = False) -> list[str]:
    """Return `text` in at most `most` lines, shortened in the middle if it needs more."""
    return wrap(shorten(text, lambda shorter: len(wrap(shorter, room, size, bold)) <= most), room, size, bold)


def aligned(rows: Iterable[Iterable[str]]) -> list[str]:
    """Return rows of cells as lines of aligned text."""
    cells = [list(row) for row in rows]
    widths = [max(map(columns, column)) for column in zip(*cells, strict=True)]
    return [
        "  ".join(cell + " " * (width - columns(cell)) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in cells
    ]


def _em(char: str) -> float:
    if char in _WIDTH:
        return _WIDTH[char]
    if _NOTHING.match(char):
        return 0
    return 1.4 if ord(char) >= 0x1F000 else 1.05 if _WIDE.match(char) else 0.87


def _without_middle(parts: list[str], kept: int) -> str:
    tail = kept // 2
    return "".join(parts[: kept - tail]).rstrip() + "…" + "".join(parts[len(parts) - tail :]).lstrip()
