PLAN = {"a": "write it", "b": "ask Ann", "c": {"a": "build it", "b": "ask Ben", "c": "publish it"}, "d": "tell"}
DEEP = {"1": {"2": {"3": "one"}, "23": "two"}, "12": {"3": "three"}, "4": {"2": {"3": "four"}}}
TWICE = {"a": "wait", "b": {"c": "wait", "d": "knock"}, "e": "wait"}


def texts(plan):
    return [text for step in plan.values() for text in (texts(step) if isinstance(step, dict) else [step])]


def done(program, plan, *crashes):
    """What was done, when the machine goes down before the steps with these numbers, and is started again each time."""
    out, journal, left = [], [], list(crashes)

    def do(text):
        if left and len(out) == left[0]:
            del left[0]
            raise program.Crash
        out.append(text)

    while True:
        before = list(journal)
        try:
            program.carry_out(plan, do, journal)
        except program.Crash:
            continue
        finally:
            assert journal[: len(before)] == before, "what stands in the journal was changed"
        return out


def test_a_step_inside_is_another_step_than_the_one_outside(program):
    out = done(program, PLAN)
    assert out == texts(PLAN), f"an inner plan has the ids of the outer one; done are {out}"


def test_nothing_is_done_twice_after_a_crash(program):
    for number in range(len(texts(PLAN))):
        out = done(program, PLAN, number)
        assert out == texts(PLAN), f"down before {texts(PLAN)[number]!r} and started again; done are {out}"


def test_plans_may_stand_at_any_depth(program):
    out = done(program, DEEP)
    assert out == texts(DEEP), f"plans inside plans, three deep; done are {out}"


def test_the_same_words_may_be_two_steps(program):
    out = done(program, TWICE)
    assert out == texts(TWICE), f"three steps say 'wait'; done are {out}"


def test_a_second_start_does_nothing_more(program):
    out, journal = [], []
    program.carry_out(PLAN, out.append, journal)
    program.carry_out(PLAN, out.append, journal)
    assert out == texts(PLAN), f"started again when all was done; done are {out}"
