"""Measures of pictures: overlapping boxes, contrast of colours."""

from collections.abc import Iterable
from itertools import combinations

from planexec_lab.views.drawing.svg_canvas import Box


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
