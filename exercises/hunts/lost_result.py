"""The invoice was there, and then it was not

Lesson 10 · difficulty 4 of 5 · 20 minutes

A step is tried twice and succeeds. A minute later its result is empty.

    letter: Dear Ann
    invoice: invoice 1042
"""

# %% program
"""Collect the results of steps from a worker pool's messages, in order of arrival."""

MESSAGES = [
    ("started", "invoice", 1, None),
    ("started", "letter", 1, None),
    ("answered", "letter", 1, "Dear Ann"),
    ("started", "invoice", 2, None),  # no answer for a minute: attempt 2 replaces attempt 1
    ("answered", "invoice", 2, "invoice 1042"),
    (
        "answered",
        "invoice",
        1,
        None,
    ),  # attempt 1 was not dead: it found that the invoice exists, and did nothing
]


def results_of(messages):
    """Return the result of each step, by step; a message is (kind, step, attempt, result).

    A new attempt replaces the previous one: an answer to the previous attempt no longer
    counts, no matter when it arrives. An answer can be delivered twice; the first delivery
    counts. A step whose latest attempt has not answered has no result.
    """
    results = {}
    for kind, step, _attempt, result in messages:
        if kind == "started":
            results.pop(step, None)
        else:
            results[step] = result
    return results


if __name__ == "__main__":
    for step, result in results_of(MESSAGES).items():
        print(f"{step}: {result}")

# %% test
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
    results = program.results_of([START_1, LATE, START_2])
    assert results == {}, f"attempt 1 answered, but attempt 2 replaced it and has not answered; results: {results}"
    results = program.results_of([START_1, LATE, START_2, EARLY])
    assert results == {"a": "good"}, f"attempt 1 answered 'stale' before attempt 2 replaced it; results: {results}"
    results = program.results_of([START_1, START_2, LATE, EARLY])
    assert results == {"a": "good"}, (
        f"attempt 2 replaced attempt 1 before its answer 'stale' arrived; results: {results}"
    )


def test_an_answer_that_is_delivered_twice_counts_once(program):
    for first, second in (("good", None), (None, "good"), ("", 0)):
        answers = [("answered", "a", 2, result) for result in (first, second)]
        results = program.results_of([START_1, START_2, *answers])
        assert results == {"a": first}, f"attempt 2 gave {first!r}, and was delivered again as {second!r}; {results}"


def test_one_attempt_is_enough(program):
    results = program.results_of([START_1, ("answered", "a", 1, None), ("started", "b", 1, None)])
    assert results == {"a": None}, f"a returned None, b has not answered; results: {results}"


def test_steps_are_independent(program):
    other = [("started", "b", 1, None), ("answered", "b", 1, "fine")]
    results = program.results_of([START_1, other[0], START_2, other[1], EARLY, LATE])
    assert results == {"a": "good", "b": "fine"}, f"b was tried once, a twice; results: {results}"


# %% hints
HINT = """Read the messages in order, and note the result after each. When does it change?"""
QUESTION = """A message has a field that the program ignores. Which attempt sent this answer?"""
SEEN = """Conductor (conductor-oss), issue 1322: a task ran twice, and the late completion of the superseded attempt
overwrote the output of the finished task. An agent's later turns then read the wrong answer."""
