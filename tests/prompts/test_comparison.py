"""Versions on the real recording, and the check that is red at a regression, also as a command."""

import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from planexec_lab import recorded
from planexec_lab.prompts import (
    MEASURES,
    Backtest,
    Comparison,
    PromptVersion,
    Registry,
    RegressionError,
    Row,
    backtest,
    check,
    compare,
    recorded_answers,
    rows_from_transcript,
)
from planexec_lab.prompts.__main__ import main
from planexec_lab.recorded import RecordedAnswer, Transcript
from planexec_lite.roles.planners import INSTRUCTIONS

WHOLE = PromptVersion("planner", 1, INSTRUCTIONS)


def without(rule: str, transcript: Transcript) -> PromptVersion:
    return PromptVersion("planner", 2, transcript.variants[f"without {rule}"].prompt)


def held_against(new: PromptVersion, old: PromptVersion, transcript: Transcript, measure: str) -> Comparison:
    rows, answers = rows_from_transcript(transcript), recorded_answers(transcript)
    return compare(backtest(new, rows, answers, measure), backtest(old, rows, answers, measure))


def test_a_backtest_counts_as_the_recording_is_counted() -> None:
    heard = recorded.smollm2()
    counted = {"valid": recorded.is_valid, "ends a step": recorded.ends_a_step}
    assert counted.keys() == MEASURES.keys()
    for rule in recorded.RULES:
        new = without(rule, heard)
        for name, measure in counted.items():
            one = backtest(new, rows_from_transcript(heard), recorded_answers(heard), name)
            assert one.share == recorded.share(heard, f"without {rule}", measure)
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
    more_hits = held_against(without("ids", heard), WHOLE, heard, "ends a step")
    assert (more_hits.value > 0, more_hits.told) == (True, False)
    assert "not significant" in str(more_hits)


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


def test_what_was_not_asked_or_measured_alike_is_refused() -> None:
    heard = recorded.smollm2()
    rows, answers = rows_from_transcript(heard), recorded_answers(heard)
    with pytest.raises(LookupError, match="was never asked with this text; it was asked with: whole, without ids"):
        backtest(PromptVersion("p", 1, INSTRUCTIONS + " Please."), rows, answers)
    with pytest.raises(LookupError, match="row '1' was never put to SmolLM2"):
        backtest(WHOLE, rows_from_transcript(recorded.family()), answers)
    with pytest.raises(ValueError, match="there is no measure 'vaild'; did you mean 'valid'"):
        backtest(WHOLE, rows, answers, "vaild")
    with pytest.raises(ValueError, match="there is no row to measure"):
        backtest(WHOLE, [], answers)
    one = backtest(WHOLE, rows, answers)
    with pytest.raises(ValueError, match="with different rows"):
        compare(one, backtest(WHOLE, rows[:9], answers))
    with pytest.raises(ValueError, match="with different measure"):
        compare(one, backtest(WHOLE, rows, answers, "ends a step"))


# Intervals, and noise


def passing(number: int, passed: list[bool]) -> Backtest:
    """A backtest that passed so."""
    rows = tuple(Row(str(n), "goal", ()) for n in range(len(passed)))
    answers = (RecordedAnswer("", "stop", 0, 0, 0, ""),) * len(rows)
    return Backtest(PromptVersion("p", number, "text"), rows, answers, tuple(passed), "passed", "a test", True)


NEVER_RED = "could never turn red"


@pytest.mark.parametrize(
    ("passed", "tolerance", "why"),
    [
        *(
            ([True] * 30, tolerance, "give the share by which a version can be worse")
            for tolerance in (-0.1, 1.0, float("nan"))
        ),
        ([True] * 5, 0.0, NEVER_RED),
        ([True] * 30, 0.95, NEVER_RED),
        ([False] * 30, 0.0, f"{NEVER_RED}: the old version has 'passed' in 0 of 30 rows"),
    ],
)
def test_a_check_that_could_never_turn_red_is_refused(passed: list[bool], tolerance: float, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        check(compare(passing(2, passed), passing(1, passed)), tolerance)


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.3, 0.5, 0.9])
def test_the_check_is_seldom_red_at_noise_and_red_at_a_regression(share: float) -> None:
    """Of equals, one side in forty is expected to look worse; of a version that loses nearly all, most are seen."""
    random, runs = Random(str(share)), 100

    def red(new: float) -> int:
        count = 0
        for _ in range(runs):
            sides = [[random.random() < each for _ in range(30)] for each in (new, share)]
            count += compare(*(passing(2 - n, side) for n, side in enumerate(sides))).is_regression()
        return count

    assert red(share) <= 0.06 * runs
    assert red(max(0.0, share - 0.7)) >= 0.6 * runs


@pytest.fixture
def file(tmp_path: Path) -> Path:
    registry = Registry(tmp_path / "prompts.db")
    registry.save("planner", INSTRUCTIONS, "as it came")
    registry.save("planner", recorded.without(INSTRUCTIONS, "failure"))
    registry.release("planner", 1, "production")
    return registry.path


MEASURE = ("--on", "smollm2", "--measure", "ends a step")


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("planner", "2", "production", *MEASURE), 0, "+33 (+8 to +53)"),
        (("planner", "production", "2", *MEASURE), 1, "planner 1 is worse than planner 2\n"),
        (("planner", "2", "1", "--on", "family"), 0, "(written, so nothing about a model)"),
        (("planner", "2", "1", "--on", "smollm2"), 2, "could never turn red"),
        (("planner", "2", "1", "--on", "nothing"), 2, "No such file or directory: 'nothing'"),
        (("planner", "2", "7", *MEASURE), 2, "no version 7"),
        (("plannr", "2", "1", *MEASURE), 2, "did you mean 'planner'"),
        (("pl\x1b[2J", "2", "1", *MEASURE), 2, "pl\\x1b[2J"),
        (("planner", "2", "1", *MEASURE, "--tolerance", "2"), 2, "tolerance=2.0"),
        (("planner", "2", "1", "--on", "family", "--measure", "vaild"), 2, "did you mean 'valid'"),
    ],
)
def test_the_check_gives_0_1_or_2(
    arguments: tuple[str, ...], code: int, words: str, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", str(file), *arguments]) == code
    told = capsys.readouterr()
    assert words in (told.err if code == 2 else told.out)
    assert not (told.out if code == 2 else told.err)


@pytest.mark.slow
def test_it_runs_as_a_module(file: Path) -> None:
    command = [sys.executable, "-m", "planexec_lab.prompts", "check", file, "planner", "2", "1", "--on", "family"]
    assert subprocess.run(command, capture_output=True).returncode == 0
