import asyncio

STEPS = {"a": [], "b": ["a"], "c": ["b"], "x": [], "y": ["x"]}


def run(program, broken):
    started = []

    def tool(step):
        async def call():
            started.append(step)
            await asyncio.sleep(0.001)
            if step in broken:
                raise ValueError(f"{step} is broken")

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
