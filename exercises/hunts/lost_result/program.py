"""Collect the results of steps from a worker pool's messages, in order of arrival."""

MESSAGES = [
    ("started", "invoice", 1, None),
    ("started", "letter", 1, None),
    ("answered", "letter", 1, "Dear Ann"),
    ("started", "invoice", 2, None),  # no answer for a minute: attempt 2 replaces attempt 1
    ("answered", "invoice", 2, "invoice 1042"),
    ("answered", "invoice", 1, None),  # attempt 1 was not dead: it found that the invoice exists, and did nothing
]


def results_of(messages):
    """Return the result of each step, by step; a message is (kind, step, attempt, result).

    A new attempt replaces the previous one: an answer to the previous attempt no longer counts, no matter when it
    arrives. An answer can be delivered twice; the first delivery counts. A step whose latest attempt has not answered
    has no result.
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
