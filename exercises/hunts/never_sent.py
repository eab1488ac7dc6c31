"""The letter that was never sent

Lesson 10 · difficulty 2 of 5 · 10 minutes

The machine crashed once in the night. The journal says that Ben's letter was sent. Ben has no letter.

    out: Ann, Cleo
    for a person to check: Ben
"""

# %% program
"""Send letters, and continue after a crash from a journal that survives it."""


class Crash(Exception):
    """The machine goes down."""


def send_all(names, journal, send):
    """Send a letter to each name, in order; return the names that a person must check.

    `journal` is a list of entries, each a pair of a word and a name. Appended entries
    survive a crash; entries are never changed. A crash can happen inside `send`, before or
    after the letter is sent. If the journal proves that a letter was sent, it is not sent
    again. If the journal can't tell, it is not sent again either: the name is returned, and
    the other letters are sent.
    """
    for name in names:
        if ("sent", name) in journal:
            continue
        journal.append(("sent", name))
        send(name)
    return []


class Post:
    """Sends letters; crashes once, before Ben's letter is sent."""

    def __init__(self):
        self.out, self.crashed = [], False

    def send(self, name):
        if name == "Ben" and not self.crashed:
            self.crashed = True
            raise Crash
        self.out.append(name)


if __name__ == "__main__":
    post, journal, names = Post(), [], ["Ann", "Ben", "Cleo"]
    try:
        send_all(names, journal, post.send)
    except Crash:
        unknown = send_all(names, journal, post.send)
    print("out:", ", ".join(post.out))
    print("for a person to check:", ", ".join(unknown) or "nobody")

# %% test
NAMES = ["Cleo", "Ben", "Ann"]


def started_again(program, *crashes):
    """Return the sent letters and the returned names when the machine crashes at these moments, such as ("before", "Ben")."""
    out, journal, left, seen = [], [], list(crashes), []

    def down(moment):
        if left and left[0] == moment:
            del left[0]
            raise program.Crash

    def send(name):
        seen.append(list(journal))
        down(("before", name))
        out.append(name)
        down(("behind", name))

    while True:
        try:
            unknown = program.send_all(NAMES, journal, send)
        except program.Crash:
            continue
        assert all(journal[: len(early)] == early for early in seen), "an entry of the journal was changed"
        return out, list(unknown), journal


def test_a_letter_in_doubt_is_returned(program):
    out, unknown, _ = started_again(program, ("before", "Ben"))
    assert unknown == ["Ben"], f"the crash came before Ben's letter was sent; names to check: {unknown}, wanted ['Ben']"
    assert out == ["Cleo", "Ann"], f"the crash came before Ben's letter was sent; sent: {out}"


def test_the_journal_cannot_tell_before_from_after(program):
    out, unknown, _ = started_again(program, ("behind", "Ben"))
    assert out.count("Ben") == 1, f"the crash came after Ben's letter was sent; copies that he has: {out.count('Ben')}"
    assert unknown == ["Ben"], f"the crash came after Ben's letter was sent; names to check: {unknown}, wanted ['Ben']"


def test_without_a_crash_each_name_gets_one_letter(program):
    out, unknown, journal = started_again(program)
    assert (out, unknown) == (NAMES, []), f"no crash; sent: {out}, names to check: {unknown}"
    again = program.send_all(NAMES, journal, out.append)
    assert (out, list(again)) == (NAMES, []), (
        f"started again after all letters were sent; sent: {out}, names to check: {again}"
    )


def test_it_can_crash_twice(program):
    out, unknown, _ = started_again(program, ("behind", "Cleo"), ("before", "Ann"))
    assert out == ["Cleo", "Ben"], f"crashes after Cleo's letter and before Ann's; sent: {out}"
    assert unknown == ["Cleo", "Ann"], f"crashes at Cleo's letter and at Ann's; names to check: {unknown}"


def test_a_letter_in_doubt_stays_in_doubt(program):
    _, _, journal = started_again(program, ("before", "Ben"))
    out = []
    unknown = program.send_all(NAMES, journal, out.append)
    assert (out, list(unknown)) == ([], ["Ben"]), (
        f"a third start, with Ben in doubt; sent: {out}, names to check: {unknown}"
    )


# %% hints
HINT = (
    """Imagine the crash between each two lines, one after the other. What does the journal say then, and is it true?"""
)
QUESTION = """One entry can't record both that sending starts and that it succeeded. If there are two entries, what does the
first without the second mean?"""
SEEN = """microsoft/agent-framework, issue 3938: a step crashes after it has sent a mail and before it records that; after
the resume, it sends the mail again. The opposite order loses the mail: Celery by default takes a task off the
queue just before it is carried out (see acks_late). Neither reports which mails are in doubt."""
