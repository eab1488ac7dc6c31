PLAN = {"a": "write it", "b": "ask Ann", "c": {"a": "build it", "b": "ask Ben", "c": "publish it"}, "d": "tell"}
DEEP = {"1": {"2": {"3": "one"}, "23": "two"}, "12": {"3": "three"}, "4": {"2": {"3": "four"}}}
TWICE = {"a": "wait", "b": {"c": "wait", "d": "knock"}, "e": "wait"}


def texts(plan):
    return [text for step in plan.values() for text in (texts(step) if isinstance(step, dict) else [step])]


def done(program, plan, *crashes):
    """Return the finished steps when the machine crashes before the steps with these numbers and is restarted each time."""
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
            assert journal[: len(before)] == before, "an entry of the journal was changed"
        return out


def test_inner_and_outer_steps_with_one_id_are_different(program):
    out = done(program, PLAN)
    assert out == texts(PLAN), f"an inner plan uses ids of the outer plan; done: {out}"


def test_nothing_is_done_twice_after_a_crash(program):
    for number in range(len(texts(PLAN))):
        out = done(program, PLAN, number)
        assert out == texts(PLAN), f"crash before {texts(PLAN)[number]!r} and restarted; done: {out}"


def test_plans_can_be_nested_at_any_depth(program):
    out = done(program, DEEP)
    assert out == texts(DEEP), f"plans inside plans, three levels; done: {out}"


def test_two_steps_can_have_the_same_text(program):
    out = done(program, TWICE)
    assert out == texts(TWICE), f"three steps are 'wait'; done: {out}"


def test_a_second_start_does_nothing(program):
    out, journal = [], []
    program.carry_out(PLAN, out.append, journal)
    program.carry_out(PLAN, out.append, journal)
    assert out == texts(PLAN), f"restarted after all steps were done; done: {out}"
