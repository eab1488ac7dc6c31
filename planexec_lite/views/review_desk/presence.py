"""Is anybody there? A script plays only where somebody says that nobody is, and everything else is a person.

A mistake in one direction is a plan approved by a script under the eyes of a person, in the other a notebook that stops
with a sentence in it. So silence is no sign. Voila shows a notebook to a person with the very requests with which nbclient
runs it in a build, and a script that starts JupyterLab is no sign that nobody sits before it.

The sign is given by the process that starts the kernel, and counts for that kernel only:

- ``PLANEXEC_NOBODY`` holds the id of the process that starts the kernel: ``.ci/notebooks.py`` sets it, and in a shell
  ``sh -c 'PLANEXEC_NOBODY=$$ exec jupyter execute lesson.ipynb'`` does. A server that inherits it is another process.
- pytest names the test that it is about to run. A cell of a notebook under nbval is such a test, and nbval starts the
  kernel itself: the name is in the kernel's environment, and not in the one with which its parent was started.

What a kernel was seen to know (ipykernel 7.4):

=====================================  ===========  ======  =====  ================================
who runs the cell                      allow_stdin  cellId  views  what its parent process is
=====================================  ===========  ======  =====  ================================
JupyterLab 4.6, Notebook 7.6           true         yes     1      the server
nbclassic 1.3                          true         no      1      the server
Voila 0.5                              false        no      1      the server
nbclient, nbconvert, papermill         false        no      0      the program, or a server in it
nbval 0.11                             false        no      0      pytest, or one of its workers
=====================================  ===========  ======  =====  ================================

One sign of a person outweighs the sign that there is none.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any

SIGN = "PLANEXEC_NOBODY"
TEST = "PYTEST_CURRENT_TEST"


def nobody(views: int | None) -> bool:
    """Whether nobody can see or press anything, and the process that started this kernel says so.

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
    """Whether the process that started this kernel has given the sign; one that it inherited itself is none."""
    parent, test = os.getppid(), os.environ.get(TEST, "")
    if os.environ.get(SIGN) == str(parent):
        return True
    if ".ipynb::" not in test:
        return False
    began = _environment(parent)
    return bool(began) and began.get(TEST) != test


def kernel() -> Any:
    """Return the kernel that runs this code, None outside of one."""
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
    except Exception:  # another kernel than ipykernel: nothing is known, so a person may be there
        return {}


def _environment(process: int) -> Mapping[str, str]:
    """The environment with which a process was started; {} where that can't be read."""
    try:
        import psutil  # comes with ipykernel

        environment: dict[str, str] = psutil.Process(process).environ()
    except Exception:  # none such, not ours to read, no psutil: nothing is known, so a person may be there
        return {}
    return environment
