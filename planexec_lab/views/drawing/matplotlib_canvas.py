"""Drawing on matplotlib: no pyplot, no fonts of the machine, the same bytes every time. Coordinates are pixels."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Sequence
from io import StringIO
from typing import TYPE_CHECKING, Any

from planexec_lab.views.drawing import theme
from planexec_lab.views.drawing.text_fitting import width
from planexec_lab.views.drawing.theme import SMALL, WIDEST
from planexec_lab.views.drawing.wording import scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes

POINT = 0.75  # points a pixel


def painted(high: float, paint: Callable[[Axes], None]) -> str:
    """Return the SVG of what `paint` draws on a plate of `high` pixels, with (0, 0) at the top left."""
    logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)  # the first import may talk about its cache
    from matplotlib import rc_context, rcParamsDefault
    from matplotlib.figure import Figure

    with warnings.catch_warnings(), rc_context():
        warnings.simplefilter("ignore")  # a glyph that matplotlib's font lacks is the browser's business
        _set(dict(rcParamsDefault))
        figure = Figure(figsize=(WIDEST / 96, high / 96), dpi=72, facecolor="none")
        axes = figure.add_axes((0, 0, 1, 1), xlim=(0, WIDEST), ylim=(high, 0))
        axes.axis("off")
        rectangle(axes, 0, 0, WIDEST, high, 8, facecolor=theme.PLATE, edgecolor="none", zorder=-1)
        paint(axes)
        out = StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    return out.getvalue()[out.getvalue().index("<svg") :]


def write(
    axes: Axes, x: float, y: float, words: str, *, size: float = SMALL, color: str = theme.TEXT, **how: Any
) -> None:
    """Write a line of text whose baseline is at `y`."""
    if words:
        axes.text(x, y, words, fontsize=size * POINT, color=color, va="baseline", **how)


def clear(axes: Axes, x: float, y: float, words: str) -> None:
    """Clear the place where `words` will be written, so that no line runs through them."""
    rectangle(axes, x - 2, y - 10, width(words, SMALL) + 4, 13, 0, facecolor=theme.PLATE, edgecolor="none", zorder=0.8)


def line(axes: Axes, xs: Sequence[float], ys: Sequence[float], thick: float, color: str, **how: Any) -> None:
    """Draw a line of `thick` pixels."""
    axes.plot(xs, ys, color=color, linewidth=thick * POINT, **how)


def rectangle(axes: Axes, x: float, y: float, wide: float, high: float, radius: float, **how: Any) -> None:
    """Draw a rectangle with round corners."""
    from matplotlib.patches import FancyBboxPatch

    box = FancyBboxPatch((x, y), wide, high, boxstyle=f"round,pad=0,rounding_size={radius:g}", **how)
    axes.add_artist(box)  # `add_patch` would measure it, to fit the axes to it; here they are as wide as the plate


def axis(axes: Axes, left: float, pixels: float, tops: tuple[float, float], end: float) -> None:
    """Draw a hair line and a label for each round time up to `end` seconds, at `pixels` per second."""
    from matplotlib.ticker import MaxNLocator

    factor, unit = scale(end)
    for tick in MaxNLocator(nbins=8, steps=[1, 2, 5, 10]).tick_values(0, end / factor):
        if 0 <= tick * factor <= end * 1.0001:
            x = left + tick * factor * pixels
            line(axes, [x, x], [tops[0], tops[1] + 4], 1, theme.HAIR, zorder=0)
            write(axes, x, tops[1] + 18, f"{tick:g} {unit}", ha="center", color=theme.MUTED)


def _set(defaults: dict[Any, Any]) -> None:
    """The settings of matplotlib, independent of the user's own."""
    from matplotlib import rcParams

    rcParams.update(
        {name: value for name, value in defaults.items() if not name.startswith(("backend", "date.", "tk."))}
    )
    rcParams.update({"svg.hashsalt": "planexec_lite", "svg.fonttype": "none", "text.parse_math": False})
    rcParams.update({"font.family": ["sans-serif"], "font.sans-serif": list(theme.FAMILIES)})
