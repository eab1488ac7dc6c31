"""Words that fit: cleaning, measuring, shortening in the middle, wrapping; and what a step is called.

Text is measured by a fixed table, DejaVu Sans's widths (Verdana's are nearly the same, most others are narrower), so that
a layout does not depend on the fonts of the machine.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from math import fsum

from planexec_lite.plan import Step

_BY_WIDTH = {
    30: "'ijlIJ", 34: " \u00a0,./:;\\|f", 39: "-()[]t!r", 50: '*_`"', 55: "szc?L", 60: "FkvxyPTYaoe", 64: "ESbdghnpqu$0123456789{}",
    69: "KAVBRXZC", 78: "UHNDGOQ&", 84: "w#+<=>^~M", 100: "%mW@…",
}  # fmt: skip
_WIDTH = {char: width / 100 for width, chars in _BY_WIDTH.items() for char in chars}
_BOLD = 1.15
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
_NOTHING = re.compile(
    "[\u0300-\u036f\u200b-\u200f\u20d0-\u20ff\ufe00-\ufe0f\U0001f3fb-\U0001f3ff\U000e0100-\U000e01ef]"
)
_WIDE = re.compile("[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]")
_CLUSTER = re.compile(rf".(?:{_NOTHING.pattern}|(?<=\u200d).)*", re.DOTALL)
_PIECE = re.compile(r" *[^ _\-./(,=:]*[_\-./(,=:]*")


def clean(text: object) -> str:
    """Return `text` on one line, without what XML forbids or what turns the direction of the text around it."""
    return _UNSAFE.sub("\N{REPLACEMENT CHARACTER}", " ".join(str(text).split()))


def width(text: str, size: float, bold: bool = False) -> float:
    """Return the width of `text` in pixels at a font `size` in pixels."""
    return fsum(map(_em, text)) * size * (_BOLD if bold else 1)


def columns(text: str) -> int:
    """Return how many columns `text` takes in a terminal."""
    return sum(0 if _NOTHING.match(c) else 2 if _WIDE.match(c) or ord(c) >= 0x1F000 else 1 for c in text)


def shorten(text: str, fits: Callable[[str], bool]) -> str:
    """Return `text`, with as much of its middle left out as is needed until it `fits`."""
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

    A no-break space holds what stands on both sides of it together.
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


def _clusters(text: str, room: float, size: float) -> list[str]:
    """What a reader takes for one character each; one that is too wide falls apart."""
    found: list[str] = _CLUSTER.findall(text)
    return [part for cluster in found for part in ([cluster] if width(cluster, size) <= room else cluster)]


def whole(text: str, room: float, size: float) -> bool:
    """Whether `text` can be wrapped to `room` pixels without breaking a word."""
    return all(width(piece.strip(), size) <= room for piece in _PIECE.findall(text))


def wrap_to(text: str, room: float, size: float, most: int, bold: bool = False) -> list[str]:
    """Return `text` in at most `most` lines, shortened in the middle if it needs more."""
    return wrap(shorten(text, lambda shorter: len(wrap(shorter, room, size, bold)) <= most), room, size, bold)


def name_of(step: Step) -> str:
    """What a step is called in every picture: its description or, without one, its call."""
    return clean(step.description or step)


def value(result: object) -> str:
    """A result as one line of JSON."""
    return clean(json.dumps(result, ensure_ascii=False, default=str))


def seconds(time: float, longest: float | None = None) -> str:
    """A time in words: ``0.5 s``, ``103 s``, ``62 min``; in the unit that suits the `longest` time of the figure."""
    factor, unit = scale(time if longest is None else longest)
    return f"{round(time / factor, 1 if time / factor >= 10 else 2):g} {unit}"


def scale(longest: float) -> tuple[float, str]:
    """The unit that suits a figure whose `longest` time is given in seconds, as (seconds in it, its name)."""
    minutes = longest >= 600 or (longest >= 300 and longest % 60 == 0)
    return (60.0, "min") if minutes else (0.001, "ms") if 0 < longest < 0.1 else (1.0, "s")


def listed(ids: Iterable[str]) -> str:
    """Ids as a person says them: ``1, 2 and 3``."""
    *others, last = list(ids) or [""]
    return f"{', '.join(others)} and {last}" if others else last


def count(number: int, noun: str) -> str:
    """A number and its noun: ``1 step``, ``2 steps``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def table(rows: Iterable[Iterable[str]]) -> list[str]:
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
