"""A button of the desk, called by what is written on it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ipywidgets as w


def button(name: str, press: Callable[[], None], style: str = "", layout: Any = None) -> Any:
    """Return a button that is called by what is written on it."""
    made = w.Button(description=name, layout=layout or w.Layout(width="auto"))
    made.on_click(lambda _: press())
    if style:
        made.add_class(style)
    return made
