"""Five steps in the kit, started as soon as they are ready: `replay.py WORLD STATE`."""

import json
from concurrent.futures import ThreadPoolExecutor

import five
from shop import STATE, say

from planexec_lite import Journal, Plan, PlannerExecutor, Pool, RulePlanner, Toolbox, ToolExecutor, tool

database = STATE / "five.db"
first = not database.exists()


@tool(effects="idempotent")
def work(name: str) -> str:
    """Run one step."""
    return five.work(name, first)


steps = [{"id": n, "tool": "work", "params": {"name": n}, "depends_on": needs} for n, needs in five.DEPENDS_ON.items()]
planner = RulePlanner(lambda goal: Plan.parse({"goal": "five steps", "steps": steps}))
workers, journal = Pool(ThreadPoolExecutor(4)), Journal(database)
agent = PlannerExecutor(planner, ToolExecutor(Toolbox([work])), workers=workers, journal=journal)
run = agent.run("five steps") if first else agent.resume(journal.load(1))
say("DONE", json.dumps(run.results))
