"""Three cooks, and two of them watch

Lesson 08 · difficulty 2 of 5 · 5 minutes

Soup, salad and bread could be made at the same time. Each starts only when the previous one is ready.

    begins: soup
    begins: salad
    begins: bread
      ready: salad
      ready: bread
      ready: soup
"""

# %% program
"""Run steps without dependencies at the same time."""

import asyncio


async def run_wave(tools):
    """Start all tools at once, and return their results by name; `tools` can be empty."""
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

# %% test
import asyncio


def run(program, order):
    """Three tools that take one, two and three ticks; the log of their beginnings and ends, and the results."""
    log = []

    def tool(name, ticks):
        async def work():
            log.append(f"begins {name}")
            for _ in range(ticks):
                await asyncio.sleep(0)
            log.append(f"ends {name}")
            return f"result of {name}"

        return work

    ticks = {"a": 30, "b": 10, "c": 20}
    return log, asyncio.run(program.run_wave({name: tool(name, ticks[name]) for name in order}))


def test_all_start_before_the_first_one_ends(program):
    log, _ = run(program, "abc")
    before = log[: next((n for n, line in enumerate(log) if line.startswith("ends")), len(log))]
    assert len(before) == 3, f"three tools wait for nothing; when the first one ended, {len(before)} had begun: {log}"


def test_all_have_ended_when_it_returns(program):
    log, _ = run(program, "abc")
    ended = [line for line in log if line.startswith("ends")]
    assert len(ended) == 3, f"it returned when {len(ended)} of three tools had ended: {log}"


def test_each_result_has_its_own_name(program):
    for order in ("abc", "cab", "bca"):
        _, results = run(program, order)
        wanted = {name: f"result of {name}" for name in order}
        assert results == wanted, f"the tools {', '.join(order)} gave {results}"


def test_nothing_to_do_is_no_error(program):
    _, results = run(program, "")
    assert results == {}, f"no tools; it gave {results}"


# %% hints
HINT = """Every dish has its own task, so the cooks are there. Follow one round of the loop and see where it waits."""
QUESTION = """What must happen before the second round starts? Is that necessary?"""
SEEN = """LangGraph's former LLMCompiler notebook: the line that passed a ready task to the thread pool was commented out,
and the line above it ran the task directly. LangGraph's pull request 1905 shows both lines."""
