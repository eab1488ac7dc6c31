"""Two ways of working towards the same goal, and what is counted of them: calls of models, seconds, dollars, success.

Bounds are wide, so that no bound decides; planning has four slots, and an evaluator that costs nothing. Both sides have the same
model, unless the case is about models.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

from planexec_lab.scoreboard.assumptions import SLOTS, STRONG, dollars
from planexec_lab.variations import react as one_at_a_time
from planexec_lab.views.drawing.wording import listed
from planexec_lab.worlds.minds import as_expected
from planexec_lite.agent import PlannerExecutor
from planexec_lite.assembly import Policy
from planexec_lite.core.executors import ToolExecutor
from planexec_lite.roles.evaluators import RuleEvaluator
from planexec_lite.roles.planners import LLMPlanner, RulePlanner
from planexec_lite.roles.react import ReActExecutor
from planexec_lite.roles.reviewers import Reviewer
from planexec_lite.run import Run
from planexec_lite.tools import Toolbox
from planexec_lite.workers import Simulated

Winner = Literal["planning", "the other side", "tie"]
WHOLE, REACT, STEPWISE = "a plan", "ReAct", "a step at a time"
WIDE = Policy(replan="failure", max_replans=40, max_rounds=80)
NEAR = 0.1  # a difference below a tenth does not count: the script's choice of words could cause it


def whole(client: Any, tools: Toolbox, goal: str, *, policy: Policy = WIDE, reviewer: Reviewer | None = None) -> Run:
    """Plan everything ahead, check each result against what the plan took for granted, and plan the rest again on a surprise."""
    planner, evaluator = LLMPlanner(client, STRONG), RuleEvaluator(as_expected)
    return PlannerExecutor(
        planner, ToolExecutor(tools), evaluator=evaluator, reviewer=reviewer, policy=policy, workers=Simulated(SLOTS)
    ).run(goal)


def stepwise(client: Any, tools: Toolbox, goal: str, *, reviewer: Reviewer | None = None) -> Run:
    """Ask the planner for one step at a time: a planner whose horizon is one step."""
    agent = one_at_a_time(client, tools, Simulated(SLOTS))
    return replace(agent, reviewer=reviewer, policy=WIDE).run(goal)


def react(client: Any, tools: Toolbox, goal: str) -> Run:
    """Let one agent think, act and observe until the goal is reached: the goal is one task of a ReAct executor."""
    executor = ReActExecutor(client, tools, STRONG, max_iterations=60)
    return PlannerExecutor(RulePlanner(_one_task), executor, workers=Simulated(SLOTS)).run(goal)


def _one_task(goal: str) -> list[dict[str, str]]:
    return [{"id": "1", "description": goal}]


@dataclass(frozen=True)
class Side:
    """One side of a case: its runs, whether it reached the goal in the world, and the case's special measure.

    Args:
        way: its way of working, in a few words.
        runs: its runs in order.
        succeeded: whether the world shows the goal as reached, independent of the run's own status.
        own: the case's special measure, smaller is better; None if the case has none.
    """

    way: str
    runs: tuple[Run, ...]
    succeeded: bool
    own: float | None = None

    @property
    def calls(self) -> int:
        """How often a model was called."""
        return sum(run.usage.calls for run in self.runs)

    @property
    def seconds(self) -> float:
        """How long the runs took, on their virtual clock."""
        return math.fsum(run.makespan for run in self.runs)

    @property
    def dollars(self) -> float:
        """Cost of the calls in US dollars."""
        return math.fsum(dollars(run.board.calls) for run in self.runs)

    @property
    def numbers(self) -> tuple[float, float, float]:
        """Calls, seconds and dollars: what is counted in every case, the less the better."""
        return self.calls, self.seconds, self.dollars


@dataclass(frozen=True)
class Case:
    """Both sides of a case.

    Args:
        name: what is compared.
        planning: the side of the planner and the executor.
        other: what the sources would do instead.
        measure: what `Side.own` counts; "" where calls, seconds and dollars decide.
    """

    name: str
    planning: Side
    other: Side
    measure: str = ""

    @property
    def better(self) -> dict[str, Winner]:
        """The better side by each number; a difference below a tenth does not count."""
        pairs = zip(self.planning.numbers, self.other.numbers, strict=True)
        return {name: _less(*pair) for name, pair in zip(("calls", "seconds", "dollars"), pairs, strict=True)}

    @property
    def verdict(self) -> Winner:
        """The only side that succeeded; else the better side by the special measure, else by most numbers."""
        if self.planning.succeeded != self.other.succeeded:
            return "planning" if self.planning.succeeded else "the other side"
        if self.planning.own is not None and self.other.own is not None:
            return _less(self.planning.own, self.other.own)
        won = [*self.better.values()]
        return _less(won.count("the other side"), won.count("planning"))

    @property
    def by(self) -> str:
        """The reason for the verdict."""
        if self.planning.succeeded != self.other.succeeded:
            return "success"
        if self.measure:
            return self.measure
        leads = {
            side: listed(name for name, winner in self.better.items() if winner == side)
            for side in ("planning", "the other side")
        }
        if self.verdict == "tie":
            return " against ".join(filter(None, leads.values())) or "no difference"
        return leads[self.verdict]


def measured(case: Case, name: str, measure: str, count: Callable[[Side], float]) -> Case:
    """Return the same runs as another case, `name`, with a special measure that `count` reads off a side."""
    planning, other = (replace(side, own=count(side)) for side in (case.planning, case.other))
    return Case(name, planning, other, measure)


def _less(planning: float, other: float) -> Winner:
    if abs(planning - other) <= NEAR * max(planning, other):
        return "tie"
    return "planning" if planning < other else "the other side"
