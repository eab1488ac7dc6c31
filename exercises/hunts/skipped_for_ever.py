"""Two of three steps never start

Lesson 05 · difficulty 2 of 5 · 10 minutes

The planner lists the report first, and the report is never written. No step fails.

    report   done
    summary  done
    search   done
"""

# %% program
"""Run the steps of a plan, each after its dependencies."""

PLAN = [
    {"id": "report", "depends_on": ["summary"]},
    {"id": "summary", "depends_on": ["search"]},
    {"id": "search", "depends_on": []},
]


def run_plan(steps):
    """Run every step that can ever start, once; return the ids in the order in which they
    ran.

    The planner can list the steps in any order. Steps that depend on each other in a cycle
    can never start.
    """
    done = []
    for step in steps:
        if any(needed not in done for needed in step["depends_on"]):
            continue
        done.append(step["id"])  # the work itself is left out
    return done


if __name__ == "__main__":
    ran = run_plan(PLAN)
    for step in PLAN:
        print(f"{step['id']:8} {'done' if step['id'] in ran else 'never started'}")

# %% test
from itertools import permutations

NEEDS = {"plan": [], "search": ["plan"], "read": ["search"], "report": ["read", "plan"]}


def steps(order):
    return [{"id": id, "depends_on": NEEDS.get(id, [])} for id in order]


def test_every_step_runs_in_any_order_of_the_list(program):
    for order in permutations(NEEDS):
        ran = program.run_plan(steps(order))
        left_out = [id for id in order if id not in ran]
        assert not left_out, f"listed as {list(order)}, these never started: {left_out}"
        assert len(ran) == len(order), f"listed as {list(order)}, it ran {ran}: each step runs once"


def test_no_step_runs_before_what_it_depends_on(program):
    for order in permutations(NEEDS):
        ran = program.run_plan(steps(order))
        early = [id for id in ran for needed in NEEDS[id] if ran.index(needed) > ran.index(id)]
        assert not early, f"listed as {list(order)}, it ran {ran}: {early[0]} started before what it depends on"


def test_a_cycle_ends_the_run_and_the_other_steps_run(program):
    needs = {"a": ["b"], "b": ["a"]} | {str(n): [str(n + 1)] for n in range(50)} | {"50": []}
    ran = program.run_plan([{"id": id, "depends_on": needs[id]} for id in needs])
    wanted = [str(n) for n in range(50, -1, -1)]
    assert ran == wanted, f"a and b wait for each other, 0 waits for 1, 1 for 2, up to 50: it ran {ran}"


# %% hints
HINT = """Go through the plan with a pencil. For each step, note when the loop looks at it and which steps are done by then."""
QUESTION = (
    """The loop looks at a step while one of its dependencies is missing. When does it look at that step again?"""
)
SEEN = """"The Planner-Executor pattern explained", an article: its executor goes over the steps once and says "continue, or
wait" where a dependency is missing. Its own plan is listed in a lucky order."""
