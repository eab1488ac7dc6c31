"""The smoke tests fail, and production is deployed

Lesson 06 · difficulty 3 of 5 · 10 minutes

The planner answers a failed smoke test with a rollback. The release is deployed to production anyway.

    done: deploy to staging
    done: roll back staging
    done: tell the team
"""

# %% program
"""Carry out a plan; when a step fails, ask the planner for the remaining steps."""


def run(plan, tools, replan, most=3):
    """Carry out the plan and return the steps that were done, in order.

    When a step fails, `replan(failed)` returns the steps that replace everything not done
    yet. The planner is called at most `most` times; the next failure ends the run.
    """
    done = []
    for step in plan:
        try:
            tools[step]()
            done.append(step)
        except Exception:
            plan = replan(step)
    return done


def smoke_tests():
    raise RuntimeError("401 at three endpoints")


TOOLS = {
    "deploy to staging": lambda: None,
    "smoke tests": smoke_tests,
    "deploy to production": lambda: None,
}
TOOLS |= {"roll back staging": lambda: None, "tell the team": lambda: None}

if __name__ == "__main__":
    plan = ["deploy to staging", "smoke tests", "deploy to production"]
    for step in run(plan, TOOLS, replan=lambda failed: ["roll back staging", "tell the team"]):
        print("done:", step)


# %% test
def fails():
    raise ArithmeticError("broken")


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
        assert len(asked) < 20, "every plan fails, and the planner was asked 20 times with most=5"
        return ["a", "b", "a"]

    done = program.run(["b"], {"a": fine, "b": fails}, replan, most=5)
    assert len(asked) == 5, f"every plan fails, most=5: the planner was asked {len(asked)} times"
    assert done == ["a"] * 5, f"the sixth failure ends the run, and each plan is a, b, a; done: {done}"


def test_a_plan_without_failures_is_carried_out_unchanged(program):
    done = program.run(["a", "b"], {"a": fine, "b": fine}, replan=lambda failed: [])
    assert done == ["a", "b"], f"nothing fails; done: {done}"


# %% hints
HINT = """The new plan does arrive. Print it, and print the step that the loop takes next."""
QUESTION = """When does a for loop decide which list it iterates over?"""
SEEN = """"Planner-Executor Pattern", an interview guide: its loop over plan.tasks sets plan to the updated plan inside the
loop. In use: CellVoyager, issue 8, a user reports that the updated analysis plan is discarded and the next round
starts from the original plan."""
