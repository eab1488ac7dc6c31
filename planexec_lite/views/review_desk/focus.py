"""The keyboard's focus on the desk: after a press it stands where the work goes on."""

from __future__ import annotations

from typing import Any


def focus(control: Any) -> None:
    """Put the focus on a control; ipywidgets 7, which Colab has, can't, and there it stays where the browser leaves it."""
    put = getattr(control, "focus", None)
    if put is not None:
        put()
