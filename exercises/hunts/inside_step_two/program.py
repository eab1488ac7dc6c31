"""Carry out a plan whose steps call a model or are inner plans. The log records each call's cost and error."""

TRIES = 2


def carry_out(plan, log):
    """Return the last result of a plan. A step is a pair: its id, and a call (a function and its cost in cents) or a plan.

    Each attempt of a call adds a line to the log: (step, cents, error). An attempt costs the same whether it succeeds
    or fails; the error of a successful attempt is "". Step 1 of the plan inside step 2 is called "2.1". A failed call
    is tried again once. If it fails again, the plan ends with its error, and so does the outer plan.
    """
    result = None
    for id, task in plan:
        if isinstance(task, list):
            result = inside(task)
            log.append((id, 0, ""))
        else:
            result = tried(id, *task, log)
    return result


def inside(plan):
    """Carry out a plan that is a step of another plan."""
    try:
        return carry_out(plan, [])
    except Exception:
        return None


def tried(id, call, cents, log, tries=TRIES):
    """Try a call, up to the allowed number of attempts."""
    try:
        result = call()
    except Exception as error:
        log.append((id, cents, str(error)))
        if tries == 1:
            raise
        return tried(id, call, cents, log, tries - 1)
    log.append((id, cents, ""))
    return result


if __name__ == "__main__":
    bill, busy = [], ["the model is busy"]

    def ask(cents):
        def call():
            bill.append(cents)
            if cents == 5 and busy:
                raise ConnectionError(busy.pop())
            return "done"

        return call, cents

    log = []
    carry_out([("1", ask(2)), ("2", [("1", ask(3)), ("2", ask(5))]), ("3", ask(2))], log)
    for step, cents, error in log:
        print(f"{step:4}{cents:2} cents  {error}".rstrip())
    print(f"in all {sum(cents for _, cents, _ in log)} cents; the bill says {sum(bill)}")
