"""What stays of a desk in its notebook: the plan as a table and, when a person has decided, the verdict above it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from planexec_lite.views.drawing.figure import Figure
from planexec_lite.views.review_desk import presence
from planexec_lite.views.widgets import renew_still, show_widget, written


class Still:
    """The picture below a desk, which is seen where the widget is gone, as in a notebook that is opened again.

    Args:
        box: the widget of the desk.
        figure: what is decided about.
    """

    def __init__(self, box: Any, figure: Figure) -> None:
        self.box = box
        self.text, self.page = figure.text, figure._repr_html_()
        self._name = uuid4().hex
        self._shown = False

    def show(self) -> None:
        """Show the desk, and the picture below it."""
        self._shown = True
        show_widget(self.box, self.text, self.page, self._name)

    def decided(self, lines: Sequence[str], figure: Figure) -> None:
        """Put the verdict above the picture, wherever the page still has it."""
        words = "\n".join(lines)
        self.text, self.page = f"{words}\n{figure.text}", written(words) + figure._repr_html_()
        if self._shown and presence.kernel() is not None:
            renew_still(self.box, self.text, self.page, self._name)
