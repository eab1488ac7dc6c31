def fails():
    raise RuntimeError("broken")


def fine():
    return None


def test_after_a_failure_the_new_plan_is_carried_out(program):
    tools = {"a": fine, "b": fails, "c": fine, "x": fine, "y": fine}
    done = program.run(["a", "b", "c"], tools, replan=lambda failed: ["x", "y"])
    assert "c" not in done, f"b failed and the new plan is x, y; done: {done}. c belongs to the old plan"
    assert done == ["a", "x", "y"], f"b failed and the new plan is x, y; done: {done}, wanted a, x, y"


def test_a_new_plan_can_fail_too(program):
    plans = {"b": ["x", "y", "z"], "y": ["w"]}
    tools = {"a": fine, "b": fails, "x": fine, "y": fails, "z": fine, "w": fine}
    done = program.run(["a", "b"], tools, replan=lambda failed: plans[failed])
    assert done == ["a", "x", "w"], f"b failed, then y of the new plan; done: {done}, wanted a, x, w"


def test_the_planner_is_called_at_most_n_times(program):
    asked = []

    def replan(failed):
        asked.append(failed)
        assert len(asked) < 20, "every plan fails, and the planner was asked 20 times with most=2"
        return ["a", "b"]

    program.run(["b"], {"a": fine, "b": fails}, replan, most=2)
    assert len(asked) == 2, f"every plan fails, most=2: the planner was asked {len(asked)} times"


def test_a_plan_without_failures_is_carried_out_unchanged(program):
    done = program.run(["a", "b"], {"a": fine, "b": fine}, replan=lambda failed: [])
    assert done == ["a", "b"], f"nothing fails; done: {done}"
