"""What is said where a decision is asked for and there is none: by whom it can be made, and how to go on."""

from __future__ import annotations

from planexec_lite.views.review_desk import presence

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


def not_decided(pressed: bool) -> NotDecided:
    """Return the error for a decision that is not there; `pressed`: a press is on its way from the page."""
    if presence.kernel() is None:
        return NotDecided(
            "nobody has decided yet, and there is no notebook here to press a button in; desk.play(['Approve'])"
            " presses the buttons of a desk from a program"
        )
    if pressed:
        return NotDecided("a button was pressed just now, and what was typed is still arriving; run this cell again")
    more = (
        f" (Is nobody there, as in a build? Then the program that starts the kernel says so, with its process id in"
        f" {presence.SIGN}, and the desk plays its script.)"
        if presence.by_a_program(presence.request() or {})
        else ""
    )
    return NotDecided(f"nobody has decided yet: {GO_ON}{more}")


def nobody_there() -> NobodyThere:
    """Return the error for a desk without a script where nobody is there."""
    return NobodyThere(
        "nobody is there to review the plan; run the cell in a notebook, or give a script of what to press and to"
        " type: views.desk(plan, tools, script=['Approve'])"
    )
