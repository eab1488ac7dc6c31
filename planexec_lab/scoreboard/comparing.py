"""Two ways of working towards the same goal: the agents, and which of two rows is better.

Bounds are wide, so that no bound decides; planning has four slots, and an evaluator that costs nothing. Both sides have the same
model, unless the case is about models.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

from planexec_lab.scoreboard.assumptions import SLOTS, STRONG
from planexec_lab.scoreboard.trials import Row
from planexec_lab.variations import react
from planexec_lab.views.drawing.wording import listed
from planexec_lab.worlds.minds import as_expected
from planexec_lite.agent import PlannerExecutor
from planexec_lite.assembly import Policy
from planexec_lite.capabilities.stepping import ToolExecutor
from planexec_lite.roles.evaluators import RuleEvaluator
from planexec_lite.roles.planners import LLMPlanner, RulePlanner
from planexec_lite.roles.react import ReActExecutor
from planexec_lite.roles.reviewers import Reviewer
from planexec_lite.run import Run
from planexec_lite.tools import Toolbox
from planexec_lite.workers import Simulated

Winner = Literal["planning", "the other side", "tie"]
WIDE = Policy(replan="failure", max_replans=40, max_rounds=80)
NEAR = 0.1  # a difference below a tenth does not count: the script's choice of words could cause it
COUNTED = ("calls", "seconds", "dollars")  # in every case, the less the better


def plans_ahead(
    client: Any, tools: Toolbox, policy: Policy = WIDE, reviewer: Reviewer | None = None
) -> PlannerExecutor:
    """An agent that plans everything, checks each result against what the plan assumed, and replans on a surprise."""
    return PlannerExecutor(
        LLMPlanner(client, STRONG),
        ToolExecutor(tools),
        evaluator=RuleEvaluator(as_expected),
        reviewer=reviewer,
        policy=policy,
        workers=Simulated(SLOTS),
    )


def plans_a_step(client: Any, tools: Toolbox, reviewer: Reviewer | None = None) -> PlannerExecutor:
    """An agent whose planner is asked for one step at a time: its horizon is one step."""
    return replace(react(client, tools, Simulated(SLOTS)), reviewer=reviewer, policy=WIDE)


def plans_nothing(client: Any, tools: Toolbox) -> PlannerExecutor:
    """An agent that thinks, acts and observes until the goal is reached: the goal is one task of a ReAct executor."""
    executor = ReActExecutor(client, tools, STRONG, max_iterations=60)
    return PlannerExecutor(RulePlanner(_one_task), executor, workers=Simulated(SLOTS))


def _one_task(goal: str) -> list[dict[str, str]]:
    return [{"id": "1", "description": goal}]


@dataclass(frozen=True, slots=True)
class Case:
    """Both sides of a case.

    Args:
        name: what is compared.
        planning: the row of the planner and the executor.
        other: the row of what the sources would do instead.
        measure: the case's special measure; "" where calls, seconds and dollars decide.
        measured: the special measure of both sides, smaller is better; None if the case has none.
    """

    name: str
    planning: Row
    other: Row
    measure: str = ""
    measured: tuple[float, float] | None = None

    def by_measure(self, name: str, measure: str, count: Callable[[Run], float]) -> Case:
        """Return the same runs as another case, `name`, decided by a special measure that `count` reads off a run."""
        return Case(name, self.planning, self.other, measure, (count(self.planning.run), count(self.other.run)))

    @property
    def better(self) -> dict[str, Winner]:
        """The better side by each number; a difference below a tenth does not count."""
        sides = self.planning.figures, self.other.figures
        return {name: _less(*(getattr(side, name) for side in sides)) for name in COUNTED}

    @property
    def verdict(self) -> Winner:
        """The only side that reached the goal; else the better side by the special measure, else by most numbers."""
        if self.planning.reached != self.other.reached:
            return "planning" if self.planning.reached else "the other side"
        if self.measured is not None:
            return _less(*self.measured)
        won = [*self.better.values()]
        return _less(won.count("the other side"), won.count("planning"))

    @property
    def by(self) -> str:
        """The reason for the verdict."""
        if self.planning.reached != self.other.reached:
            return "success"
        if self.measure:
            return self.measure
        leads: dict[Winner, str] = {}
        for side in ("planning", "the other side"):
            leads[side] = listed(name for name, winner in self.better.items() if winner == side)
        if self.verdict == "tie":
            return " against ".join(filter(None, leads.values())) or "no difference"
        return leads[self.verdict]


def _less(planning: float, other: float) -> Winner:
    if abs(planning - other) <= NEAR * max(planning, other):
        return "tie"
    return "planning" if planning < other else "the other side"
