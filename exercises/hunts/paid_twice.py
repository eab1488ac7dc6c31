"""The card is charged twice

Lesson 06 · difficulty 2 of 5 · 10 minutes

An order is shipped at the second attempt. The customer has paid for it twice.

    20 euros taken from the card
    address complete
    parcel sent
"""

# %% program
"""Carry out a plan; after a failure, replan and try again."""


def run(plan, tools, replan, attempts=3):
    """Carry out the plan and return the results by step; a finished step is never carried
    out again.

    When a step fails, `replan(plan, failed)` returns a whole new plan, in any order. After
    `attempts` failures: RuntimeError.
    """
    for _ in range(attempts):
        results = {}
        for step in plan:
            try:
                results[step] = tools[step]()
            except Exception:
                plan = replan(plan, step)
                break
        else:
            return results
    raise RuntimeError(f"not done after {attempts} attempts")


class Shop:
    """A shop that can't ship before the address is complete."""

    def __init__(self):
        self.log, self.address = [], False
        self.tools = {
            "charge the card": self.charge,
            "ship": self.ship,
            "ask for the address": self.ask,
        }

    def charge(self):
        self.log.append("20 euros taken from the card")

    def ask(self):
        self.address = True
        self.log.append("address complete")

    def ship(self):
        if not self.address:
            raise ValueError("no address")
        self.log.append("parcel sent")


if __name__ == "__main__":
    shop = Shop()
    run(
        ["charge the card", "ship"],
        shop.tools,
        lambda plan, failed: ["ask for the address", *plan],
    )
    print(*shop.log, sep="\n")


# %% test
def world(broken):
    """Tools that count their calls; each id in `broken` fails that many times before it works."""
    calls = dict.fromkeys("abcxy", 0)

    def tool(id):
        def work():
            calls[id] += 1
            if calls[id] <= broken.get(id, 0):
                raise ArithmeticError(f"{id} is broken")
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
        program.run(["a"], tools, lambda plan, failed: plan, attempts=5)
    except RuntimeError:
        pass
    else:
        raise AssertionError("a never works: wanted RuntimeError after five attempts")
    assert calls["a"] == 5, f"five attempts; a was called {calls['a']} times"


# %% hints
HINT = """For each variable, say how long it lives. What does the second attempt know about the first?"""
QUESTION = """Which steps of a new plan still have to run, and where is that recorded?"""
SEEN = """A tutorial, "Planner-Executor architecture": each attempt executes the whole new plan with empty results. In use:
synthorg, issue 2794, a replan proposes the whole plan again, and work that had passed its review is carried out
once more."""
