"""Review always, and the planner is never called

Lesson 06 · difficulty 1 of 5 · 5 minutes

Replanning after every two or three steps works. With replanning after every step, the planner is never called.

    every 3: plan 1 2 3 plan 4 5 6
    every 2: plan 1 2 plan 3 4 plan 5 6
    every 1: plan 1 plan 2 plan 3 plan 4 plan 5 plan 6
"""

# %% program
"""An agent that reviews its plan every N steps."""


def is_due(number, every):
    """Return whether the planner is called before step `number`: before step 1, and again
    after every `every` steps.

    Steps are counted from 1.
    """
    return number % every == 1


def run(steps, every):
    """Return the calls in order."""
    log = []
    for number in range(1, steps + 1):
        if is_due(number, every):
            log.append("plan")
        log.append(str(number))
    return log


if __name__ == "__main__":
    for every in (3, 2, 1):
        print(f"every {every}:", *run(6, every))


# %% test
def test_the_planner_is_called_after_every_n_steps(program):
    for every in (1, 2, 3, 4, 10):
        asked = [number for number in range(1, 22) if program.is_due(number, every)]
        wanted = list(range(1, 22, every))
        assert asked == wanted, f"every {every} steps: asked before the steps {asked}, wanted {wanted}"


def test_a_run_begins_with_a_plan(program):
    for every in (1, 2, 5):
        log = program.run(3, every)
        assert log[:2] == ["plan", "1"], f"every {every} steps: the run begins with {log[:2]}"


# %% hints
HINT = """Compute it by hand for every=3, then for every=1. Write down each remainder."""
QUESTION = """Which remainders are possible when you divide by 1?"""
SEEN = """smolagents, pull request 1118: with planning_interval=1 the agent never planned, because a step number modulo 1 is
never 1."""
