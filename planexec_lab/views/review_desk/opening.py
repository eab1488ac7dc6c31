"""Opening a desk in one cell, and finding it again in another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

from planexec_lab.views.review_desk.presence import NotDecided
from planexec_lab.views.review_desk.questions import Sheet
from planexec_lab.views.review_desk.script import Gesture
from planexec_lab.views.review_desk.widget import Review
from planexec_lite.plan import Plan
from planexec_lite.run import Run
from planexec_lite.tools import Toolbox

_open: list[Review] = []


@overload
def desk() -> Review: ...
@overload
def desk(shown: Plan | Run, toolbox: Toolbox, *, script: Sequence[Gesture] | None = ..., by: str = ...) -> Review: ...
def desk(
    shown: Plan | Run | None = None,
    toolbox: Toolbox | None = None,
    *,
    script: Sequence[Gesture] | None = None,
    by: str = "reviewer",
) -> Review:
    """Open a desk for a question: one cell shows it, and the next cell reads the decision.

    ::

        desk = views.desk(run, tools)
        desk

        decision = desk.decision     # in the next cell

    It works in every notebook without waiting: Run All stops at the cell that reads the decision. ``views.desk()``
    without arguments returns the latest undecided desk with all its edits: show it in a new cell when its output is gone,
    for example after the page was reloaded. After a restart of the kernel no desk is open. While a cell runs, presses and
    texts wait for its end.

    Args:
        shown: a paused run: the desk shows the question that it asks, and its board. Or a plan to review, valid or not; only
            a valid plan can be approved. The decision about it answers the first question of a run that asks about this plan.
        toolbox: the tools that the plan's steps can call.
        script: the buttons and fields to use in automated tests, such as ``[("3: tag", "v2.3.2"), "Remove 8",
            "Approve"]``. It is played only if the process that started the kernel asks for it; see `presence`.
        by: the reviewer's name, which the decision carries.

    Raises `NotDecided` without arguments if no desk is open, `TypeError` for a plan without tools, and `ValueError` for a run
    that is not paused.
    """
    _open[:] = [one for one in _open if not one.decided]
    if shown is None:
        if not _open:
            raise NotDecided(
                "no desk is open in this kernel: none was shown, the last one is decided, or the kernel was restarted;"
                " run the cell with views.desk(run, tools) again"
            )
        return _open[-1]
    if toolbox is None:
        raise TypeError("views.desk(run, tools): the tools are missing; they say what each step does to the world")
    sheet = Sheet.of_plan(shown, toolbox) if isinstance(shown, Plan) else Sheet.of_run(shown, toolbox)
    _open.append(Review(sheet, script, by))
    return _open[-1]
