"""Which tools were called in a run, read off its events, whoever decided it."""

from __future__ import annotations

from planexec_lite import Run
from planexec_lite import events as e


def called(run: Run) -> list[str]:
    """The tools of the steps that were done, and of an agent inside a step, in order."""
    tools: dict[str, str | None] = {}
    made: list[str] = []
    for event in run.events:
        match event:
            case e.PlanProposed(plan=plan) if plan is not None:
                tools |= {step.id: step.tool for step in plan.steps}
            case e.Inside(event=e.Action(tool=tool)):
                made.append(tool)
            case e.StepDone(step=id) if tool := tools[id]:
                made.append(tool)
    return made
