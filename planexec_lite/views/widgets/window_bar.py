"""The controls by which a person moves the window over the rows of a large plan."""

from __future__ import annotations

from collections.abc import Callable

import ipywidgets as w

from planexec_lite.views.board_table import MOST, Window


class WindowBar:
    """Buttons and a field that choose the first row; `box` is the widget, out of sight while all rows are shown.

    Args:
        moved: is called when a person has chosen; `first` is the row then, or None for the rows around what changes.
    """

    def __init__(self, moved: Callable[[], None]) -> None:
        self.first: int | None = None
        self._moved, self._shown = moved, Window([], 1, 0)
        self._setting = False
        self.earlier, self.later, self.follow = (
            w.Button(description=words) for words in ("Earlier steps", "Later steps", "Follow the changes")
        )
        self.row = w.BoundedIntText(
            description="From row", min=1, max=1, layout=w.Layout(width="170px"), style={"description_width": "70px"}
        )
        self.earlier.on_click(lambda _: self.begin(self._shown.first - MOST))
        self.later.on_click(lambda _: self.begin(self._shown.first + MOST))
        self.follow.on_click(lambda _: self.begin(None))
        self.row.observe(lambda change: None if self._setting else self.begin(change["new"]), "value")
        self.box = w.HBox([self.earlier, self.later, self.row, self.follow])
        self.box.layout.flex_flow, self.box.layout.display = "row wrap", "none"

    def begin(self, first: int | None) -> None:
        """Show the rows from `first` on, or, with None, those around what changes."""
        self.first = first if first is None else max(1, min(first, self._shown.of - MOST + 1))
        self._moved()

    def show(self, shown: Window) -> None:
        """Say which rows are shown now."""
        self._shown, self._setting = shown, True
        try:
            self.row.max, self.row.value = max(1, shown.of - MOST + 1), shown.first
        finally:
            self._setting = False
        self.box.layout.display = "none" if shown.whole else ""
