from itertools import permutations

SHAPE = {"search": [], "read": ["search"], "compare": ["search", "read"], "report": ["read", "compare"]}


def test_the_answer_comes_from_the_step_that_nothing_depends_on(program):
    for ids in permutations(["2", "5b", "9", "10"]):
        new = dict(zip(SHAPE, ids, strict=True))
        plan = {new[step]: [new[needed] for needed in needs] for step, needs in SHAPE.items()}
        said = program.answer(plan, {new[step]: f"result of the {step}" for step in SHAPE})
        assert said == "result of the report", (
            f"in the plan {plan}, nothing depends on step {new['report']!r}; the answer is the {said!r}"
        )


def test_neither_the_list_nor_the_clock_decides(program):
    results = {step: f"result of the {step}" for step in SHAPE}
    for order in permutations(SHAPE):
        listed = {step: SHAPE[step] for step in order}
        finished = {step: results[step] for step in reversed(order)}
        said = program.answer(listed, finished)
        assert said == "result of the report", f"listed as {list(order)}; the answer is the {said!r}"
