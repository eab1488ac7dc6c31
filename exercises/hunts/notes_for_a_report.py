"""The report was written, and the answer is something else

Lesson 03 · difficulty 1 of 5 · 5 minutes

Step 10 writes the report. The run returns the notes of step 9.

    answer: the report
"""

# %% program
"""Find the answer of a finished plan."""


def answer(plan, results):
    """Return the answer: the result of the one step that no other step depends on.

    `plan` maps each step's id to the ids of its dependencies; `results` maps ids to
    results. All are strings.
    """
    last = max(results)
    return results[last]


PLAN = {"1": [], "9": ["1"], "10": ["9", "2"], "2": ["1"]}
RESULTS = {
    "1": "found three trends",
    "2": "wind: read",
    "9": "solar: read",
    "10": "the report",
}

if __name__ == "__main__":
    print("answer:", answer(PLAN, RESULTS))

# %% test
from itertools import permutations

SHAPE = {
    "search": [],
    "read": ["search"],
    "compare": ["search", "read"],
    "report": ["read", "compare"],
}


def test_the_answer_comes_from_the_step_that_nothing_depends_on(program):
    for ids in permutations(["2", "5b", "9", "10"]):
        new = dict(zip(SHAPE, ids, strict=True))
        plan = {new[step]: [new[needed] for needed in needs] for step, needs in SHAPE.items()}
        answer = program.answer(plan, {new[step]: f"result of the {step}" for step in SHAPE})
        assert answer == "result of the report", (
            f"in the plan {plan}, nothing depends on step {new['report']!r}; the answer is the {answer!r}"
        )


def test_the_order_of_the_list_does_not_matter(program):
    results = {step: f"result of the {step}" for step in SHAPE}
    for order in permutations(SHAPE):
        listed = {step: SHAPE[step] for step in order}
        finished = {step: results[step] for step in reversed(order)}
        answer = program.answer(listed, finished)
        assert answer == "result of the report", f"listed as {list(order)}; the answer is the {answer!r}"


# %% hints
HINT = """Ask Python which of the two ids is greater. Then ask whether that is the right question."""
QUESTION = """Look at the arrows instead of the names. What is special about the step that you want?"""
SEEN = """A tutorial, "Planner-Executor architecture": it returns the result with the highest step id, although its plans
list dependencies. Steps added by a replan have the highest ids, no matter where they belong."""
