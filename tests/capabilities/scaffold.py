"""Shared by the tests of the capabilities: a site where tools put things up and take them down, and a check of rollbacks."""

from typing import Any

from planexec_lite import PlannerExecutor, Policy, Run, Tool, Toolbox
from planexec_lite.run.events import Event
from tests.core.agents import agent_for, carry_out
from tests.core.shapes import step

FAILED = Policy(rollback="failed")


class Site:
    """A site: `standing` is the world, and `log` lists the changes."""

    def __init__(self, stuck: str = "") -> None:
        self.standing: list[str] = []
        self.log: list[str] = []
        self.tried: dict[str, int] = {}
        self.stuck = set(stuck.split())
        self.tolerant = False  # to take down what is not there is no error
        self.tools = Toolbox(
            [
                Tool(self.put_up, effects="idempotent", latency=lambda quarters=0, **_: quarters / 4),
                Tool(self.take_down, effects="idempotent", latency=1.0),
                Tool(self.look, latency=1.0, effects="none"),
                Tool(self.tell, effects="once"),
            ]
        )

    def put_up(self, name: str, fails: int = 0, quarters: int = 0) -> dict[str, str]:
        self.tried[name] = self.tried.get(name, 0) + 1
        if self.tried[name] <= fails:
            raise RuntimeError(f"{name} does not hold")
        if name not in self.standing:
            self.standing.append(name)
        self.log.append(f"+{name}")
        return {"name": name}

    def take_down(self, name: str) -> str:
        self.log.append(f"-{name}")
        if name in self.stuck:
            raise RuntimeError(f"{name} is stuck")
        if name in self.standing or not self.tolerant:
            self.standing.remove(name)
        return name

    def look(self, fails: bool = False) -> list[str]:
        if fails:
            raise RuntimeError("it does not look good")
        return list(self.standing)

    def tell(self, text: str) -> str:
        """Tell the neighbours, which has no undo."""
        self.log.append(f"!{text}")
        return text

    def run(self, *steps: Any, policy: Policy = FAILED, rollback: Any = (), **more: Any) -> Run:
        return carry_out({"steps": [*steps], "rollback": [*rollback]}, self.tools, policy=policy, **more)

    def agent(self, *answers: Any, policy: Policy = FAILED, **more: Any) -> PlannerExecutor:
        return agent_for(self.tools, *answers, policy=policy, **more)


def up(id: str, *after: str, **more: Any) -> dict[str, Any]:
    undo = {"tool": "take_down", "params": {"name": f"{{step_{id}_result.name}}"}}
    return step(id, "put_up", *after, **{"name": id, "undo": undo, **more})


def broken(id: str, *after: str, **more: Any) -> dict[str, Any]:
    return step(id, "look", *after, fails=True, **more)


def call(tool: str, **params: Any) -> dict[str, Any]:
    return {"tool": tool, "params": params}


def told(run: Run, kind: type[Event]) -> list[str]:
    return [event.step for event in run.events if isinstance(event, kind)]  # type: ignore[union-attr]


class World:
    """Two tools that list their calls, and fail for the numbers in `broken`; `pay` is called at most once."""

    def __init__(self, *broken: int) -> None:
        self.broken, self.done = set(broken), list[int]()
        effects: dict[str, Any] = {"work": "none", "pay": "once"}
        self.tools = [Tool(self.do, name=name, effects=effects[name], latency=self.seconds) for name in effects]

    def seconds(self, n: int, seconds: float) -> float:
        return seconds

    def do(self, n: int, seconds: float = 1.0) -> int:
        self.done.append(n)
        if n in self.broken:
            raise RuntimeError(f"piece {n} is broken")
        return n
