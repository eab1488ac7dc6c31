"""What stands at the cell that asks for a decision before there is one: the run waits for a person."""

from __future__ import annotations

import sys
from html import escape
from typing import Any, NoReturn

from planexec_lite.views.drawing.theme import LOOKS
from planexec_lite.views.review_desk.undecided import GO_ON, NotDecided

WAITS = "The run waits for you."
_STYLE = "margin:0;padding:8px 12px;border-left:4px solid {ink};background:{fill};color:{ink};font-size:14px;line-height:1.45"


def stop(why: NotDecided) -> NoReturn:
    """Say above the error that a person is waited for, and raise it: Run All stops here."""
    if "IPython" in sys.modules and sys.modules["IPython"].get_ipython() is not None:
        import IPython.display

        display: Any = IPython.display.display
        look = LOOKS["running"]
        words = f"<strong>{WAITS}</strong> Nobody has decided yet: {escape(GO_ON)}."
        html = f'<div role="status" style="{_STYLE.format(ink=look.ink, fill=look.fill)}">{words}</div>'
        display({"text/html": html, "text/plain": f"{WAITS} Nobody has decided yet: {GO_ON}."}, raw=True)
    raise why
