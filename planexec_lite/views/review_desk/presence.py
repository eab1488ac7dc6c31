"""Is anybody there? What a kernel can know about who asked for a cell. No widgets here.

A mistake in one direction is a plan approved by a script under the eyes of a person, in the other a cell that waits for
ever in a build. What was measured, with ipykernel 7.4:

=========================================  ===========  ======  =========================
who runs the cell                          allow_stdin  cellId  views of the widget
=========================================  ===========  ======  =========================
JupyterLab 4.6 in Chromium                 true         yes     1, after 0.06 to 0.26 s
nbclient 0.11, `jupyter execute`           false        no      none, ever
nbval 0.11                                 false        no      none, ever
=========================================  ===========  ======  =========================

JupyterLab was the same in all its four windowing modes, for a cell at the end of a long notebook too. `allow_stdin` and
``cellId`` come with the request itself, so they are known at once, however slow or far scrolled the page is: one of them
is enough to say that a person may be there. Where both are missing, a front end still has a second to show the widget
(``_view_count``, which starts at 0, is counted by the front end). Only when all three are silent nobody is there.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Mapping
from typing import Any

GRACE = 1.0  # seconds in which a front end that does not say what it can do may show the widget


def nobody(views: int | None, asked: Mapping[str, Any] | None) -> bool:
    """Whether a program ran this cell, so that no person can see or press anything.

    Args:
        views: how many views of the widget the front end has reported.
        asked: the request that runs the cell, as `request` returns it.
    """
    if asked is None:
        return True
    if views or asked.get("msg_type") != "execute_request":
        return False
    asks = asked.get("content", {}).get("allow_stdin", True)
    return not asks and "cellId" not in asked.get("metadata", {})


async def nobody_there(views: Callable[[], int | None], grace: float = GRACE) -> bool:
    """Like `nobody`, for a widget that was shown just now: before it says yes it gives a front end time to answer."""
    waited = 0.0
    while nobody(views(), asked := request()):
        if waited >= grace or asked is None:
            return True
        await asyncio.sleep(0.05)
        waited += 0.05
    return False


def request() -> Mapping[str, Any] | None:
    """Return the message that the kernel is answering; None outside a kernel, {} in a kernel that does not tell."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    kernel = getattr(shell, "kernel", None)
    if kernel is None:
        return None
    try:
        return dict(kernel.get_parent("shell"))
    except Exception:  # another kernel than ipykernel: nothing is known, so a person may be there
        return {}
