NAMES = ["Ann", "Ben", "Cleo"]


def started_again(program, *crashes):
    """What is out, and what is returned, when the machine goes down at these moments, such as ("before", "Ben")."""
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
            assert not seen or journal[: len(seen[-1])] == seen[-1], "what stands in the journal was changed"
            continue
        return out, list(unknown), journal


def test_a_letter_of_which_nobody_knows_is_returned(program):
    out, unknown, _ = started_again(program, ("before", "Ben"))
    assert unknown == ["Ben"], f"the machine went down before the letter was out; to look at: {unknown}, wanted ['Ben']"
    assert out == ["Ann", "Cleo"], f"the machine went down before Ben's letter was out; out are {out}"


def test_the_journal_can_not_tell_before_from_behind(program):
    out, unknown, _ = started_again(program, ("behind", "Ben"))
    assert out.count("Ben") == 1, f"Ben's letter was out when the machine went down; he has {out.count('Ben')}"
    assert unknown == ["Ben"], f"the machine went down behind the letter to Ben; to look at: {unknown}, wanted ['Ben']"


def test_without_a_crash_everybody_gets_one_letter(program):
    out, unknown, journal = started_again(program)
    assert (out, unknown) == (NAMES, []), f"nothing crashed; out are {out}, to look at: {unknown}"
    again = program.send_all(NAMES, journal, out.append)
    assert (out, list(again)) == (NAMES, []), f"started again when all was done; out are {out}, to look at: {again}"


def test_it_may_go_down_twice(program):
    out, unknown, _ = started_again(program, ("behind", "Ann"), ("before", "Cleo"))
    assert out == ["Ann", "Ben"], f"down behind Ann's letter, and before Cleo's; out are {out}"
    assert unknown == ["Ann", "Cleo"], f"down at Ann's letter and at Cleo's; to look at: {unknown}"


def test_who_is_to_be_looked_at_stays_so(program):
    _, _, journal = started_again(program, ("before", "Ben"))
    out = []
    unknown = program.send_all(NAMES, journal, out.append)
    assert (out, list(unknown)) == ([], ["Ben"]), (
        f"a third start, with Ben unknown; out are {out}, to look at: {unknown}"
    )
