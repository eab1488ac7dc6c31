STEPS = {"a": [], "b": ["a"], "c": ["b"], "d": ["x", "c"], "x": [], "y": ["x"]}


def run(program, broken):
    called = []

    def tool(step):
        def call():
            called.append(step)
            if step in broken:
                raise ValueError(f"{step} is broken")

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
