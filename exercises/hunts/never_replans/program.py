"""An agent that reviews its plan every N steps."""


def is_due(number, every):
    """Return whether the planner is called before step `number`: before step 1, and again after every `every` steps.

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
