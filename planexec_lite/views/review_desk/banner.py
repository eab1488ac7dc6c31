"""What stands at the cell that asks for a decision before there is one: the run waits for a person."""

from __future__ import annotations

import sys
import time
from html import escape
from typing import Any, NoReturn

from planexec_lite.views.drawing.theme import LOOKS
from planexec_lite.views.review_desk.presence import kernel
from planexec_lite.views.review_desk.undecided import GO_ON, NotDecided

WAITS = "The run waits for you."
LATE = 1.0  # seconds, in which the requests of Run All arrive
_STYLE = "margin:0;padding:8px 12px;border-left:4px solid {ink};background:{fill};color:{ink};font-size:14px;line-height:1.45"


def stop(why: NotDecided) -> NoReturn:
    """Say above the error that a person is waited for, and raise it: Run All stops here.

    A kernel drops the cells whose requests have arrived when this one ends with an error, and runs those that arrive
    a moment later: on a slow machine cells below the desk would run without its decision. So the error comes late.
    """
    if "IPython" in sys.modules and sys.modules["IPython"].get_ipython() is not None:
        import IPython.display

        display: Any = IPython.display.display
        look = LOOKS["running"]
        words = f"<strong>{WAITS}</strong> Nobody has decided yet: {escape(GO_ON)}."
        html = f'<div role="status" style="{_STYLE.format(ink=look.ink, fill=look.fill)}">{words}</div>'
        display({"text/html": html, "text/plain": f"{WAITS} Nobody has decided yet: {GO_ON}."}, raw=True)
        if kernel() is not None:
            time.sleep(LATE)
    raise why
