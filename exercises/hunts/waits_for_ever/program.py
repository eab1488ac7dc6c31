"""A scheduler: start each step as soon as its dependencies are done."""

import asyncio

PLAN = {"search": [], "weather": [], "read": ["search"], "report": ["read", "weather"]}


async def run_plan(steps, tools):
    """Run a plan, {step: its dependencies}; return the outcome of each step, by step.

    "done"; "failed": its tool raised; "skipped": a step that it depends on was not done.
    """
    became, running = {}, {}

    async def work(step):
        await tools[step]()
        became[step] = "done"

    while len(became) < len(steps):
        for step, needs in steps.items():
            if step not in running and all(became.get(needed) == "done" for needed in needs):
                running[step] = asyncio.create_task(work(step))
        await asyncio.sleep(0.01)
    return became


def tool(name, broken=False):
    async def call():
        print("started:", name)
        if broken:
            raise ConnectionError(name)

    return call


if __name__ == "__main__":
    tools = {step: tool(step, broken=step == "search") for step in PLAN}
    for step, word in asyncio.run(run_plan(PLAN, tools)).items():
        print(f"{step}: {word}")
