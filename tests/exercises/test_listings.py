"""Listings to review: each defect fails a program because of it, and nothing else is wrong with them."""

import pytest

from exercises.hunts.listings import KINDS, NAMES, Defect, Listing, evidence, listing

LISTINGS = [listing(name) for name in NAMES]
each_listing = pytest.mark.parametrize("one", LISTINGS, ids=lambda one: one.name)
each_defect = pytest.mark.parametrize(
    ("one", "defect"),
    [pytest.param(one, defect, id=f"{one.name}: {defect.kind}") for one in LISTINGS for defect in one.defects],
)


@each_defect
def test_a_program_fails_because_of_the_defect_alone(one: Listing, defect: Defect) -> None:
    assert evidence(one.source, defect), "the program passes"
    assert evidence(one.fixed(defect), defect) == "", "it fails although this defect is fixed"
    others = [other for other in one.defects if other is not defect]
    assert evidence(one.fixed(*others), defect), "fixing the others fixes this defect, too"
    for other in others:
        assert evidence(one.fixed(other), defect), f"fixing {other.kind} fixes this defect, too"
    changed = set()
    for old, _ in defect.fix:
        first = one.source[: one.source.index(old)].count("\n") + 1
        changed |= set(range(first, first + old.rstrip("\n").count("\n") + 1))
    assert changed & set(defect.lines), f"{sorted(changed)} are changed"


@each_listing
def test_a_defect_is_named_by_its_kind_at_lines_of_code(one: Listing) -> None:
    code = {n: line for n, line in enumerate(one.source.splitlines(), 1) if line.strip()}
    assert len({defect.kind for defect in one.defects}) == len(one.defects)
    head = one.source[3:].index('"""')
    first = one.source[: head + 3].count("\n") + 2
    for line, kind in one.accepted:
        assert kind in KINDS
        assert line in code
        assert line >= first
    assert one.also.isdisjoint({(line, defect.kind) for defect in one.defects for line in defect.lines})
