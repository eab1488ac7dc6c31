"""Ben was not asked

Lesson 11 · difficulty 2 of 5 · 10 minutes

Ann approves the notes. The release has its own review, by Ben. It is published, and Ben was never asked.

    write the notes
    ask Ann about the notes
    build the release
    ask Ben about the release
    publish the release
"""

# %% program
"""Carry out a plan whose steps can contain plans, and continue after a crash from a journal
that survives it.
"""


class Crash(Exception):
    """The machine goes down."""


def carry_out(plan, do, journal):
    """Carry out a plan in order; skip the steps that `journal` records as done.

    `plan` maps ids to steps. A step is a string, which `do` carries out, or an inner plan,
    at any depth. Ids consist of letters and digits. An id is unique in its plan, but an
    inner plan can use the same ids. Each finished step is appended to `journal`, a list of
    strings or tuples; entries are never changed.
    """
    for id, step in plan.items():
        if id in journal:
            continue
        if isinstance(step, dict):
            carry_out(step, do, journal)
        else:
            do(step)
        journal.append(id)


RELEASE = {
    "build": "build the release",
    "review": "ask Ben about the release",
    "publish": "publish the release",
}
PLAN = {"notes": "write the notes", "review": "ask Ann about the notes", "release": RELEASE}

if __name__ == "__main__":
    carry_out(PLAN, print, [])

# %% test
PLAN = {
    "a": "write it",
    "b": "ask Ann",
    "c": {"a": "build it", "b": "ask Ben", "c": "publish it"},
    "d": "tell",
}
DEEP = {
    "1": {"2": {"3": "one"}, "23": "two"},
    "12": {"3": "three"},
    "4": {"2": {"3": "four"}},
}
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


# %% hints
HINT = """Print the journal just before Ben should be asked. Which step wrote the entry that the program finds?"""
QUESTION = """Two rooms of a hotel have the number 7, one on each floor. What else must a porter know to deliver the breakfast?"""
SEEN = """veryfront/veryfront-code, pull request 4388: an approval inside a sub-workflow counted as given because a step of
the outer plan had the same id; the guarded step ran. In ensemble-framework, pull request 36, ids of a subgraph
overwrote those of the graph."""
