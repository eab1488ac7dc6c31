"""What came of each step, from the messages of a worker pool in the order of their arrival."""

MESSAGES = [
    ("started", "invoice", 1, None),
    ("started", "letter", 1, None),
    ("answered", "letter", 1, "Dear Ann"),
    ("started", "invoice", 2, None),  # no answer for a minute: attempt 1 is given up, attempt 2 sent out
    ("answered", "invoice", 2, "invoice 1042"),
    ("answered", "invoice", 1, None),  # attempt 1 was not dead: it found that the invoice exists, and did nothing
]


def results_of(messages):
    """Return the result of each step, by step; a message is (kind, step, attempt, result).

    A new attempt means that the one before it was given up: its answer no longer counts, whenever it arrives. An answer
    may be delivered twice; the first delivery counts. A step whose attempt has not answered yet has no result.
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
