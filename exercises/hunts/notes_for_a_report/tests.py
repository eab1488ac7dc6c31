from itertools import permutations

SHAPE = {"search": [], "read": ["search"], "compare": ["search", "read"], "report": ["read", "compare"]}


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
