START_1, START_2 = ("started", "a", 1, None), ("started", "a", 2, None)
EARLY, LATE = ("answered", "a", 2, "good"), ("answered", "a", 1, "stale")


def test_a_late_answer_of_a_replaced_attempt_changes_nothing(program):
    results = program.results_of([START_1, START_2, EARLY, LATE])
    assert results == {"a": "good"}, (
        f"attempt 2 answered 'good', then attempt 1 came late with 'stale'; results: {results}"
    )


def test_a_replaced_attempt_never_counts_even_if_it_answers_first(program):
    results = program.results_of([START_1, START_2, LATE])
    assert results == {}, f"attempt 2 replaced attempt 1 and has not answered; results: {results}"
    results = program.results_of([START_1, START_2, LATE, EARLY])
    assert results == {"a": "good"}, (
        f"attempt 2 replaced attempt 1 before its answer 'stale' arrived; results: {results}"
    )


def test_an_answer_that_is_delivered_twice_counts_once(program):
    again = ("answered", "a", 2, None)
    results = program.results_of([START_1, START_2, EARLY, again])
    assert results == {"a": "good"}, f"attempt 2 gave 'good', and was delivered again as None; results: {results}"


def test_one_attempt_is_enough(program):
    results = program.results_of([START_1, ("answered", "a", 1, None), ("started", "b", 1, None)])
    assert results == {"a": None}, f"a returned None, b has not answered; results: {results}"


def test_steps_are_independent(program):
    other = [("started", "b", 1, None), ("answered", "b", 1, "fine")]
    results = program.results_of([START_1, other[0], START_2, other[1], EARLY, LATE])
    assert results == {"a": "good", "b": "fine"}, f"b was tried once, a twice; results: {results}"
