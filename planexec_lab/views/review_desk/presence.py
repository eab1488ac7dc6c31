"""Is a person at the notebook? A script plays only if the process that started the kernel declares that the run is unattended.

One mistake would let a script approve a plan while a person watches; the other stops a notebook with an error message. So the
default is a person. Voila shows a notebook to a person with the same requests that nbclient uses in a build, and a script
that starts JupyterLab does not show that the run is unattended.

The process that starts the kernel declares it, for that kernel only:

- ``PLANEXEC_NOBODY`` holds the id of the process that starts the kernel: ``.ci/notebooks.py`` sets it, and in a shell
  ``sh -c 'PLANEXEC_NOBODY=$$ exec jupyter execute lesson.ipynb'`` does. A server that inherits it has another id.
- pytest names the test that it is about to run. A cell of a notebook under nbval is such a test, and nbval starts the
  kernel itself: the name is in the kernel's environment, and not in the one with which its parent was started.

A kernel can observe (measured with ipykernel 7.4):

=====================================  ===========  ======  =====  ================================
who runs the cell                      allow_stdin  cellId  views  what its parent process is
=====================================  ===========  ======  =====  ================================
JupyterLab 4.6, Notebook 7.6           true         yes     1      the server
nbclassic 1.3                          true         no      1      the server
Voila 0.5                              false        no      1      the server
nbclient, nbconvert, papermill         false        no      0      the program, or a server in it
nbval 0.11                             false        no      0      pytest, or one of its workers
=====================================  ===========  ======  =====  ================================

One sign of a person outweighs the declaration.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
from typing import Any, NoReturn

from planexec_lab.views.drawing.theme import LOOKS

SIGN = "PLANEXEC_NOBODY"
TEST = "PYTEST_CURRENT_TEST"


def nobody(views: int | None) -> bool:
    """Whether the run is unattended, and the process that started this kernel declares it.

    Args:
        views: how many views of the desk the front end has reported.
    """
    asked = request()
    return asked is not None and not views and by_a_program(asked) and said_so()


def by_a_program(asked: Mapping[str, Any]) -> bool:
    """Whether a request looks as if a program had made it; those of Voila do too."""
    asks = asked.get("content", {}).get("allow_stdin", True)
    return asked.get("msg_type") == "execute_request" and not asks and "cellId" not in asked.get("metadata", {})


def from_a_page() -> bool:
    """Whether the message that the kernel is answering was sent by a widget that a page shows."""
    return (request() or {}).get("msg_type") == "comm_msg"


def said_so() -> bool:
    """Whether the process that started this kernel declared an unattended run; an inherited declaration does not count."""
    parent, test = os.getppid(), os.environ.get(TEST, "")
    if os.environ.get(SIGN) == str(parent):
        return True
    if ".ipynb::" not in test:
        return False
    began = _environment(parent)
    return bool(began) and began.get(TEST) != test


def kernel() -> Any:
    """Return the kernel that runs this code; None outside a kernel."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return getattr(shell, "kernel", None)


def request() -> Mapping[str, Any] | None:
    """Return the message that the kernel is answering; None outside a kernel, {} in a kernel that does not tell."""
    running = kernel()
    if running is None:
        return None
    try:
        return dict(running.get_parent("shell"))
    except Exception:  # another kernel than ipykernel: there might be a person
        return {}


def _environment(process: int) -> Mapping[str, str]:
    """The environment with which a process was started; {} where that can't be read."""
    try:
        import psutil  # comes with ipykernel

        return dict(psutil.Process(process).environ())
    except Exception:  # no such process, no permission, or no psutil: there might be a person
        return {}


LATE = 1.0  # seconds, in which the requests of Run All arrive
WAITS = (
    "there is no decision yet. Press a button on the desk above; then select this cell, and choose Run Selected Cell and All"
    " Below. If no desk is there any more, as after a reload, views.desk() in a new cell shows it as it was"
)


class NotDecided(RuntimeError):
    """The decision was read before the reviewer decided.

    A notebook shows it as a message in the colours of a run, because the code has no fault. Only an error stops Run All.
    """

    def _render_traceback_(self) -> list[str]:
        return [LOOKS["running"].in_colour(f"The run stops here and waits for you: {self}.")]


class NobodyThere(RuntimeError):
    """A question needs a decision in an unattended run without a script."""

    def __init__(self) -> None:
        super().__init__(
            "this run is unattended, and a person must decide; run the cell in a notebook, or pass a script with"
            " the clicks: views.desk(run, tools, script=['Approve'])"
        )

    def _render_traceback_(self) -> list[str]:
        return [f"NobodyThere: {self}"]


def stop(pressed: bool) -> NoReturn:
    """Raise `NotDecided`: Run All stops here. `pressed`: a press is on its way from the page.

    A kernel drops the cells whose requests have arrived when this one ends with an error, and runs those that arrive
    a moment later: on a slow machine cells below the desk would run without its decision. So the error comes late.
    """
    if kernel() is None:
        raise NotDecided(
            "there is no decision yet, and there is no notebook here to press a button in; desk.play(['Approve'])"
            " presses the buttons of a desk from a program"
        )
    time.sleep(LATE)
    if pressed:
        raise NotDecided("a button was pressed just now, and what was typed is still arriving; run this cell again")
    more = (
        f". Is this run unattended, as in a build? Then the program that starts the kernel must set {SIGN} to its"
        f" process id, and the desk plays its script"
        if by_a_program(request() or {})
        else ""
    )
    raise NotDecided(f"{WAITS}{more}")
