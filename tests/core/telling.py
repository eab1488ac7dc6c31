"""A process that carries on a run and is told news from outside: ``python -m tests.core.telling JOURNAL WORLD``.

Each line of the file WORLD is what a tool did. The plan is a chain of short steps; the planner answers news with the rest of
the chain, under other ids, so that a lost or repeated piece of news shows in the events and in the plans.
"""

import os
import sys
import time
from pathlib import Path

from planexec_lite import Board, Journal, Plan, PlannerExecutor, Policy, Run, Tool, Toolbox, ToolExecutor
from planexec_lite.capabilities.news import News

LENGTH = 12


class World:
    """What was done, a line each."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.tools = Toolbox([Tool(self.act, effects="idempotent")])

    def act(self, n: int) -> int:
        """Act, and note it."""
        time.sleep(0.004)
        while self.path.with_name("hold").exists():
            time.sleep(0.001)
        with self.path.open("a") as file:
            file.write(f"{n}\n")
        return n

    def done(self) -> list[str]:
        return self.path.read_text().split() if self.path.exists() else []


class Chain:
    """Plans what is left of the chain."""

    def plan(self, goal: str, board: Board, tools: Toolbox) -> Plan:
        left = range(len(board.results), LENGTH)
        plan = len(board[News].texts)
        ids = {n: f"{n}-{plan}" for n in left}
        return Plan.parse(
            [
                {"id": ids[n], "tool": "act", "params": {"n": n}, "depends_on": [ids[n - 1]] if n - 1 in ids else []}
                for n in left
            ]
        )


def main(path: Path, world: Path) -> Run:
    """Begin the run, or go on with it."""
    journal = Journal(path)
    agent = PlannerExecutor(Chain(), ToolExecutor(World(world).tools), policy=Policy(max_replans=1000), journal=journal)
    print("ready", flush=True)
    if os.path.exists(path) and journal.list():
        return agent.resume(journal.load(1))
    return agent.run("act")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
