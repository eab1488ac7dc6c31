"""The bill is four times what the log says

Lesson 13 · difficulty 2 of 5 · 10 minutes

A run's log adds up to four cents. The bill for the same run says seventeen. Every line of the log is correct.

    1    2 cents
    2.1  3 cents
    2.2  5 cents  the model is busy
    2.2  5 cents
    3    2 cents
    in all 17 cents; the bill says 17
"""

# %% program
"""Carry out a plan whose steps call a model or are inner plans. The log records each call's
cost and error.
"""

TRIES = 2


def carry_out(plan, log):
    """Return the last result of a plan. A step is a pair: its id, and a call (a function
    and its cost in cents) or a plan.

    Each attempt of a call adds a line to the log: (step, cents, error). An attempt costs
    the same whether it succeeds or fails; the error of a successful attempt is "". Step 1
    of the plan inside step 2 is called "2.1". A failed call is tried again once. If it
    fails again, the plan ends with its error, and so does the outer plan.
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


# %% test
class Provider:
    """A provider with a bill; `broken` says how often the calls for a question fail."""

    def __init__(self, **failures):
        self.bill, self.failures = [], failures

    def ask(self, question, cents):
        def call():
            self.bill.append((question, cents))
            if self.failures.get(question, 0):
                self.failures[question] -= 1
                raise ArithmeticError(f"no answer about {question}")
            return f"answer about {question}"

        return call, cents


def ran(program, provider, plan):
    """The result, the log, and what was raised."""
    log, result, error = [], None, None
    try:
        result = program.carry_out(plan, log)
    except Exception as problem:
        error = problem
    return result, log, error


def nested(provider):
    return [
        ("1", provider.ask("wind", 2)),
        ("2", [("1", provider.ask("sun", 3)), ("2", provider.ask("rain", 5))]),
        ("3", provider.ask("snow", 2)),
    ]


def test_the_log_adds_up_to_the_bill(program):
    provider = Provider(rain=1)
    _, log, _ = ran(program, provider, nested(provider))
    paid, told = (sum(one[1] for one in lines) for lines in (provider.bill, log))
    assert told == paid, f"the bill says {paid} cents, the log {told}: {log}"


def test_each_attempt_inside_a_step_has_its_own_line(program):
    provider = Provider(rain=1)
    _, log, _ = ran(program, provider, nested(provider))
    lines = [
        ("1", ""),
        ("2.1", ""),
        ("2.2", "no answer about rain"),
        ("2.2", ""),
        ("3", ""),
    ]
    told = [(step, error) for step, cents, error in log if cents]
    assert told == lines, f"five calls were made, {lines}; the log says {told}"


def test_the_log_shows_three_levels_of_plans(program):
    provider = Provider()
    plan = [("4", [("1", [("2", provider.ask("fog", 7))]), ("5", provider.ask("ice", 1))])]
    _, log, _ = ran(program, provider, plan)
    told = [(step, cents) for step, cents, _ in log if cents]
    assert told == [("4.1.2", 7), ("4.5", 1)], f"step 4.1.2 cost 7 cents and step 4.5 one; the log says {told}"


def test_an_error_inside_a_step_ends_the_outer_plan(program):
    provider = Provider(rain=2)
    result, _, error = ran(program, provider, nested(provider))
    asked = [question for question, _ in provider.bill]
    assert error is not None, f"step 2.2 failed twice; the plan ended with the result {result!r}"
    assert str(error) == "no answer about rain", (
        f"step 2.2 failed with 'no answer about rain'; the plan's error: {error}"
    )
    assert "snow" not in asked, "step 2 has failed, but step 3 started"


def test_failed_calls_cost_too(program):
    provider = Provider(rain=2)
    _, log, _ = ran(program, provider, nested(provider))
    told = [(step, cents, error) for step, cents, error in log if cents]
    failed = ("2.2", 5, "no answer about rain")
    wanted = [("1", 2, ""), ("2.1", 3, ""), failed, failed]
    assert told == wanted, f"the plan inside step 2 failed after three calls; the log says {told}"


def test_a_step_returns_the_result_of_its_inner_plan(program):
    provider = Provider()
    result, _, _ = ran(program, provider, nested(provider)[:2])
    assert result == "answer about rain", (
        f"the last call of the plan gave 'answer about rain', the plan gave {result!r}"
    )


# %% hints
HINT = """Compare the bill with the log, call by call. Which calls appear in only one of them?"""
QUESTION = """Where were the other calls recorded, and what became of that record? What would you know about them if one had
finally failed?"""
SEEN = """OpenAI's openai-agents-python, issue 1520: the tokens of an agent that another agent calls as a tool are not in
the usage of the outer run. Mastra, issue 15461: the tool that starts a subagent did not pass on the trace
context, so the inner run left no span."""
