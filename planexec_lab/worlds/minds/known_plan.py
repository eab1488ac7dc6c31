"""A mind that knows one plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from planexec_lab.worlds.minds.mind import Act, Answer, Expectation, Later, Seen, again
from planexec_lite.plan import Plan
from planexec_lite.tools import Toolbox, references


class PlanMind:
    """Knows one plan, and nothing else: in every role it says of the plan what is still to be done.

    Args:
        plan: in any shape that `Plan.parse` reads.
        tools: those that the plan calls; a lone ``input`` is given to the parameter that it is for.
        answer: what it says when all is done.
    """

    def __init__(self, plan: Any, tools: Toolbox, answer: str = "Done.") -> None:
        read = Plan.parse(plan)
        steps = [step.model_copy(update={"params": tools[str(step.tool)].bind(step.params)}) for step in read.steps]
        self.plan, self.answer = read.changed(steps=tuple(steps)), answer

    def next(self, seen: Sequence[Seen]) -> Act | Answer:
        """Return the first step whose call has no result yet, with the results of those before it."""
        results: dict[str, Any] = {}
        left = [one for one in seen if not one.failed]
        for step in self.plan.steps:
            params = references.resolve(step.params, results)
            done = next((one for one in left if (one.tool, one.params) == (step.tool, params)), None)
            if done is None:
                return Act(step.description, str(step.tool), params)
            left.remove(done)
            results[step.id] = done.result
        return Answer(self.answer)

    def expects(self, act: Act, later: Later) -> Expectation:
        """Return what is taken for granted: nothing."""
        return Expectation(later)

    def rest(self, seen: Mapping[str, Seen]) -> Plan:
        """Return the plan without the steps that are done, by what was `seen` of each id."""
        left = [step for step in self.plan.steps if step.id not in seen or seen[step.id].failed]
        words = [again(step.description, str(step.tool), [seen[step.id]] if step.id in seen else []) for step in left]
        steps = [step.model_copy(update={"description": why}) for step, why in zip(left, words, strict=True)]
        return self.plan.changed(steps=tuple(steps), answer=self.answer)
