from random import Random


def random_plan(seed):
    chance, plan = Random(seed), {}
    for number in range(12):
        needs = [f"s{other}" for other in range(number) if chance.random() < 0.25]
        plan[f"s{number}"] = (chance.randrange(1, 9), needs)
    return plan


def test_a_step_starts_when_its_last_dependency_ends(program):
    two = {"long": (6, []), "short": (1, []), "after short": (6, ["short"]), "after long": (1, ["long"])}
    for plan in (two, *map(random_plan, range(20))):
        starts = program.start_times(plan)
        for step, (_, needs) in plan.items():
            wanted = max((starts[needed] + plan[needed][0] for needed in needs), default=0)
            ends = {needed: starts[needed] + plan[needed][0] for needed in needs}
            assert starts[step] >= wanted, f"{step!r} starts at {starts[step]}; what it depends on ends at {ends}"
            assert starts[step] == wanted, (
                f"{step!r} starts at {starts[step]}, wanted {wanted}; what it depends on ends at {ends}: it waits for nothing"
            )


def test_the_order_of_the_list_does_not_matter(program):
    plan = random_plan(3)
    backwards = dict(reversed(plan.items()))
    assert program.start_times(backwards) == program.start_times(plan), (
        "the same plan in reverse order has other start times"
    )
