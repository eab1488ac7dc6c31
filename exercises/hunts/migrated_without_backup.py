"""The database is migrated without a backup

Lesson 09 · difficulty 3 of 5 · 10 minutes

The backup fails. The migration that depends on it runs anyway, and is reported as done.

    backup   failed
    migrate  skipped
    verify   skipped
    notify   done
"""

# %% program
"""Run the steps of a plan in the order of their dependencies."""

OVER = ("done", "failed")


def run_plan(steps, tools):
    """Run each step of a plan, {step: its dependencies}, once; return the outcome of each
    step, by step.

    The outcome is "done", "failed" (its tool raised), or "skipped" (a dependency was not
    done).
    """
    became = {}
    while True:
        ready = [
            step
            for step, needs in steps.items()
            if step not in became and all(became.get(needed) in OVER for needed in needs)
        ]
        if not ready:
            return became
        for step in ready:
            try:
                tools[step]()
                became[step] = "done"
            except Exception:
                became[step] = "failed"


def backup():
    raise OSError("the disk is full")


PLAN = {"backup": [], "migrate": ["backup"], "verify": ["migrate"], "notify": []}
TOOLS = {
    "backup": backup,
    "migrate": lambda: None,
    "verify": lambda: None,
    "notify": lambda: None,
}

if __name__ == "__main__":
    became = run_plan(PLAN, TOOLS)
    for step in PLAN:
        print(f"{step:8} {became.get(step)}")

# %% test
STEPS = {str(n): [str(n + 1)] for n in range(20)} | {"20": []}  # the last step has to run first
STEPS |= {"a": [], "b": ["a"], "c": ["b"], "d": ["x", "c"], "x": [], "y": ["x"]}


def run(program, broken):
    called = []

    def tool(step):
        def call():
            called.append(step)
            if step in broken:
                raise ArithmeticError(f"{step} is broken")

        return call

    return program.run_plan(STEPS, {step: tool(step) for step in STEPS}), called


def test_a_step_never_runs_after_its_dependency_failed(program):
    became, called = run(program, {"a"})
    assert "b" not in called, f"a failed and b depends on a; called: {called}"
    assert became.get("b") == "skipped", f"a failed and b depends on a; the outcome of b is {became.get('b')!r}"


def test_indirect_dependents_do_not_run_either(program):
    became, called = run(program, {"a"})
    assert not {"c", "d"} & set(called), f"a failed, b needs a, c needs b, d needs c; called: {called}"
    words = {step: became.get(step) for step in "cd"}
    assert words == {"c": "skipped", "d": "skipped"}, (
        f"a failed, and c and d depend on it indirectly; their outcomes: {words}"
    )


def test_the_rest_is_done(program):
    became, _ = run(program, {"a"})
    words = {step: became.get(step) for step in "axy"}
    assert words == {"a": "failed", "x": "done", "y": "done"}, (
        f"a failed, x and y don't depend on it; the outcomes: {words}"
    )


def test_without_a_failure_everything_is_done(program):
    became, called = run(program, set())
    assert became == dict.fromkeys(STEPS, "done"), f"no step failed; the outcomes: {became}"
    assert sorted(called) == sorted(STEPS), f"each step is called once; called: {called}"


# %% hints
HINT = """Read aloud the condition that makes a step ready, with the word "failed" in it."""
QUESTION = """A failed step has ended. Is that enough for the step that depends on it? And for the steps that depend on that
one?"""
SEEN = """swarms, issue 1966: a subtask starts when its dependency has failed, and an id that does not exist counts as
completed. CrewAI counts a failed dependency as satisfied too. mofa, pull request 1089, introduced it to fix a run
that hung."""
