"""A dry run: the plan is carried out on a copy of the world and on a virtual clock, and the world is left as it is.

The copy is what `Toolbox.copied` returns. Whoever declares it answers for it: what a tool does outside of what was copied,
it does for real.
"""

from __future__ import annotations

from collections.abc import Collection

from planexec_lite.executors import ToolExecutor
from planexec_lite.loop import execute
from planexec_lite.loop.run import Run
from planexec_lite.plan import Plan
from planexec_lite.references import find
from planexec_lite.tools import Toolbox
from planexec_lite.views.drawing.wording import listed
from planexec_lite.workers import Simulated


def obstacle(plan: Plan, toolbox: Toolbox, done: Collection[str] = ()) -> str:
    """Return in words why the plan can't be tried without touching the world; "" where it can."""
    if toolbox.copied is None:
        return "No dry run: these tools change a world that can't be copied (a toolbox is given `copied` for that)."
    if open_ := [step.id for step in plan.steps if step.tool is None]:
        steps = "step" if len(open_) == 1 else "steps"
        return f"No dry run: the executor chooses the tool of {steps} {listed(open_)}, and only it knows which."
    if used := dict.fromkeys(one.step for step in plan.steps for one in find(step.params) if one.step in done):
        return f"No dry run: the results of {listed(used)}, which are done already, are not on the desk."
    return ""


def dry_run(plan: Plan, toolbox: Toolbox, done: Collection[str] = ()) -> Run:
    """Carry the plan out on a copy of the world, with as many workers as it can use; gates are taken as opened.

    Raises `ValueError` where that is not possible; `obstacle` says why beforehand. A plan that is not fit raises
    `PlanError`.
    """
    if toolbox.copied is None or (why := obstacle(plan, toolbox, done)):
        raise ValueError(why if toolbox.copied is not None else obstacle(plan, toolbox, done))
    waits = {step.id: tuple(id for id in step.depends_on if id not in done) for step in plan.steps}
    steps = (step.model_copy(update={"gate": False, "depends_on": waits[step.id]}) for step in plan.steps)
    tried = plan.changed(steps=tuple(steps))
    return execute(tried, ToolExecutor(toolbox.copied()), workers=Simulated())
