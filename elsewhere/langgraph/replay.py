"""Five steps in LangGraph's functional API, started as soon as they are ready: `replay.py WORLD STATE`."""

import json
from concurrent.futures import FIRST_COMPLETED, wait

import five
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.func import entrypoint, task
from shop import STATE, say

config = {"configurable": {"thread_id": "1"}}


@task
def work(name, first):
    """Run one step."""
    return five.work(name, first)


with SqliteSaver.from_conn_string(str(STATE / "five.db")) as saver:
    first = saver.get_tuple(config) is None

    @entrypoint(checkpointer=saver)
    def flow(goal):
        """Start each step when its dependencies are done."""
        waiting, running, done = list(five.DEPENDS_ON), {}, {}
        while waiting or running:
            for name in five.ready(waiting, done):
                waiting.remove(name)
                running[work(name, first)] = name
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                done[running.pop(future)] = future.result()
        return done

    say("DONE", json.dumps(flow.invoke("go" if first else None, config, durability="sync")))
