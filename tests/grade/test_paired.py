"""Two planners on the same goals: the mean difference, and how far it may be chance."""

import random
from itertools import product
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planexec_lab.grade import Paired, paired
from tests.rounds import rounds


def test_planners_that_always_differ_by_the_same_are_told_apart() -> None:
    got = paired([1.0] * 6, [0.75] * 6)
    assert got == Paired(6, 0.25, 0.25, 0.25)
    assert got.told
    assert str(got) == "+0.25 [+0.25, +0.25] over 6 pairs"


def test_five_pairs_tell_nothing_however_they_agree() -> None:
    got = paired([1.0] * 5, [0.0] * 5)
    assert (got.low, got.high, got.told) == (1.0, 1.0, False)
    assert str(got) == "+1.00 [+1.00, +1.00] over 5 pairs: no difference can be told"
    assert "over 1 pair:" in str(paired([1.0], [0.0]))


def test_equal_planners_are_not_told_apart() -> None:
    assert not paired([0.5] * 20, [0.5] * 20).told
    won_and_lost = paired([1.0, 0.0] * 10, [0.0, 1.0] * 10)
    assert won_and_lost.mean == 0.0
    assert won_and_lost.low < 0 < won_and_lost.high


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        (([1.0], [1.0, 2.0]), "the same goals"),
        (([], []), "nothing to compare"),
        (([None], [1.0]), "nothing to compare"),
    ],
)
def test_nothing_to_compare_is_an_error(numbers: tuple[list[float | None], list[float | None]], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        paired(*numbers)


def test_the_interval_is_that_of_all_draws() -> None:
    differences = [0.0, 0.1, 0.4, 0.5, 1.0]
    every = sorted(fmean(draw) for draw in product(differences, repeat=5))  # all 3125, in place of chance
    outside = int(len(every) * 0.025)
    got = paired(differences, [0.0] * 5, resamples=20_000)
    assert got.low == pytest.approx(every[outside], abs=0.021)
    assert got.high == pytest.approx(every[-1 - outside], abs=0.021)


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=12), st.integers(0, 99))
@rounds(100)
def test_the_same_seed_gives_the_same_interval_around_the_mean(pairs: list[tuple[float, float]], seed: int) -> None:
    one, other = [a for a, _ in pairs], [b for _, b in pairs]
    random.seed(seed)  # what others draw changes nothing
    got = paired(one, other, seed=seed, resamples=200)
    assert got == paired(one, other, seed=seed, resamples=200)
    assert min(a - b for a, b in pairs) - 1e-9 <= got.low <= got.high <= max(a - b for a, b in pairs) + 1e-9
