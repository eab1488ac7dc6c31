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
    circle = [{"id": "a", "depends_on": ["b"]}, {"id": "b", "depends_on": ["a"]}, {"id": "c", "depends_on": []}]
    ran = program.run_plan(circle)
    assert ran == ["c"], f"a and b wait for each other, c waits for nothing: it ran {ran}, wanted ['c']"
