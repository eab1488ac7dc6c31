"""Injected faults with a seeded random generator: a flaky tool, a wrong first plan, a surprise that no plan knows."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, Literal

from planexec_lab.worlds.flaky import flaky, guarded
from planexec_lite.plan import Plan, Step
from planexec_lite.tools import Tool, Toolbox

Kind = Literal["flaky tool", "wrong first plan", "late surprise"]
CLEAR = Step(id="clear", description="Clear the way", tool="clear_the_way")
"""The step that a surprise makes necessary."""
IN_THE_WAY = "something is in the way; call clear_the_way first"


@dataclass(frozen=True, slots=True)
class Faults:
    """A run's faults. The same seed gives the same faults to every variation.

    Args:
        kind: "flaky tool": any call can fail before it has an effect, and succeeds when it is retried. "wrong first plan":
            the first plan depends on a missing step, or lacks its last step. "late surprise": one tool of the plan's second
            half fails until another tool, which no plan knows, was called. None: no fault.
        rate: probability from 0 to 1, for each call of a flaky tool, each plan or each run.
        seed: seeds the generator together with the call, so the order of the calls does not matter.
    """

    kind: Kind | None = None
    rate: float = 0.0
    seed: int = 0

    def tools(self, tools: Toolbox, plan: Plan) -> Toolbox:
        """The tools of a world with these faults."""
        if self.kind == "flaky tool":
            return flaky(tools, self.rate, self.seed)
        if self.kind != "late surprise":
            return tools
        obstacle = _Obstacle(self._late(plan) if self._strikes() else None)
        clear = Tool(obstacle.clear_the_way, latency=1.0, effects="none")
        return Toolbox([*(guarded(tool, obstacle.check) for tool in tools), clear])

    def wrong_plan(self, number: int = 1) -> Literal["dangling dependency", "missing step"] | None:
        """The fault of the first plan, or of the plan of voter `number`: one kind makes it invalid, the other leaves it valid."""
        if self.kind != "wrong first plan" or not self._strikes(number):
            return None
        return "dangling dependency" if self._chance("invalid", number) < 0.5 else "missing step"

    def _chance(self, *of: object) -> float:
        return Random(json.dumps([self.seed, *map(str, of)])).random()

    def _strikes(self, number: int = 1) -> bool:
        return self._chance(self.kind, number) < self.rate

    def _late(self, plan: Plan) -> str | None:
        """The tool of a step of the second half of the plan."""
        half = plan.steps[len(plan.steps) // 2 :]
        return half[int(self._chance("which") * len(half))].tool


NO_FAULTS = Faults()


class _Obstacle:
    """Blocks one tool of the world until it is cleared."""

    def __init__(self, tool: str | None) -> None:
        self.tool = tool

    def check(self, name: str, params: Mapping[str, Any]) -> None:
        if name == self.tool:
            raise RuntimeError(IN_THE_WAY)

    def clear_the_way(self) -> str:
        """Clear what is in the way."""
        self.tool = None
        return "The way is clear."
