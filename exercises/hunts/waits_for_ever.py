"""One search fails, and the run never ends

Lesson 09 · difficulty 4 of 5 · 20 minutes

A tool raises. No error is shown, no further step starts, and the program never ends.

    started: search
    started: weather
    search: failed
    weather: done
    read: skipped
    report: skipped
"""

# %% program
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

# %% test
import asyncio

STEPS = {"a": [], "b": ["a"], "c": ["b"], "x": [], "y": ["x"]}


def run(program, broken):
    started = []

    def tool(step):
        async def call():
            started.append(step)
            await asyncio.sleep(0.001)
            if step in broken:
                raise ArithmeticError(f"{step} is broken")

        return call

    became = asyncio.run(program.run_plan(STEPS, {step: tool(step) for step in STEPS}))
    return dict(became), started


def test_the_run_ends_when_a_tool_raises(program):
    became, _ = run(program, {"a"})
    assert became.get("a") == "failed", f"a raised; its outcome is {became.get('a')!r}, wanted 'failed'"


def test_a_step_that_depends_on_a_failure_is_skipped(program):
    became, started = run(program, {"a"})
    assert not {"b", "c"} & set(started), f"a raised, b needs a, c needs b; started: {started}"
    words = {step: became.get(step) for step in "bc"}
    assert words == {"b": "skipped", "c": "skipped"}, f"a raised; of those behind it, it says {words}"


def test_independent_steps_still_run(program):
    became, _ = run(program, {"a"})
    words = {step: became.get(step) for step in "xy"}
    assert words == {"x": "done", "y": "done"}, f"a raised; x and y don't depend on it, and it says {words}"


def test_without_a_failure_everything_is_done_once(program):
    became, started = run(program, set())
    assert became == dict.fromkeys(STEPS, "done"), f"nothing raises, and it says {became}"
    assert sorted(started) == sorted(STEPS), f"each step is started once; started: {started}"
    assert {*started[:2]} == {"a", "x"}, f"a and x depend on nothing, so both start at once; started: {started}"


# %% hints
HINT = (
    """The loop ends when a condition is true. Find the code that makes it true, and the paths that reach that code."""
)
QUESTION = """What does the scheduler learn about a step whose tool raised? And about the steps that depend on it?"""
SEEN = """LLMCompiler, in its task fetching unit: the event that marks a task as done is set only after the tool has
returned. In use: CrewAI, issue 4072, an async task that raises never passes on the error, and kickoff waits
forever."""
