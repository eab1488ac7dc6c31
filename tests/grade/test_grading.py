"""Grades agree with an independent witness; paired comparison."""

import random
from itertools import product
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planexec_lab.grade import Grade, grade, paired
from planexec_lab.grade.matching import matched
from planexec_lite import Plan, Step, Toolbox, tool
from planexec_lite.plan import PlanError
from tests.grade import witness
from tests.grade.witness import plan, plans
from tests.rounds import rounds

GOLD = plan("1 backup; 2 write; 3 test < 2; 4 migrate < 1 3")


def test_the_same_call_is_paired_before_another_call_of_its_tool() -> None:
    search = [Step(id=id, tool="search", params={"query": city}) for id, city in (("1", "Oslo"), ("2", "Paris"))]
    gold = Plan(steps=(*search, Step(id="3", tool="weather", depends_on=("2",))))
    ours = Plan(steps=(search[1], Step(id="9", tool="weather", depends_on=("2",))))
    assert matched(ours, gold) == [("2", "2"), ("9", "3")]
    assert grade(ours, gold).order_kept == 1.0


def test_steps_without_a_tool_are_told_by_their_words() -> None:
    words = [
        Plan(steps=(Step(id="1", description=text),)) for text in ("Open  the Door", "open the door", "shut the door")
    ]
    assert grade(words[0], words[1]).tool_f1 == 1.0
    assert grade(words[0], words[2]).tool_f1 == 0.0


@tool(effects="none")
def look() -> str:
    """Look."""
    return ""


def test_an_invalid_plan_is_graded_with_its_problems() -> None:
    bad = grade(plan("1 look; 2 shout"), plan("1 look; 2 send"), Toolbox([look]))
    assert (bad.valid, bad.problems, bad.tool_f1) == (False, ("unknown_tool",), 0.5)
    assert grade(plan("1 look; 2 shout"), plan("1 look")).valid, "without tools, no name is checked"


def test_an_answer_that_was_no_plan_gets_nothing() -> None:
    assert grade(None, GOLD) == Grade(False, ("no_plan",), 0.0, 0.0)


def test_a_gold_plan_must_be_valid() -> None:
    with pytest.raises(PlanError, match="gold plan must be valid"):
        grade(GOLD, plan("1 a < 1"))


def test_steps_with_one_id_are_graded_whatever_their_order() -> None:
    twice = [Step(id="1", tool="a"), Step(id="1", tool="b"), Step(id="2", tool="c", depends_on=("1",))]
    one, other = (grade(Plan(steps=tuple(steps)), plan("1 a; 2 c < 1")) for steps in (twice, twice[::-1]))
    assert one == other
    assert (one.problems, one.tool_f1) == (("duplicate_id",), 0.8)


@given(plans(), plans(), st.randoms(use_true_random=False))
@rounds(200)
def test_the_order_of_the_lists_does_not_matter(one: Plan, gold: Plan, random: st.DataObject) -> None:
    def mixed(shown: Plan) -> Plan:
        return shown.changed(steps=tuple(random.sample(shown.steps, len(shown.steps))))

    assert grade(mixed(one), mixed(gold)) == grade(one, gold)


@given(plans(), plans())
@rounds(200)
def test_tools_agree_with_the_witness(one: Plan, gold: Plan) -> None:
    got = grade(one, gold)
    assert got.tool_f1 == pytest.approx(witness.tool_f1(one, gold))


@given(plans(repeats=False), plans(repeats=False))
@rounds(200)
def test_the_order_kept_agrees_with_the_closure_of_the_witness(one: Plan, gold: Plan) -> None:
    assert grade(one, gold).order_kept == pytest.approx(witness.order_kept(one, gold))


@given(plans(), plans())
@rounds(200)
def test_as_many_steps_are_paired_as_can_be(one: Plan, gold: Plan) -> None:
    pairs = matched(one, gold)
    tools = [{step.id: step.tool for step in shown.steps} for shown in (one, gold)]
    assert len(pairs) == witness.most_pairs(one, gold)
    assert len({ours for ours, _ in pairs}) == len({theirs for _, theirs in pairs}) == len(pairs)
    assert all(tools[0][ours] == tools[1][theirs] for ours, theirs in pairs)


@pytest.mark.parametrize(
    ("one", "other", "words"),
    [
        ([1.0] * 6, [0.75] * 6, "+0.25 [+0.25, +0.25] over 6 pairs"),
        ([1.0] * 5, [0.0] * 5, "+1.00 [+1.00, +1.00] over 5 pairs: no difference can be told"),
        ([1.0], [0.0], "+1.00 [+1.00, +1.00] over 1 pair: no difference can be told"),
        ([0.5] * 20, [0.5] * 20, "+0.00 [+0.00, +0.00] over 20 pairs: no difference can be told"),
        ([1.0, 0.0] * 10, [0.0, 1.0] * 10, "+0.00 [-0.40, +0.40] over 20 pairs: no difference can be told"),
    ],
)
def test_a_difference_is_told_from_six_pairs_whose_interval_lacks_zero(
    one: list[float], other: list[float], words: str
) -> None:
    assert str(paired(one, other)) == words


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        (([1.0], [1.0, 2.0]), "the same goals"),
        (([], []), "nothing to compare"),
    ],
)
def test_nothing_to_compare_is_an_error(numbers: tuple[list[float], list[float]], words: str) -> None:
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
