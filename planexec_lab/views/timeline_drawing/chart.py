"""Drawing bars in lanes: one panel for each run, all with the same time axis.

An idle lane is dotted. A predicted span is a bracket below its lane. The critical path has a thick outline, and a thick
line between lanes and during waits.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from planexec_lab.views.drawing import theme
from planexec_lab.views.drawing.matplotlib_canvas import POINT, axis, clear, line, painted, rectangle, write
from planexec_lab.views.drawing.text_fitting import width, wrap, wrap_to
from planexec_lab.views.drawing.theme import LOOKS, MARGIN, PLANNER, SMALL, TITLE, WIDEST
from planexec_lab.views.drawing.wording import seconds
from planexec_lab.views.timeline_drawing.bars import BESIDE, WAITED, Bar, Span
from planexec_lab.views.timeline_drawing.label import GOOD, label
from planexec_lab.views.timeline_drawing.model import Lane, Timeline

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PAD, ROW = 6.0, 14.0
END = 26.0  # pixels kept free at the right, for the label of a short last bar
MOST_TALL = 8  # lanes that are tall enough for two lines of text
BRACKETS = 15.0
PREDICTED = "predicted"
ABOUT = {kind.what: kind.look for kind in BESIDE}  # how it looks what is done about a step


class Panel(NamedTuple):
    """A timeline and the words above its lanes."""

    shown: Timeline
    heading: str = ""

    @property
    def now(self) -> str | None:
        """The word at the line that marks the current time of a run that has not ended."""
        return None if self.shown.run.board.ended else self.shown.run.status


class Place(NamedTuple):
    """A bar's place in pixels, and the end of the free space to the right of it."""

    x: float
    y: float
    wide: float
    high: float
    free: float


def draw(title: str, panels: Sequence[Panel], notes: Sequence[str], end: float) -> tuple[str, list[list[Bar]]]:
    """Return the SVG of `panels` from 0 to `end` seconds, and for each the bars that were too short for a label.

    `notes` are written below.
    """
    lanes_of = [panel.shown.lanes_to(end) for panel in panels]
    head = wrap_to(title, WIDEST - 2 * MARGIN, TITLE, 3, bold=True)
    foot = [part for note in notes for part in wrap(note, WIDEST - 2 * MARGIN, SMALL)]
    lanes = [lane for some in lanes_of for lane in some]
    deep = 43.0 if len(lanes) <= MOST_TALL else 30.0
    names = [words for lane in lanes for words in (lane.name, _idle(lane, end), PREDICTED if lane.predicted else "")]
    left = MARGIN + 10 + max((width(words, SMALL) for words in names), default=0.0)
    pixels = (WIDEST - MARGIN - END - left) / (end or 1.0)
    first = bottom = MARGIN + 20.0 * len(head) + 4
    tops = []
    for panel, some in zip(panels, lanes_of, strict=True):
        bottom += (24 if panel.heading else 0) + (14 if panel.now else 0)
        tops.append(bottom)
        bottom += sum(_tall(lane, deep) for lane in some)
    bottom = bottom if end else bottom - 34  # without an axis its numbers need no room
    unlabelled: list[list[Bar]] = [[] for _ in panels]

    def paint(axes: Axes) -> None:
        for row, words in enumerate(head):
            write(axes, MARGIN, MARGIN + TITLE + 20 * row, words, size=TITLE, weight="bold")
        if end:
            axis(axes, left, pixels, (first, bottom), end)
        for panel, top, short in zip(panels, tops, unlabelled, strict=True):
            short += _panel(axes, panel, top, left, pixels, deep, end)
        for row, words in enumerate(foot):
            write(axes, MARGIN, bottom + 44 + 16 * row, words, color=theme.TEXT)

    return painted(bottom + 34 + 16 * len(foot) + (10 if foot else 0), paint), unlabelled


def _tall(lane: Lane, deep: float) -> float:
    return deep + BRACKETS * len(lane.predicted)


def _idle(lane: Lane, longest: float) -> str:
    return f"idle {seconds(lane.idle, longest)}" if lane.idle else ""


def _panel(axes: Axes, panel: Panel, top: float, left: float, pixels: float, deep: float, longest: float) -> list[Bar]:
    shown, unlabelled, y = panel.shown, [], top
    end = left + shown.run.makespan * pixels
    places: dict[str, list[Place]] = {}
    boxes: list[Place] = []
    for lane in shown.lanes_to(longest):
        two = 6 if lane.idle else 0  # the name moves up to make room for a second line
        write(axes, MARGIN, y + deep / 2 + 4 - two, lane.name, color=theme.MUTED)
        write(axes, MARGIN, y + deep / 2 + 5 + two, _idle(lane, longest), color=theme.MUTED)
        if lane.idle:
            line(axes, [left, end], [y + deep / 2] * 2, 1, theme.LINE, linestyle=(0, (1, 3)), zorder=0.5)
        frees = [left + bar.start * pixels for bar in lane.bars[1:]] + [WIDEST - MARGIN + 6]
        for bar, free in zip(lane.bars, frees, strict=False):
            place = Place(left + bar.start * pixels, y + 3.5, (bar.end - bar.start) * pixels, deep - 7, free)
            boxes.append(place)
            if bar.step is not None and not bar.what:
                places.setdefault(bar.step, []).append(place)
            if not _bar(axes, bar, place, shown.names.get(bar.step or "", ""), bar in shown.critical):
                unlabelled.append(bar)
        for row, spans in enumerate(lane.predicted):
            write(axes, MARGIN, y + deep + BRACKETS * row + 9, "" if row else PREDICTED, color=theme.MUTED)
            for span in spans:
                _bracket(axes, span, left, pixels, y + deep + BRACKETS * row + 5)
        y += _tall(lane, deep)
    for one, other in pairwise(shown.path):
        if one in places and other in places:  # from the last try of the one to the first of the other
            start, last = max(places[one], key=_left), min(places[other], key=_left)
            corners = way(start, last, boxes)
            line(axes, [x for x, _ in corners], [y for _, y in corners], 2.5, LOOKS["done"].ink, zorder=0.7)
    _ending(axes, panel, top, y, end)
    return unlabelled


def _ending(axes: Axes, panel: Panel, top: float, bottom: float, end: float) -> None:
    write(axes, MARGIN, top - 8 - (14 if panel.now else 0), panel.heading, size=theme.BODY, weight="bold")
    drawn = panel.shown.run.makespan > 0
    if panel.now:
        line(axes, [end] * 2, [top - 4, bottom] if drawn else [top] * 2, 1.6, theme.ALARM, linestyle="--")
        write(axes, end, top - 8, f"now: {panel.now}", ha="right" if drawn else "left", color=theme.ALARM)
    elif panel.heading:
        line(axes, [end + 1.5] * 2, [top - 2, bottom], 1.6, theme.TEXT, zorder=0.75)


def _left(place: Place) -> float:
    return place.x


def way(one: Place, other: Place, boxes: Sequence[Place]) -> list[tuple[float, float]]:
    """Return the corners of the critical path's line from one bar to the next, which touches no other bar.

    The line goes up or down once. If bars are in the way wherever it could, it has no corners: the thick outlines are left.
    """
    start, end = one.x + one.wide, other.x
    if one.y == other.y and end - start <= 2:
        return []
    others = [box for box in boxes if box not in (one, other)]
    top, low = sorted((one.y, other.y))
    turns = [start, *(edge for box in others for edge in (box.x, box.x + box.wide) if start < edge < end), end]
    for turn in turns:
        beside = _meets(others, one.y, start, turn) or _meets(others, other.y, turn, end)
        if not beside and not any(top < box.y < low and _covers(box, turn, turn) for box in others):
            middles = [place.y + place.high / 2 for place in (one, other)]
            return [
                (start - 0.5, middles[0]),
                (turn - 0.5, middles[0]),
                (turn - 0.5, middles[1]),
                (end + 0.5, middles[1]),
            ]
    return []


def _meets(boxes: Sequence[Place], lane: float, start: float, end: float) -> bool:
    return any(box.y == lane and _covers(box, start, end) for box in boxes)


def _covers(box: Place, start: float, end: float) -> bool:
    """Whether a bar has a place between `start` and `end`; its edges do not count."""
    return box.x + 1 < max(end, start + 1) and box.x + box.wide - 1 > start


def _bracket(axes: Axes, span: Span, left: float, pixels: float, y: float) -> None:
    start, end = left + span.start * pixels + 1, left + span.end * pixels - 1
    line(axes, [start, start, end, end], [y - 4, y, y, y - 4], 1, theme.TEXT, zorder=0.6)
    if (wide := width(span.step, SMALL)) < end - start - 6:
        x = (start + end - wide) / 2
        clear(axes, x, y + 4, span.step)
        write(axes, x, y + 4, span.step)


def _bar(axes: Axes, bar: Bar, at: Place, name: str, thick: bool) -> bool:
    """Draw a bar, and return whether it could be labelled."""
    fine = bar.state in (*GOOD, "running")
    look = LOOKS["waiting" if bar.state == WAITED else bar.state if fine and not bar.what else "failed"]
    if bar.what and fine:
        look = PLANNER if bar.step is None else LOOKS[ABOUT[bar.what]]
    shown = max(at.wide - 1, 2.5)
    how = {"facecolor": look.fill, "edgecolor": look.ink, "linewidth": (2.5 if thick else 1.0) * POINT}
    step = bar.step and f"step {bar.step}"  # a page marks the bar together with the step's card and row
    rectangle(axes, at.x + 0.5, at.y, shown, at.high, min(4, shown / 2), gid=step, **how)
    rows = 2 if at.high > 2 * ROW else 1
    words, inside = label(bar, name, at.wide - 2 * PAD, at.free - at.x - at.wide - 8, rows)
    long = max((width(text, SMALL) for text in words), default=0.0)
    x = at.x + min(PAD, (at.wide - long) / 2) if inside else at.x + at.wide + 5
    y = at.y + at.high / 2 + 4 - ROW * (len(words) - 1) / 2
    for row, text in enumerate(words):
        if not inside:
            clear(axes, x, y, text)
        write(axes, x, y + ROW * row, text, color=look.ink if bar.state != "done" else theme.TEXT, gid=step)
    return bool(words)
