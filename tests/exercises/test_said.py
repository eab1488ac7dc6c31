"""Predictions may be written in many forms, and none of them is taken for another."""

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from exercises.checker.checks import said
from exercises.checker.exercise import Trial, Wrong, shown

FORM, RULE = "letters from A to F", "A prediction names letters."
WRITTEN = ["AC", "ac", "A, C", "A and C", "A < C", " A C ", ["A", "C"], ("a", "c"), ["A, in words", "C, too"]]
SETS = [{"A", "C"}, frozenset("AC"), {"A": True, "B": False, "C": True}, {1: "A", 2: "C"}, {"A": 1, "C": 2}.keys()]
NO_LETTERS = [3, None, ..., True, "ACG", "not A", [["A"]], ["A", None], ["A", 1], b"AC", (one for one in "AC"), len]


@pytest.mark.parametrize("value", [*WRITTEN, *SETS], ids=shown)
def test_the_same_letters_are_read_from_every_form(value: Any) -> None:
    assert sorted(said.names(Trial(), value, "ABCDEF", FORM, RULE)) == ["A", "C"]


@pytest.mark.parametrize("value", NO_LETTERS, ids=shown)
def test_what_names_no_letters_is_refused_in_words(value: Any) -> None:
    with pytest.raises(Wrong) as refused:
        said.names(Trial(), value, "ABCDEF", FORM, RULE)
    assert refused.value.wanted == FORM


def test_names_keep_their_order_and_may_be_numbers_or_words() -> None:
    assert said.names(Trial(), "D < B < C < A", "ABCD", FORM, RULE, in_order=True) == list("DBCA")
    with pytest.raises(Wrong):
        said.names(Trial(), {"D", "B"}, "ABCD", FORM, RULE, in_order=True)
    assert said.names(Trial(), range(1, 4), "12345", FORM, RULE) == ["1", "2", "3"]
    assert said.names(Trial(), "stock, Roast and 5b", ["stock", "roast", "5b"], FORM, RULE) == ["stock", "roast", "5b"]


@pytest.mark.parametrize("value", [7, 7.0, Fraction(7), Decimal(7)], ids=repr)
def test_a_number_of_any_kind_is_a_number(value: Any) -> None:
    assert said.number(Trial(), value, FORM) == 7


@pytest.mark.parametrize("value", ["7", True, None, ..., [7], 7j], ids=repr)
def test_what_is_no_number_is_refused(value: Any) -> None:
    with pytest.raises(Wrong):
        said.number(Trial(), value, FORM)
