"""A world whose calls can fail or be interrupted, and that keeps their idempotency keys."""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from planexec_lite import Journal, PlannerExecutor, Tool, Toolbox
from planexec_lite.meter import idempotency_key
from tests.core.agents import agent_for
from tests.core.shapes import step

ALONE = [step("1", None, description="A")]


@dataclass
class World:
    """Lists the calls in order. The call `cut` raises `problem` once, before or after it is made; `broken` ones always fail."""

    done: list[str] = field(default_factory=list)
    keys: dict[str, set[str | None]] = field(default_factory=dict)
    cut: str = ""
    after: bool = False
    problem: Any = KeyboardInterrupt
    broken: Collection[str] = ()

    @property
    def tools(self) -> Toolbox:

        def take_back(name: str) -> str:
            return self.note(f"undo {name}")

        undos = [Tool(take_back, effects="idempotent"), Tool(take_back, name="refund", effects="once")]
        kinds: dict[str, Any] = {"look": "none", "put": "idempotent", "pay": "once", "mail": "unknown"}
        latency = {"look": 2.0, "mail": 9.0}
        made = [Tool(self.note, name=name, effects=kinds[name], latency=latency.get(name, 1.0)) for name in kinds]
        return Toolbox([*made, *undos])

    def note(self, name: str) -> str:
        cut = name == self.cut
        self.cut = "" if cut else self.cut
        if cut and not self.after:
            raise self.problem
        self.done.append(name)
        self.keys.setdefault(name, set()).add(idempotency_key())
        if cut:
            raise self.problem
        if name in self.broken:
            raise RuntimeError(f"{name} is broken")
        return name

    def agent(self, *plans: Any, **more: Any) -> PlannerExecutor:
        return agent_for(self.tools, *plans, **more)


def nested_in(world: World, kept: Journal | None, *below: Any, outer: Any = ALONE) -> PlannerExecutor:
    """Return an agent that runs the plan `below` inside each step of the plan `outer`."""
    return agent_for(world.agent([*below]), outer, journal=kept)
