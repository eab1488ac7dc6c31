"""The spoken output of a widget: one lasting status region with changing words.

A screen reader announces a change inside a region that it knows; it might miss a new region. An `ipywidgets.HTML` recreates
all of its elements at each change, so the region owns the words that another widget holds.
"""

from __future__ import annotations

from html import escape
from uuid import uuid4

import ipywidgets as w

UNSEEN = "position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap"


class StatusRegion:
    """A line of words that is read aloud when it changes; `box` is the widget.

    Args:
        words: the first words.
        seen: whether the words can be seen too.
    """

    def __init__(self, words: str, seen: bool = True) -> None:
        name = f"pxl-{uuid4().hex[:12]}"
        self._opening = f'<p id="{name}" dir="auto" style="{"" if seen else UNSEEN}">'
        self._text = w.HTML()
        self.box = w.VBox([w.HTML(f'<div role="status" aria-owns="{name}"></div>'), self._text])
        self.say(words)

    def say(self, words: str) -> None:
        """Say `words`, plain text of any kind."""
        self._text.value = f"{self._opening}{escape(words)}</p>"
