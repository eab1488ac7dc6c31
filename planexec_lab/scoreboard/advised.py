"""The advice: every row of the sources' tables on when to plan, with the case that tests it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from planexec_lab.scoreboard import advice_cases
from planexec_lab.scoreboard.comparing import Case

NOTES, ARTICLE, REFERENCE = "notes", "article", "reference"
"""The sources: "Planner-Executor Pattern (interview notes)", "The Planner-Executor pattern explained", and "Planner-Executor
architecture"; the other two have no such table."""


class Advice(NamedTuple):
    """A row of a source's table in our words: whether it recommends planning, and the case that tests it."""

    source: str
    plan: bool
    words: str
    case: Callable[[], Case]


class Verdict(NamedTuple):
    """An advice with what came of it."""

    advice: Advice
    case: Case

    @property
    def holds(self) -> bool:
        """Whether the case bears the advice out; where it says not to plan, a tie is enough."""
        return self.advice.plan == (self.case.verdict == "planning")


ADVICE = (
    Advice(NOTES, True, "strong planning, cheap execution", advice_cases.team),
    Advice(NOTES, True, "several executors in parallel", advice_cases.dinner),
    Advice(NOTES, True, "an executor for several planners", advice_cases.twice),
    Advice(NOTES, False, "a simple task of one step", advice_cases.trivial),
    Advice(NOTES, False, "plan and work tightly coupled", advice_cases.bisection),
    Advice(ARTICLE, True, "a complex task of many steps", advice_cases.report),
    Advice(ARTICLE, True, "the order matters", advice_cases.order),
    Advice(ARTICLE, True, "failure has consequences", advice_cases.order),
    Advice(ARTICLE, True, "a person oversees it", advice_cases.asked),
    Advice(ARTICLE, True, "steps can run in parallel", advice_cases.release),
    Advice(ARTICLE, True, "a rollback might be needed", advice_cases.broken),
    Advice(ARTICLE, False, "a simple task", advice_cases.trivial),
    Advice(ARTICLE, False, "exploratory work", advice_cases.exploration),
    Advice(ARTICLE, False, "the number of steps is unknown", advice_cases.exploration),
    Advice(ARTICLE, False, "interactive, a conversation", advice_cases.booking),
    Advice(REFERENCE, True, "steps are hard to list up front", advice_cases.gap),
    Advice(REFERENCE, True, "a person approves beforehand", advice_cases.unseen),
    Advice(REFERENCE, True, "each step can be validated alone", advice_cases.retried),
    Advice(REFERENCE, True, "an audit: what was done, and why", advice_cases.audited),
    Advice(REFERENCE, True, "replanning on failure matters", advice_cases.mended),
    Advice(REFERENCE, False, "one call or ReAct is enough", advice_cases.trivial),
    Advice(REFERENCE, False, "latency is critical", advice_cases.first),
    Advice(REFERENCE, False, "the plan would be trivial", advice_cases.one_step),
    Advice(REFERENCE, False, "exploratory, not to be planned", advice_cases.exploration),
    Advice(REFERENCE, False, "tools too unreliable for a plan", advice_cases.unreliable),
)
"""All rows of these tables."""


def tried(advice: Iterable[Advice] = ADVICE) -> tuple[Verdict, ...]:
    """Carry out every case, once each, on the scripted model and a virtual clock, and return a verdict on each advice."""
    advice = tuple(advice)
    carried_out = {case: case() for case in dict.fromkeys(one.case for one in advice)}
    return tuple(Verdict(one, carried_out[one.case]) for one in advice)
