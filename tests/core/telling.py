"""A process whose run receives news from another process: ``python -m tests.core.telling JOURNAL WORLD``.

Each line of the file WORLD is a call. The plan is a chain of short steps. After news the planner returns the rest of the chain
with other ids, so that lost or repeated news shows in the events and plans.
"""

import os
import sys
import time
from pathlib import Path

from planexec_lite import Board, Journal, Plan, PlannerExecutor, Policy, Run, Tool, Toolbox, ToolExecutor
from planexec_lite.capabilities.news import News
from tests.core.shapes import step

LENGTH = 12


class World:
    """Writes a line for each call."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.tools = Toolbox([Tool(self.act, effects="idempotent")])

    def act(self, n: int) -> int:
        """Act."""
        time.sleep(0.004)
        with self.path.open("a") as file:
            file.write(f"{n}\n")
        return n

    def done(self) -> list[str]:
        return self.path.read_text().split() if self.path.exists() else []


class Chain:
    """Plans the rest of the chain."""

    def plan(self, goal: str, board: Board, tools: Toolbox) -> Plan:
        left = range(len(board.results), LENGTH)
        plan = len(board[News].texts)
        ids = {n: f"{n}-{plan}" for n in left}
        return Plan.parse([step(ids[n], "act", *([ids[n - 1]] if n - 1 in ids else []), n=n) for n in left])


def main(path: Path, world: Path) -> Run:
    """Begin the run, or resume it."""
    journal = Journal(path)
    agent = PlannerExecutor(Chain(), ToolExecutor(World(world).tools), policy=Policy(max_replans=1000), journal=journal)
    print("ready", flush=True)
    if os.path.exists(path) and journal.list():
        return agent.resume(journal.load(1))
    return agent.run("act")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
