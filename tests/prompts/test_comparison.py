"""Did it get better? Backtests on recorded answers, intervals, and a check that is red at a regression and seldom at noise."""

from __future__ import annotations

from math import comb
from random import Random

import pytest

from planexec_lite import recorded
from planexec_lite.planning import INSTRUCTIONS
from planexec_lite.prompts import (
    MEASURES,
    Backtest,
    Comparison,
    PromptVersion,
    RegressionError,
    Row,
    backtest,
    check,
    compare,
    recorded_answers,
    rows_from_transcript,
)
from planexec_lite.recorded import RecordedAnswer, Transcript

WHOLE = PromptVersion("planner", 1, INSTRUCTIONS)


def without(rule: str, transcript: Transcript) -> PromptVersion:
    return PromptVersion("planner", 2, transcript.variants[f"without {rule}"].prompt)


def held_against(new: PromptVersion, old: PromptVersion, transcript: Transcript, measure: str) -> Comparison:
    rows, answers = rows_from_transcript(transcript), recorded_answers(transcript)
    return compare(backtest(new, rows, answers, measure), backtest(old, rows, answers, measure))


def test_a_backtest_counts_as_the_recording_is_counted() -> None:
    heard = recorded.smollm2()
    counted = {"valid": recorded.is_valid, "calls right": recorded.calls_right, "ends a step": recorded.ends_a_step}
    assert counted.keys() == MEASURES.keys()
    for rule in recorded.RULES:
        new = without(rule, heard)
        for name, measure in counted.items():
            one = backtest(new, rows_from_transcript(heard), recorded_answers(heard), name)
            assert one.share == recorded.share(heard, f"without {rule}", measure)


def test_a_template_and_the_prompt_that_it_becomes_are_the_same_question() -> None:
    heard = recorded.smollm2()
    template = PromptVersion("planner", 2, recorded.without(INSTRUCTIONS, "failure"))
    rows, answers = rows_from_transcript(heard), recorded_answers(heard)
    assert backtest(template, rows, answers).answers == backtest(without("failure", heard), rows, answers).answers


def test_the_real_model_does_better_without_a_rule_and_the_way_back_is_red() -> None:
    heard = recorded.smollm2()
    shorter = without("failure", heard)
    better = check(held_against(shorter, WHOLE, heard, "ends a step"))
    assert (round(better.value, 2), round(better.low, 2), round(better.high, 2)) == (0.33, 0.08, 0.53)
    assert better.told
    assert not better.new.written
    assert "written" not in str(better)
    worse = held_against(WHOLE, shorter, heard, "ends a step")
    assert worse.is_regression()
    with pytest.raises(RegressionError, match=r"planner 1 is worse than planner 2\nanswers of SmolLM2"):
        check(worse)
    assert check(worse, tolerance=0.1) is worse


def test_more_hits_alone_are_no_improvement() -> None:
    heard = recorded.smollm2()
    comparison = held_against(without("ids", heard), WHOLE, heard, "ends a step")
    assert comparison.value > 0
    assert not comparison.told
    assert "nothing can be told" in str(comparison)


def test_a_measure_that_is_zero_everywhere_is_bad_input() -> None:
    heard = recorded.smollm2()
    comparison = held_against(without("failure", heard), WHOLE, heard, "valid")
    with pytest.raises(ValueError, match="could never turn red: the old version has 'valid' in 0 of 30 rows"):
        check(comparison)


def test_the_written_family_is_red_where_it_was_written_and_says_so() -> None:
    family = recorded.family()
    red = {}
    for rule in recorded.RULES:
        comparison = held_against(without(rule, family), WHOLE, family, "valid")
        assert "written, so nothing about a model" in str(comparison)
        try:
            check(comparison)
        except RegressionError:
            red[rule] = round(comparison.value, 2)
    assert red == {"references": -0.6, "dependencies": -0.4, "JSON alone": -0.5}


def test_what_was_never_asked_has_no_answer() -> None:
    heard = recorded.smollm2()
    rows, answers = rows_from_transcript(heard), recorded_answers(heard)
    with pytest.raises(LookupError, match="was never asked with this text; it was asked with: whole, without ids"):
        backtest(PromptVersion("p", 1, INSTRUCTIONS + " Please."), rows, answers)
    with pytest.raises(LookupError, match="row '1' was never put to SmolLM2"):
        backtest(WHOLE, rows_from_transcript(recorded.family()), answers)
    with pytest.raises(ValueError, match="there is no measure 'vaild'; did you mean 'valid'"):
        backtest(WHOLE, rows, answers, "vaild")
    with pytest.raises(ValueError, match="measured on none of the 0 rows"):
        backtest(WHOLE, [], answers)


def test_what_was_not_measured_alike_is_not_compared() -> None:
    heard = recorded.smollm2()
    rows, answers = rows_from_transcript(heard), recorded_answers(heard)
    one = backtest(WHOLE, rows, answers)
    with pytest.raises(ValueError, match="with different rows"):
        compare(one, backtest(WHOLE, rows[:9], answers))
    with pytest.raises(ValueError, match="with different measure"):
        compare(one, backtest(WHOLE, rows, answers, "calls right"))


# Intervals, and noise


def passing(number: int, passed: list[bool | None], *, same_question: bool = False) -> Backtest:
    """A backtest that passed so: of one question, or of as many as there are rows."""
    rows = tuple(Row(str(n), "goal" if same_question else f"goal {n}", ()) for n in range(len(passed)))
    answers = (RecordedAnswer("", "stop", 0, 0, 0, ""),) * len(rows)
    return Backtest(PromptVersion("p", number, "text"), rows, answers, tuple(passed), "passed", "a test", True)


def test_rows_with_questions_of_their_own_are_pairs() -> None:
    old, new = [True, False] * 10, [True, False] * 8 + [True] * 4
    pairs = compare(passing(2, list(new)), passing(1, list(old)))
    draws = compare(passing(2, list(new), same_question=True), passing(1, list(old), same_question=True))
    assert (pairs.method, pairs.questions) == ("paired", 20)
    assert (draws.method, draws.questions) == ("two shares", 1)
    assert [pairs.value, draws.value] == pytest.approx([0.1, 0.1])
    assert pairs.high - pairs.low < draws.high - draws.low  # what a hard question does to both is no noise
    assert [row.id for row, _, _ in pairs.changed] == ["17", "19"]


def test_a_row_that_can_not_be_measured_is_no_failure() -> None:
    comparison = compare(passing(2, [True, None, True] * 4), passing(1, [None, True, True] * 4))
    assert comparison.value == 0
    assert comparison.new.share == recorded.Share(4, 4)  # of the rows that both have


@pytest.mark.parametrize("tolerance", [-0.1, 1.0, float("nan"), 7])
def test_a_tolerance_is_a_share(tolerance: float) -> None:
    with pytest.raises(ValueError, match="give the share by which a version may be worse"):
        check(compare(passing(2, [True] * 30), passing(1, [True] * 30)), tolerance)


def test_too_few_rows_and_too_much_tolerance_are_bad_input() -> None:
    for rows, tolerance in [(5, 0.0), (30, 0.95)]:
        same = passing(1, [True] * rows, same_question=True)
        with pytest.raises(ValueError, match="could never turn red"):
            check(compare(same, same), tolerance)


@pytest.mark.slow
@pytest.mark.parametrize("same_question", [True, False])
@pytest.mark.parametrize("share", [0.3, 0.5, 0.9])
def test_the_check_is_seldom_red_at_noise_and_red_at_a_regression(share: float, same_question: bool) -> None:
    """Of equals, one side in forty is expected to look worse; of a version that loses nearly all, most are seen."""
    random, runs = Random(f"{share} {same_question}"), 100

    def red(new: float) -> int:
        count = 0
        for _ in range(runs):
            sides = [[random.random() < each for _ in range(30)] for each in (new, share)]
            both = [passing(2 - n, list(side), same_question=same_question) for n, side in enumerate(sides)]
            count += compare(*both).is_regression()
        return count

    assert red(share) <= 0.06 * runs
    assert red(max(0.0, share - 0.7)) >= 0.6 * runs if share > 0.3 else red(0.0) >= 0.6 * runs


def red_of(pairs: int, chance: float) -> float:
    """How often two versions that are equally good turn a check red, where each row is changed so often in each direction."""
    red = 0.0
    for worse in range(pairs + 1):
        for better in range(pairs + 1 - worse):
            same = pairs - worse - better
            old = [True] * worse + [False] * better + [True] * same
            new = [False] * worse + [True] * better + [True] * same
            if worse > better and compare(passing(2, list(new)), passing(1, list(old))).is_regression():
                red += (
                    comb(pairs, worse)
                    * comb(same + better, better)
                    * chance ** (worse + better)
                    * (1 - 2 * chance) ** same
                )
    return red


@pytest.mark.parametrize("pairs", [6, 8])
def test_of_few_pairs_too_two_equal_versions_are_seldom_red(pairs: int) -> None:
    assert max(red_of(pairs, chance) for chance in (0.25, 0.35)) < 0.035  # the plain bootstrap's: 0.06


def test_three_of_six_rows_that_got_worse_may_be_chance_and_four_are_not() -> None:
    old = passing(1, [True] * 6)
    assert not compare(passing(2, [True] * 3 + [False] * 3), old).is_regression()
    assert compare(passing(2, [True] * 2 + [False] * 4), old).is_regression()


def test_where_all_rows_came_out_alike_the_interval_still_has_a_width() -> None:
    same = compare(passing(2, [True] * 20), passing(1, [True] * 20))
    assert same.low < 0 < same.high
    worse = compare(passing(2, [False] * 20), passing(1, [True] * 20))
    assert -1 == worse.low < worse.high < -0.5
    with pytest.raises(RegressionError):
        check(worse)


@pytest.mark.parametrize("same_question", [True, False])
def test_rows_that_were_measured_for_one_version_alone_do_not_count(same_question: bool) -> None:
    old = passing(1, [True] * 18 + [False] * 2, same_question=same_question)
    new = passing(2, [True] * 7 + [None] * 13, same_question=same_question)  # it hides where it fails
    comparison = compare(new, old)
    assert comparison.value == 0
    assert comparison.new.share == comparison.old.share == recorded.Share(7, 7)
    assert not comparison.changed
    assert "7 of 20 rows" in str(comparison)
    assert "measured" not in str(compare(old, old))
    other = passing(2, [False] * 10 + [None] * 10, same_question=same_question)
    with pytest.raises(ValueError, match="no row has 'passed' measured for both p 2 and p 1; take other rows"):
        compare(other, passing(1, [None] * 10 + [True] * 10, same_question=same_question))
