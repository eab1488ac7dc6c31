"""Measures of pictures: overlapping boxes, contrast of colours."""

import re
from collections.abc import Iterable
from itertools import combinations, pairwise
from xml.etree import ElementTree

from planexec_lab.views.drawing import theme
from planexec_lab.views.drawing.svg_canvas import Box

Point = tuple[float, float]
Segment = tuple[Point, Point]
LINES = (theme.LINE, theme.TEXT, theme.ALARM, theme.LOOKS["done"].ink)
SIZES = {"M": 2, "L": 2, "H": 1, "V": 1, "C": 6, "Q": 4, "A": 7, "Z": 0}  # how many numbers follow the letter
BENDS = 16  # straight pieces of a curve
OUTLINE = 1.5  # half the width of the thickest outline


def overlap(one: Box, other: Box, least: float = 0) -> bool:
    """Whether two rectangles overlap, or are less than `least` pixels apart."""
    return (
        one.x < other.x + other.width + least
        and other.x < one.x + one.width + least
        and one.y < other.y + other.height + least
        and other.y < one.y + one.height + least
    )


def overlaps(things: Iterable[Box], least: float = 0) -> list[tuple[Box, Box]]:
    return [(one, other) for one, other in combinations(things, 2) if overlap(one, other, least)]


def off_the_plate(things: Iterable[Box], wide: float, high: float) -> list[Box]:
    """The rectangles that are not wholly on a plate of this size."""
    return [
        box for box in things if min(box.x, box.y) < 0 or box.x + box.width > wide + 0.5 or box.y + box.height > high
    ]


def contrast(one: str, other: str) -> float:
    """WCAG 2's contrast ratio of two colours, each as ``#RRGGBB``: from 1 to 21; text needs 4.5."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def pierced(svg: str) -> list[tuple[Segment, Box]]:
    """Where a line of a graph or a timeline runs through a card or a bar; hair lines may run behind bars."""
    boxes, lines = [], list[Segment]()
    for one in ElementTree.fromstring(svg).iter():
        style = one.get("style", "")
        look = one.attrib | dict(part.split(": ") for part in style.split("; ") if ": " in part)
        if one.tag.endswith("rect") and one.get("rx") == "6":
            x, y, wide, high = (float(one.attrib[name]) for name in ("x", "y", "width", "height"))
            boxes.append(Box(x, y, wide, high, ""))
        elif one.tag.endswith("path") and look.get("stroke", "none") != "none":
            segments = flattened(one.attrib["d"])
            if look.get("fill") != "none":
                xs, ys = zip(*(end for segment in segments for end in segment), strict=True)
                boxes.append(Box(min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys), ""))
            elif look["stroke"].upper() in LINES and "stroke-dasharray" not in style:
                lines += segments
    return [(segment, box) for box in boxes for segment in lines if _meets(segment, box)]


def flattened(way: str) -> list[Segment]:
    """An SVG path in straight pieces; an arc is taken for the line to its end."""
    at, start, pieces = (0.0, 0.0), (0.0, 0.0), list[Segment]()
    for letter, numbers in re.findall(r"([A-Za-z])([^A-Za-z]*)", way):
        given = [float(number) for number in re.findall(r"-?[\d.]+", numbers)]
        size = SIZES[letter.upper()]
        for first in range(0, len(given), size) if size else [0]:
            part = given[first : first + size]
            base = at if letter.islower() else (0.0, 0.0)
            if letter in "Hh":
                part = [*part, at[1] - base[1]]
            elif letter in "Vv":
                part = [at[0] - base[0], *part]
            elif letter in "Aa":
                part = part[-2:]
            ends = [(base[0] + x, base[1] + y) for x, y in zip(part[::2], part[1::2], strict=True)] or [start]
            if letter in "Mm":
                start = ends[-1]
            else:
                share = 1 if len(ends) == 1 else BENDS
                points = [_bezier([at, *ends], step / share) for step in range(share + 1)]
                pieces += pairwise(points)
            at = ends[-1]
    return pieces


def _bezier(corners: list[Point], share: float) -> Point:
    while len(corners) > 1:
        corners = [(x + (to_x - x) * share, y + (to_y - y) * share) for (x, y), (to_x, to_y) in pairwise(corners)]
    return corners[0]


def _meets(segment: Segment, box: Box) -> bool:
    """Whether a segment has a part inside a rectangle and not on its outline (Liang and Barsky, 1984)."""
    (x, y), (to_x, to_y) = segment
    enters, leaves = 0.0, 1.0
    for at, by, least, wide in ((x, to_x - x, box.x, box.width), (y, to_y - y, box.y, box.height)):
        low, high = least + OUTLINE, least + wide - OUTLINE
        if by == 0:
            if not low < at < high:
                return False
            continue
        first, last = sorted(((low - at) / by, (high - at) / by))
        enters, leaves = max(enters, first), min(leaves, last)
    return enters < leaves
