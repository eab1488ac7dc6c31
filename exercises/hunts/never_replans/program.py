"""An agent that looks at its plan anew every N steps."""


def is_due(number, every):
    """Whether the planner is asked before step `number`: before step 1, and again after every `every` steps.

    Steps are counted from 1.
    """
    return number % every == 1


def run(steps, every):
    """Return what happens, in order."""
    log = []
    for number in range(1, steps + 1):
        if is_due(number, every):
            log.append("plan")
        log.append(str(number))
    return log


if __name__ == "__main__":
    for every in (3, 2, 1):
        print(f"every {every}:", *run(6, every))
