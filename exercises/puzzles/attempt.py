"""A puzzle as data, and one answer to it: a plan, perhaps with a number of slots or with limits, and its run on the kit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

from exercises.puzzles import notation
from exercises.puzzles.workshop import Workshop
from planexec_lab import views
from planexec_lab.views import Figure
from planexec_lite import Plan, PlannerExecutor, Policy, RulePlanner, Run, Simulated, ToolExecutor, execute
from planexec_lite.plan import Problem

Edge = tuple[str, str]


class Rule(NamedTuple):
    """Something that is wanted, in words; `broken` says how an attempt breaks it, "" when it does not."""

    wanted: str
    broken: Callable[[Attempt], str]


@dataclass(frozen=True)
class Puzzle:
    """A puzzle.

    Args:
        title: what it is called.
        plan: the plan as it is given; it says how long each job takes.
        rules: what is wanted; the first one that is broken is told.
        learned: one sentence, shown when the answer is right.
        needs: the jobs that have to be over before a job begins, in one text.
        baked: the jobs that take place in an oven, in one text; `ovens`: how many ovens there are.
        slots: how many steps may run at once, or the number that the answer begins with.
        limits: the limits that the answer begins with.
        asks: what an answer holds beside the plan: "slots", "limits" or nothing.
        before: the plan that was carried out first, until the job `breaks` broke off; `kept`: the ids that were done.
        graph: draw the plan as a graph, rather than its run as a timeline.
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
        """An answer to the puzzle. Raises `ValueError` or `TypeError` for one that can't be read."""
        for name, value in more.items():
            if name != self.asks:
                wanted = f"a plan and {self.asks}" if self.asks else "a plan"
                raise ValueError(f"{name}={value!r} is not asked for: an answer is {wanted} here")
        if type(more.get("slots", 1)) is not int:
            raise TypeError(f"slots={more['slots']!r}: slots are counted, as in slots=2")
        return Attempt(self, tuple(notation.lines(plan)), **({"slots": self.slots, "limits": self.limits} | more))

    @property
    def given(self) -> Attempt:
        """The answer as the notebook gives it."""
        return self.answered(self.plan)


@dataclass(frozen=True)
class Attempt:
    """One answer to a puzzle. Raises `ValueError` for a job that there is not."""

    puzzle: Puzzle
    lines: tuple[notation.Line, ...]
    slots: int
    limits: Mapping[str, int]

    @cached_property
    def shop(self) -> Workshop:
        """The world in which this answer is carried out."""
        of = self.puzzle
        return Workshop(notation.seconds(of.before + of.plan), of.needs, of.baked, of.ovens, of.breaks)

    @cached_property
    def plan(self) -> Plan:
        """The plan that was answered."""
        return self.shop.plan(self.lines)

    @cached_property
    def problems(self) -> list[Problem]:
        """Why the plan can't run; [] when it can."""
        return self.plan.problems(self.shop.tools, self.puzzle.kept.split())

    @cached_property
    def run(self) -> Run | None:
        """What happened when it was carried out; None where the plan can't run."""
        hands, workers, watch = ToolExecutor(self.shop.tools), Simulated(self.slots, self.limits), self.shop.watch
        if self.problems:
            return None
        if not self.puzzle.before:
            return execute(self.plan, hands, workers=workers, watch=watch)
        before = self.shop.plan(notation.lines(self.puzzle.before))
        # the answer may leave out any of these jobs, and is told what is missing then
        after = self.plan.changed(supersedes=tuple(step.id for step in before.steps))
        plans = iter([before, after])
        again = Policy(replan="failure", max_replans=1, max_repairs=0)
        planner = RulePlanner(lambda _: next(plans, after))
        agent = PlannerExecutor(planner, hands, workers=workers, policy=again, watch=watch)
        return agent.run(self.puzzle.title)

    @property
    def edges(self) -> set[Edge]:
        """Which job waits for which, as (the one before, the one after)."""
        job = {line.id: line.job for line in self.lines}
        return {(job.get(id, id), line.job) for line in self.lines for id in line.after}

    def with_slots(self, slots: int) -> Attempt:
        """The same answer with another number of slots."""
        return replace(self, slots=slots)

    def figure(self) -> Figure:
        """The picture of what the answer does."""
        if self.run is None or self.puzzle.graph:
            return views.graph(self.plan, durations=None if self.problems else self.plan.durations(self.shop.tools))
        return views.timeline(self.run)
