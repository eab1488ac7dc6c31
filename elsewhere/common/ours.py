"""Code of ours that several programs need because their framework does not do it. The suite counts the tagged lines."""

from graphlib import CycleError, TopologicalSorter

from pydantic import BaseModel, model_validator
from shop import STATE, Plan, World, call

INVALID = "this plan can't be carried out"
UNDO = {"deploy_staging": "rollback_staging", "deploy_production": "rollback_production"}


class CheckedPlan(Plan):
    """A plan that can't be built with an unknown tool or a cycle."""

    @model_validator(mode="after")  # ours: valid, bad_edit
    def check(self):  # ours: valid, bad_edit
        if unknown := [step.tool for step in self.steps if step.tool not in World.TOOLS]:  # ours: valid, bad_edit
            raise ValueError(f"{INVALID}: there is no tool {unknown[0]}")  # ours: valid, bad_edit
        try:  # ours: valid, bad_edit
            TopologicalSorter({step.id: step.depends_on for step in self.steps}).prepare()  # ours: valid, bad_edit
        except CycleError as error:  # ours: valid, bad_edit
            raise ValueError(f"{INVALID}: the cycle {error.args[1]}") from None  # ours: valid, bad_edit
        return self  # ours: valid, bad_edit


class Answer(BaseModel):
    """The person's answer: yes or no, and perhaps an edited plan."""

    yes: bool
    plan: CheckedPlan | None = None


def begun_before(step):
    """Note that a step begins. Return whether it must run at most once and an earlier process had begun it."""
    mark = STATE / f"begun-{step.id}"  # ours: once
    before = mark.exists()  # ours: once
    mark.touch()  # ours: once
    return before and World.TOOLS[step.tool][1] == "once"  # ours: once


def roll_back(done):
    """Undo completed steps in reverse order; `done` has the results of `run_step` in the order in which they came."""
    for result in reversed(done):  # ours: undo
        if (tool := result.split(":")[0]) in UNDO:  # ours: undo
            call(UNDO[tool])  # ours: undo
