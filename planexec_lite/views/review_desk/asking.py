"""Asking a person about a plan, in one cell: show the desk, wait without blocking, hand back the decision."""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence
from typing import Any

from planexec_lite.plan import Plan
from planexec_lite.reviewers import Decision
from planexec_lite.tools import Toolbox
from planexec_lite.views.review_desk.desk import Review
from planexec_lite.views.review_desk.presence import nobody_there
from planexec_lite.views.review_desk.script import Gesture


class NobodyThere(RuntimeError):
    """A plan is to be reviewed, a program runs the cell, and there is no script to do it with."""


async def review(
    plan: Plan,
    toolbox: Toolbox,
    *,
    done: Collection[str] = (),
    timeout: float | None = None,
    script: Sequence[Gesture] | None = None,
    before: Plan | None = None,
) -> Decision:
    """Show a plan for review, wait for the person before it, and return the decision: ``await review(plan, tools)``.

    Where a program runs the cell (nbval, nbclient, `jupyter execute`) nobody can press anything: then the `script` does
    it, on the same controls. In the session of a person the script is never used.

    Args:
        plan: the plan to review, fit to run or not; only a fit one can be approved.
        toolbox: the tools that its steps may call.
        done: ids of the steps that are done already, and may be waited for.
        timeout: seconds to wait for the person; None: as long as it takes. Interrupting the kernel ends the wait too.
        script: the gestures of the scripted twin, such as ``[("3: tag", "v2.3.2"), "Remove 8", "Approve"]``.
        before: the plan of the round before; what was changed since is listed.

    Raises `TimeoutError` when nobody decides in time, `NobodyThere` where nobody is there and there is no script, and
    `ScriptError` for a script that can't be played to a decision. None of them approves anything.
    """
    desk = Review(plan, toolbox, done=done, before=before)
    if "IPython" in sys.modules:
        import IPython.display

        show: Any = IPython.display.display
        show(desk)
    if not await nobody_there(lambda: desk.views):
        return await desk.wait(timeout)
    if script is None:
        raise NobodyThere(
            "a program runs this cell, so nobody can review the plan; run it in a notebook, or give a script of"
            " gestures: review(plan, tools, script=['Approve'])"
        )
    desk.play(script)
    return desk.decision
