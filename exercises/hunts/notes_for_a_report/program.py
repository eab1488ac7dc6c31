"""Find the answer of a finished plan."""


def answer(plan, results):
    """Return the answer: the result of the one step that no other step depends on.

    `plan` maps each step's id to the ids of its dependencies; `results` maps ids to results. All are strings.
    """
    last = max(results)
    return results[last]


PLAN = {"1": [], "9": ["1"], "10": ["9", "2"], "2": ["1"]}
RESULTS = {"1": "found three trends", "2": "wind: read", "9": "solar: read", "10": "the report"}

if __name__ == "__main__":
    print("answer:", answer(PLAN, RESULTS))
