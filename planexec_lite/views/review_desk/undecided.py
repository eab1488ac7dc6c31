"""What is said where a decision is asked for and there is none: by whom it can be made, and how to go on."""

from __future__ import annotations

import sys
import time
from html import escape
from typing import Any, NoReturn

from planexec_lite.views.drawing.theme import LOOKS
from planexec_lite.views.review_desk import presence

WAITS = "The run waits for you."
LATE = 1.0  # seconds, in which the requests of Run All arrive
STYLE = "margin:0;padding:8px 12px;border-left:4px solid {ink};background:{fill};color:{ink};font-size:14px;line-height:1.45"
GO_ON = (
    "press a button above, then run this cell and those below; if no desk is there any more, as after a reload,"
    " views.desk() in a new cell shows it as it was"
)


class _Said(RuntimeError):
    """An error whose words are all that a notebook shows of it: nothing is wrong with the code that it came through."""

    def _render_traceback_(self) -> list[str]:
        return [f"{type(self).__name__}: {self}"]


class NotDecided(_Said):
    """The decision is read, and nobody has decided yet."""


class NobodyThere(_Said):
    """A plan is to be reviewed, the program that runs the cell says that nobody is there, and there is no script."""

    def __init__(self) -> None:
        super().__init__(
            "nobody is there to review the plan; run the cell in a notebook, or give a script of what to press and to"
            " type: views.desk(plan, tools, script=['Approve'])"
        )


def stop(pressed: bool) -> NoReturn:
    """Raise `NotDecided`, with words above it in a notebook: Run All stops here. `pressed`: a press is on its way from the page.

    A kernel drops the cells whose requests have arrived when this one ends with an error, and runs those that arrive
    a moment later: on a slow machine cells below the desk would run without its decision. So the error comes late.
    """
    if "IPython" in sys.modules and sys.modules["IPython"].get_ipython() is not None:
        import IPython.display

        display: Any = IPython.display.display
        look = LOOKS["running"]
        words = f"<strong>{WAITS}</strong> Nobody has decided yet: {escape(GO_ON)}."
        html = f'<div role="status" style="{STYLE.format(ink=look.ink, fill=look.fill)}">{words}</div>'
        display({"text/html": html, "text/plain": f"{WAITS} Nobody has decided yet: {GO_ON}."}, raw=True)
    if presence.kernel() is None:
        raise NotDecided(
            "nobody has decided yet, and there is no notebook here to press a button in; desk.play(['Approve'])"
            " presses the buttons of a desk from a program"
        )
    time.sleep(LATE)
    if pressed:
        raise NotDecided("a button was pressed just now, and what was typed is still arriving; run this cell again")
    more = (
        f" (Is nobody there, as in a build? Then the program that starts the kernel says so, with its process id in"
        f" {presence.SIGN}, and the desk plays its script.)"
        if presence.by_a_program(presence.request() or {})
        else ""
    )
    raise NotDecided(f"nobody has decided yet: {GO_ON}{more}")
