"""Run steps without dependencies at the same time."""

import asyncio


async def run_wave(tools):
    """Start all tools at once, and return their results by name."""
    results = {}
    for name, tool in tools.items():
        task = asyncio.create_task(tool())
        results[name] = await task
    return results


def cook(dish, minutes):
    async def work():
        print("begins:", dish)
        for _ in range(minutes):
            await asyncio.sleep(0)  # a minute in which the others may work
        print("  ready:", dish)
        return dish

    return work


if __name__ == "__main__":
    asyncio.run(run_wave({"1": cook("soup", 9), "2": cook("salad", 3), "3": cook("bread", 6)}))
