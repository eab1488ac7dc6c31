NAMES = ["Ann", "Ben", "Cleo"]


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
            assert not seen or journal[: len(seen[-1])] == seen[-1], "an entry of the journal was changed"
            continue
        return out, list(unknown), journal


def test_a_letter_in_doubt_is_returned(program):
    out, unknown, _ = started_again(program, ("before", "Ben"))
    assert unknown == ["Ben"], f"the crash came before Ben's letter was sent; names to check: {unknown}, wanted ['Ben']"
    assert out == ["Ann", "Cleo"], f"the crash came before Ben's letter was sent; sent: {out}"


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
    out, unknown, _ = started_again(program, ("behind", "Ann"), ("before", "Cleo"))
    assert out == ["Ann", "Ben"], f"crashes after Ann's letter and before Cleo's; sent: {out}"
    assert unknown == ["Ann", "Cleo"], f"crashes at Ann's letter and at Cleo's; names to check: {unknown}"


def test_a_letter_in_doubt_stays_in_doubt(program):
    _, _, journal = started_again(program, ("before", "Ben"))
    out = []
    unknown = program.send_all(NAMES, journal, out.append)
    assert (out, list(unknown)) == ([], ["Ben"]), (
        f"a third start, with Ben in doubt; sent: {out}, names to check: {unknown}"
    )
