"""Drawing bars in lanes with matplotlib: no pyplot, no fonts of the machine, the same bytes every time."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Collection, Mapping, Sequence
from io import StringIO
from typing import TYPE_CHECKING, Any, NamedTuple

from planexec_lite.views import theme
from planexec_lite.views.bars import Bar
from planexec_lite.views.label import GOOD, label
from planexec_lite.views.theme import LOOKS, MARGIN, PLANNER, SMALL, TITLE, WIDEST
from planexec_lite.views.words import scale, width, wrap, wrap_to

if TYPE_CHECKING:
    from matplotlib.axes import Axes

POINT = 0.75  # points a pixel
PAD, ROW = 6.0, 14.0
END = 26.0  # pixels kept free at the right, for the label of a short last bar
MOST_TALL = 8  # lanes that are tall enough for two lines of text


class Place(NamedTuple):
    """Where a bar stands, in pixels, and up to where the space beside it is free."""

    x: float
    y: float
    wide: float
    high: float
    free: float


class Lane(NamedTuple):
    """A slot, or the planner, and what it was busy with."""

    name: str
    bars: Sequence[Bar]


def draw(
    title: str,
    lanes: Sequence[Lane],
    names: Mapping[str, str],
    thick: Collection[str],
    end: float,
    notes: Sequence[str],
    now: str | None,
) -> tuple[str, list[Bar]]:
    """Return the SVG of a timeline from 0 to `end` seconds, and the bars that were too short for a label.

    Bars of `thick` steps get a thick outline; `notes` are written below; `now` is the word at the line that marks the
    end of a run which has not ended.
    """
    logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)  # the first import may talk about its cache
    from matplotlib import rc_context, rcParamsDefault
    from matplotlib.figure import Figure

    head = wrap_to(title, WIDEST - 2 * MARGIN, TITLE, 3, bold=True)
    foot = [line for note in notes for line in wrap(note, WIDEST - 2 * MARGIN, SMALL)]
    top = MARGIN + 20.0 * len(head) + (18 if now else 4)
    deep = 43.0 if len(lanes) <= MOST_TALL else 30.0
    bottom = top + deep * len(lanes) if end else top - 34
    high = bottom + 34 + 16 * len(foot) + (10 if foot else 0)
    left = MARGIN + 10 + max([width(lane.name, SMALL) for lane in lanes], default=0.0)
    bare: list[Bar] = []
    with warnings.catch_warnings(), rc_context():
        warnings.simplefilter("ignore")  # a glyph that matplotlib's font lacks is the browser's business
        _set(dict(rcParamsDefault))
        figure = Figure(figsize=(WIDEST / 96, high / 96), dpi=72, facecolor="none")
        axes = figure.add_axes((0, 0, 1, 1), xlim=(0, WIDEST), ylim=(high, 0))
        axes.axis("off")
        _rectangle(axes, 0, 0, WIDEST, high, 8, facecolor=theme.PLATE, edgecolor="none", zorder=-1)
        for row, line in enumerate(head):
            _write(axes, MARGIN, MARGIN + TITLE + 20 * row, line, size=TITLE, weight="bold")
        if end:
            _axis(axes, left, top, bottom, end)
        pixels = (WIDEST - MARGIN - END - left) / (end or 1.0)
        for row, lane in enumerate(lanes):
            y = top + deep * row
            _write(axes, MARGIN, y + deep / 2 + 4, lane.name, color=theme.MUTED)
            frees = [left + bar.start * pixels for bar in lane.bars[1:]] + [WIDEST - MARGIN + 6]
            for bar, free in zip(lane.bars, frees, strict=True):
                wide = (bar.end - bar.start) * pixels
                place = Place(left + bar.start * pixels, y + 3.5, wide, deep - 7, free)
                if not _bar(axes, bar, place, names.get(bar.step or "", ""), bar.step in thick and not bar.what):
                    bare.append(bar)
        if now:
            axes.plot([left + end * pixels] * 2, [top - 4, bottom], color=theme.ALARM, linewidth=1.2, linestyle="--")
            edge = "right" if end else "left"
            _write(axes, left + end * pixels, top - 8, f"now: {now}", ha=edge, color=theme.ALARM)
        for row, line in enumerate(foot):
            _write(axes, MARGIN, bottom + 44 + 16 * row, line, color=theme.TEXT)
        out = StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    return out.getvalue()[out.getvalue().index("<svg") :], bare


def _set(defaults: dict[Any, Any]) -> None:
    """The settings of matplotlib, whatever the person's own are."""
    from matplotlib import rcParams

    rcParams.update(
        {name: value for name, value in defaults.items() if not name.startswith(("backend", "date.", "tk."))}
    )
    rcParams.update({"svg.hashsalt": "planexec_lite", "svg.fonttype": "none", "text.parse_math": False})
    rcParams.update({"font.family": ["sans-serif"], "font.sans-serif": list(theme.FAMILIES)})


def _axis(axes: Axes, left: float, top: float, bottom: float, end: float) -> None:
    from matplotlib.ticker import MaxNLocator

    factor, unit = scale(end)
    ticks = MaxNLocator(nbins=8, steps=[1, 2, 5, 10]).tick_values(0, end / factor) if end else [0.0]
    for tick in ticks:
        if 0 <= tick * factor <= end * 1.0001:
            x = left + tick * factor * (WIDEST - MARGIN - END - left) / (end or 1.0)
            axes.plot([x, x], [top, bottom + 4], color=theme.HAIR, linewidth=0.75, zorder=0)
            words = f"{tick:g} {unit}"
            _write(axes, x, bottom + 18, words, ha="center", color=theme.MUTED)


def _bar(axes: Axes, bar: Bar, at: Place, name: str, thick: bool) -> bool:
    """Draw a bar, and return whether it could be labelled."""
    fine = bar.state in (*GOOD, "running")
    look = LOOKS[bar.state if fine and not bar.what else "failed"]
    if bar.what and fine:
        look = PLANNER if bar.step is None else LOOKS["judging"]
    shown = max(at.wide - 1, 2.5)
    line = {"facecolor": look.fill, "edgecolor": look.ink, "linewidth": (2.5 if thick else 1.0) * POINT}
    _rectangle(axes, at.x + 0.5, at.y, shown, at.high, min(4, shown / 2), **line)
    rows = 2 if at.high > 2 * ROW else 1
    words, inside = label(bar, name, at.wide - 2 * PAD, at.free - at.x - at.wide - 8, rows)
    long = max((width(line_of_words, SMALL) for line_of_words in words), default=0.0)
    x = at.x + min(PAD, (at.wide - long) / 2) if inside else at.x + at.wide + 5
    y = at.y + at.high / 2 + 4 - ROW * (len(words) - 1) / 2
    for row, line_of_words in enumerate(words):
        _write(axes, x, y + ROW * row, line_of_words, color=look.ink if bar.state != "done" else theme.TEXT)
    return bool(words)


def _write(
    axes: Axes, x: float, y: float, words: str, *, size: float = SMALL, color: str = theme.TEXT, **how: Any
) -> None:
    if words:
        axes.text(x, y, words, fontsize=size * POINT, color=color, va="baseline", **how)


def _rectangle(axes: Axes, x: float, y: float, wide: float, high: float, radius: float, **how: Any) -> None:
    from matplotlib.patches import FancyBboxPatch

    axes.add_patch(FancyBboxPatch((x, y), wide, high, boxstyle=f"round,pad=0,rounding_size={radius:g}", **how))
