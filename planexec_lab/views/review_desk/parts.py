"""The smallest widgets of the desk: a button, a field with its label, and where the keyboard's focus is put."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ipywidgets as w

from planexec_lab.views.widgets import on_event

WIDE = {"width": "auto"}


def button(name: str, press: Callable[[], None], style: str = "") -> Any:
    """Return a button that is called by what is written on it."""
    made = w.Button(description=name, layout=WIDE)
    on_event(made, lambda _: press())
    if style:
        made.add_class(style)
    return made


def labelled(control: Any, label: str, typed: Callable[[str], None]) -> Any:
    """Give a field its label, and call `typed` with each new text in it."""
    control.description, control.style.description_width, control.layout.width = label, "110px", "auto"
    on_event(control, lambda event: typed(event["new"]), "value")
    return control


def styled(widget: Any, style: str) -> Any:
    """Put a widget under a class of the style sheet, and return it."""
    widget.add_class(style)
    return widget


def focus(control: Any) -> None:
    """Put the focus on a control; ipywidgets 7, which Colab has, can't, and there it stays where the browser leaves it."""
    getattr(control, "focus", lambda: None)()
