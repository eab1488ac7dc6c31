"""Five steps in a DBOS workflow, started as soon as they are ready: `replay.py WORLD STATE`."""

import asyncio
import json

import five
from dbos import DBOS, DBOSConfig, SetWorkflowID
from shop import STATE, say

database = STATE / "five.db"
first = not database.exists()
DBOS(
    config=DBOSConfig(
        name="five", system_database_url=f"sqlite:///{database}", log_level="ERROR", run_admin_server=False
    )
)


@DBOS.step()
async def work(name: str) -> str:
    """Run one step."""
    return await asyncio.to_thread(five.work, name, first)


@DBOS.workflow()
async def flow() -> dict:
    """Start each step when its dependencies are done."""
    waiting, running, done = list(five.DEPENDS_ON), {}, {}
    while waiting or running:
        for name in five.ready(waiting, done):
            waiting.remove(name)
            running[asyncio.create_task(work(name))] = name
        over, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
        for task in over:
            done[running.pop(task)] = task.result()
    return done


DBOS.launch()
with SetWorkflowID("1"):
    handle = DBOS.start_workflow(flow) if first else DBOS.retrieve_workflow("1")
say("DONE", json.dumps(handle.get_result()))
