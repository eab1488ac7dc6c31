def world(broken):
    """Tools that count their calls; each id in `broken` fails that many times before it works."""
    calls = dict.fromkeys("abcxy", 0)

    def tool(id):
        def work():
            calls[id] += 1
            if calls[id] <= broken.get(id, 0):
                raise RuntimeError(f"{id} is broken")
            return f"{id} of call {calls[id]}"

        return work

    return calls, {id: tool(id) for id in calls}


def test_a_finished_step_is_not_carried_out_again(program):
    calls, tools = world({"c": 1})
    program.run(["a", "b", "c"], tools, lambda plan, failed: ["a", "b", "x", "c"])
    assert calls["a"] == calls["b"] == 1, (
        f"a and b were done before c failed; they ran {calls['a']} and {calls['b']} times"
    )


def test_a_new_plan_can_begin_with_new_steps(program):
    calls, tools = world({"b": 1})
    results = program.run(["a", "b"], tools, lambda plan, failed: ["x", "a", "y", "b"])
    ran = {id: calls[id] for id in "axyb"}
    assert ran == {"a": 1, "x": 1, "y": 1, "b": 2}, f"a, then b fails, then the plan x, a, y, b: the calls were {ran}"
    assert sorted(results) == ["a", "b", "x", "y"], f"the results are those of {sorted(results)}, wanted a, b, x, y"


def test_finished_work_keeps_its_result(program):
    _, tools = world({"c": 2})
    results = program.run(["a", "c"], tools, lambda plan, failed: plan)
    assert results.get("a") == "a of call 1", f"a was done in the first attempt; its result is {results.get('a')!r}"


def test_a_failed_step_is_tried_again(program):
    calls, tools = world({"b": 1})
    results = program.run(["a", "b"], tools, lambda plan, failed: plan)
    assert calls["b"] == 2, f"b failed once and works now; it was called {calls['b']} times"
    assert results.get("b") == "b of call 2", f"the result of b is {results.get('b')!r}"


def test_it_gives_up(program):
    calls, tools = world({"a": 99})
    try:
        program.run(["a"], tools, lambda plan, failed: plan, attempts=3)
    except RuntimeError:
        pass
    else:
        raise AssertionError("a never works: wanted RuntimeError after three attempts")
    assert calls["a"] == 3, f"three attempts; a was called {calls['a']} times"
