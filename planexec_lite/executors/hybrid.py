"""The hybrid executor: a rule where one applies, a model otherwise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from planexec_lite.executors.direct import Executor, agent_inside, asks_models, chooses_calls, effects_of
from planexec_lite.plan import Step
from planexec_lite.tools import Effects, Toolbox, worst


def names_its_tool(step: Step) -> bool:
    """Whether the step says itself which tool to call."""
    return step.tool is not None


class HybridExecutor:
    """Chooses between two executors for each step.

    Args:
        rule: carries out the steps that a rule is enough for, such as a `ToolExecutor`.
        otherwise: carries out the others, such as a `ReActExecutor`.
        applies: says whether the rule is enough; by default it is where the step names its tool.
    """

    def __init__(self, rule: Executor, otherwise: Executor, applies: Callable[[Step], bool] = names_its_tool) -> None:
        self.rule, self.otherwise, self.applies = rule, otherwise, applies
        self.asks_models = asks_models(rule) or asks_models(otherwise)
        tools = {tool.name: tool for executor in (otherwise, rule) for tool in executor.tools}
        self.tools = Toolbox(tools.values())

    @property
    def effects(self) -> dict[str, Effects]:
        """What steps may do, by their tool, whichever executor is chosen."""
        if self.applies is names_its_tool:
            return effects_of(self.rule)
        both = [effects_of(self.rule), effects_of(self.otherwise)]
        return {name: worst(one.get(name, "none") for one in both) for name in {**both[0], **both[1]}}

    def chooses_calls(self, step: Step) -> bool:
        """Whether a model chooses the calls of `step`, where the chosen executor lets it."""
        return chooses_calls(self._chosen(step), step)

    def agent_inside(self, step: Step) -> Any:
        """The agent that carries out `step` as a run of its own, where the chosen executor does so."""
        return agent_inside(self._chosen(step), step)

    def execute(self, step: Step, inputs: Mapping[str, Any]) -> Any:
        """Return what the chosen executor returns."""
        return self._chosen(step).execute(step, inputs)

    def _chosen(self, step: Step) -> Executor:
        return self.rule if self.applies(step) else self.otherwise
