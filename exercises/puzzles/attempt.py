"""A puzzle as data, and one answer to it: a plan, perhaps with a number of slots or with limits, and its run on the kit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

from planexec_lab import views
from planexec_lab.views import Figure
from planexec_lite import Plan, PlannerExecutor, Policy, RulePlanner, Run, Simulated, ToolExecutor, execute
from planexec_lite.plan import Problem

from exercises.puzzles import notation
from exercises.puzzles.workshop import Workshop

Edge = tuple[str, str]


class Rule(NamedTuple):
    """The text of a requirement; `broken` describes how an attempt violates it, or returns ""."""

    wanted: str
    broken: Callable[[Attempt], str]


@dataclass(frozen=True)
class Puzzle:
    """A puzzle.

    Args:
        title: the name of the puzzle.
        plan: the given plan, with the duration of each job.
        rules: the requirements; the message names the first violated rule.
        learned: a sentence shown when the answer is right.
        needs: for each job, the jobs that must end before it starts, in one string.
        baked: the jobs that need an oven, in one string; `ovens`: the number of ovens.
        slots: the number of parallel steps, or the initial number in the answer.
        limits: the initial limits in the answer.
        asks: the part of an answer besides the plan: "slots", "limits" or "".
        before: the plan that ran first, until the job `breaks` failed; `kept`: the ids of its done steps.
        graph: draw the plan as a graph instead of its run as a timeline.
    """

    title: str
    plan: str
    rules: tuple[Rule, ...]
    learned: str
    needs: Mapping[str, str] = field(default_factory=dict)
    baked: str = ""
    ovens: int = 1
    slots: int = 4
    limits: Mapping[str, int] = field(default_factory=dict)
    asks: str = ""
    before: str = ""
    breaks: str = ""
    kept: str = ""
    graph: bool = False

    def answered(self, plan: str, **more: Any) -> Attempt:
        """Return an answer to the puzzle. Raises `ValueError` or `TypeError` if it can't be read."""
        for name, value in more.items():
            if name != self.asks:
                wanted = f"a plan and {self.asks}" if self.asks else "a plan"
                raise ValueError(f"unexpected argument {name}={value!r}: this puzzle takes {wanted}")
        if type(more.get("slots", 1)) is not int:
            raise TypeError(f"slots={more['slots']!r} is not a whole number: write, for example, slots=2")
        return Attempt(self, tuple(notation.lines(plan)), **({"slots": self.slots, "limits": self.limits} | more))

    @property
    def given(self) -> Attempt:
        """The initial answer in the notebook."""
        return self.answered(self.plan)


@dataclass(frozen=True)
class Attempt:
    """One answer to a puzzle. Raises `ValueError` for an unknown job."""

    puzzle: Puzzle
    lines: tuple[notation.Line, ...]
    slots: int
    limits: Mapping[str, int]

    @cached_property
    def shop(self) -> Workshop:
        """The world in which this answer runs."""
        of = self.puzzle
        return Workshop(notation.seconds(of.before + of.plan), of.needs, of.baked, of.ovens, of.breaks)

    @cached_property
    def plan(self) -> Plan:
        """The plan of this answer."""
        return self.shop.plan(self.lines)

    @cached_property
    def problems(self) -> list[Problem]:
        """The problems because of which the plan can't run."""
        return self.plan.problems(self.shop.tools, self.puzzle.kept.split())

    @cached_property
    def run(self) -> Run | None:
        """The run of the plan, or None if the plan can't run."""
        hands, workers, watch = ToolExecutor(self.shop.tools), Simulated(self.slots, self.limits), self.shop.watch
        if self.problems:
            return None
        if not self.puzzle.before:
            return execute(self.plan, hands, workers=workers, watch=watch)
        before = self.shop.plan(notation.lines(self.puzzle.before))
        # the answer can leave out any of these jobs; the rules report missing jobs
        after = self.plan.changed(supersedes=tuple(step.id for step in before.steps))
        plans = iter([before, after])
        again = Policy(replan="failure", max_replans=1, max_repairs=0)
        planner = RulePlanner(lambda _: next(plans, after))
        agent = PlannerExecutor(planner, hands, workers=workers, policy=again, watch=watch)
        return agent.run(self.puzzle.title)

    @property
    def edges(self) -> set[Edge]:
        """The dependencies between jobs, as pairs (earlier job, later job)."""
        job = {line.id: line.job for line in self.lines}
        return {(job.get(id, id), line.job) for line in self.lines for id in line.after}

    def with_slots(self, slots: int) -> Attempt:
        """Return the same answer with another number of slots."""
        return replace(self, slots=slots)

    def figure(self) -> Figure:
        """Draw the run of the answer, or its graph."""
        if self.run is None or self.puzzle.graph:
            return views.graph(self.plan, durations=None if self.problems else self.plan.durations(self.shop.tools))
        return views.timeline(self.run)
