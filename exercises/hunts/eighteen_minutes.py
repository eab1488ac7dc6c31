"""Eighteen minutes for a plan of eleven

Lesson 08 · difficulty 4 of 5 · 20 minutes

Two branches are independent. One of them is idle for seven minutes anyway.

    unit tests   #
    build image  .########
    back up      ########
    check backup ........#
    deploy       .........##
    11 minutes
"""

# %% program
"""When does each step of a plan start? Any number of steps can run at once."""

PLAN = {  # step: (minutes, the steps that it depends on)
    "unit tests": (1, []),
    "build image": (8, ["unit tests"]),
    "back up": (8, []),
    "check backup": (1, ["back up"]),
    "deploy": (2, ["build image", "check backup"]),
}


def start_times(plan):
    """Return the minute in which each step starts, by step: the minute in which its last
    dependency ends.
    """
    starts, now = {}, 0
    while len(starts) < len(plan):
        level = [
            step
            for step, (_, needs) in plan.items()
            if step not in starts and all(needed in starts for needed in needs)
        ]
        for step in level:
            starts[step] = now
        now += max(plan[step][0] for step in level)
    return starts


if __name__ == "__main__":
    starts = start_times(PLAN)
    for step, (minutes, _) in PLAN.items():
        print(f"{step:13}{'.' * starts[step]}{'#' * minutes}")
    print(max(starts[step] + minutes for step, (minutes, _) in PLAN.items()), "minutes")

# %% test
from random import Random


def random_plan(seed):
    chance, plan = Random(seed), {}
    for number in range(12):
        needs = [f"s{other}" for other in range(number) if chance.random() < 0.25]
        plan[f"s{number}"] = (chance.randrange(1, 9), needs)
    return plan


def test_a_step_starts_when_its_last_dependency_ends(program):
    two = {
        "long": (6, []),
        "short": (1, []),
        "after short": (6, ["short"]),
        "after long": (1, ["long"]),
    }
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


# %% hints
HINT = """Draw the arrows of the plan into the timeline. Which step waits although all its dependencies are done?"""
QUESTION = """What does the clock of this program wait for, and which step needs that?"""
SEEN = """LangGraph runs in supersteps; its issue 3617 asks why, and the answer is that this is expected. Measured on two
uneven branches: 1.9 times as long as the longest chain. CrewAI's parallel steps wait at a barrier too."""
