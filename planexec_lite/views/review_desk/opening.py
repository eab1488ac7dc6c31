"""Opening a desk in one cell, and finding it again in another."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, overload

from planexec_lite.events import PlanProposed
from planexec_lite.executors import Executor, ToolExecutor
from planexec_lite.loop.run import Run
from planexec_lite.plan import Plan, Step
from planexec_lite.tools import Toolbox
from planexec_lite.views.review_desk.script import Gesture
from planexec_lite.views.review_desk.undecided import NotDecided
from planexec_lite.views.review_desk.widget import Review

_last: list[Review] = []


@overload
def desk() -> Review: ...
@overload
def desk(
    plan: Plan | Run,
    toolbox: Toolbox | Executor,
    *,
    done: Collection[str] = ...,
    script: Sequence[Gesture] | None = ...,
    before: Plan | None = ...,
    by: str = ...,
) -> Review: ...
def desk(plan: Plan | Run | None = None, toolbox: Toolbox | Executor | None = None, **more: Any) -> Review:
    """Open a desk for a plan: one cell shows it, and the next one reads the decision, when it is made.

    ::

        desk = views.desk(plan, tools)
        desk

        decision = desk.decision     # in the next cell

    It works in every notebook, and nothing waits: Run All stops at the cell that reads the decision. ``views.desk()``
    alone is the desk that was opened last and is not decided yet, as it stands, edits and all: show it in a new cell
    when its output is gone, as after the page was loaded again. A kernel that was restarted knows none.

    Args:
        plan: the plan to review, valid or not; only a valid one can be approved. Or a run that is paused: for its
            plan, with what is done and what the planner changed; before a gate, about a step in doubt, or for more budget,
            with the board as it stands.
        toolbox: the tools that its steps may call; or the executor, which has them, and says for which steps a model chooses
            the calls.
        done: ids of the steps that are done already, and may be waited for.
        script: what is pressed and typed where nobody is there, such as ``[("3: tag", "v2.3.2"), "Remove 8",
            "Approve"]``. It is played only if the process that started the kernel says so; see `presence`.
        before: the plan of the round before; what was changed since is listed.
        by: who sits at the desk; the decision carries the name.

    Raises `NotDecided` without arguments if no desk is open, and `TypeError` for a plan without tools.
    """
    if plan is None:
        if toolbox is not None or more:
            raise TypeError("views.desk(plan, tools) opens a desk; views.desk() finds the one that is open")
        latest = next((one for one in reversed(_last) if not one.closed), None)
        if latest is None:
            raise NotDecided(
                "no desk is open in this kernel: none was shown, the last one is decided, or the kernel was restarted;"
                " run the cell with views.desk(plan, tools) again"
            )
        return latest
    if toolbox is None:
        raise TypeError("views.desk(plan, tools): the tools are missing; they say what each step does to the world")
    return _opened(plan, toolbox, **more)


def _opened(shown: Plan | Run, toolbox: Toolbox | Executor, **more: Any) -> Review:
    made = Review(shown, toolbox, **more) if isinstance(shown, Plan) else _of_run(shown, toolbox, **more)
    _last[:] = [*(one for one in _last if not one.closed), made]
    return made


class _WithModels(ToolExecutor):
    """Stands for the executor of a run whose steps may ask models, where the desk was given the tools alone."""

    def chooses_calls(self, step: Step) -> bool:
        return step.tool is None


def _of_run(
    run: Run, toolbox: Toolbox | Executor, *, done: Any = (), before: Plan | None = None, **more: Any
) -> Review:
    """The desk for what a paused run waits for."""
    board = run.board
    if isinstance(toolbox, Toolbox) and board.models_in_steps:
        toolbox = _WithModels(toolbox)
    if board.paused is None:
        raise ValueError(f"this run does not wait for a decision: it is {run.status}")
    at = run if board.paused.gate else None
    finished = dict.fromkeys([*board.results, *done])
    plans = [event.plan for event in run.events if isinstance(event, PlanProposed) and event.plan is not None]
    if before is None and plans[:-1]:
        before = plans[-2].changed(steps=tuple(step for step in plans[-2].steps if step.id not in finished))
    return Review(board.proposal or board.plan, toolbox, done=tuple(finished), before=before, run=at, **more)
