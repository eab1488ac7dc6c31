"""A process whose run receives news from another process: ``python -m tests.core.telling JOURNAL WORLD``.

After news the planner returns the rest of a chain with other ids, so that lost or repeated news shows in the events and plans.
"""

import sys
from pathlib import Path

from planexec_lite import Board, Inline, Journal, Plan, Run, Toolbox
from planexec_lite.capabilities.news import News
from tests.core.agents import agent_for
from tests.core.shapes import step
from tests.journal.crashing import World

LENGTH = 12


class Chain:
    """Plans the rest of the chain."""

    def plan(self, goal: str, board: Board, tools: Toolbox) -> Plan:
        ids = {n: f"{n}-{len(board[News].texts)}" for n in range(len(board.results), LENGTH)}
        before = {n: [ids[n - 1]] if n - 1 in ids else [] for n in ids}
        return Plan.parse([step(ids[n], "put", *before[n], name=str(n)) for n in ids])


def main(path: Path, world: Path) -> Run:
    journal = Journal(path)
    agent = agent_for(World(world).tools, Chain(), workers=Inline(), max_replans=1000, journal=journal)
    print("ready", flush=True)
    return agent.resume(journal.load(1)) if path.exists() and journal.list() else agent.run("act")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
