"""The scripted family: what was written comes out of the same counting, and the file is what the model says."""

from __future__ import annotations

import pytest

from planexec_lab import recorded
from planexec_lab.recorded import NEEDED
from planexec_lab.worlds import arithmetic
from planexec_lite.plan import Plan, PlanError
from tests.recorded.scripted_family import ANSWERS, WITHOUT, WRONG_ANYWAY, asked


def test_each_written_effect_is_counted_as_it_was_written() -> None:
    family = recorded.family()
    whole = recorded.share(family, "whole")
    assert whole == recorded.Share(ANSWERS - WRONG_ANYWAY, ANSWERS)
    lost = {effect.left_out: whole.hits - effect.share.hits for effect in recorded.ablation(family)}
    assert lost == {part: NEEDED.get(part, 0) for part in ("the schema", *recorded.RULES)}


def test_thirty_answers_show_four_effects_and_miss_the_small_one() -> None:
    told = {effect.left_out for effect in recorded.ablation(recorded.family()) if effect.difference.tells}
    assert told == NEEDED.keys() - {"span"}


def test_each_missing_part_spoils_the_plan_in_its_own_way() -> None:
    assert {part: codes_of(text) for part, text in WITHOUT.items()} == {
        "the schema": {"not_json"},
        "references": {"wrong_parameter"},
        "JSON alone": {"not_json"},
        "dependencies": {"indirect_reference"},
        "span": {"empty_plan"},
    }


def codes_of(text: str) -> set[str]:
    try:
        problems = Plan.parse(text).problems(arithmetic.TOOLS)
    except PlanError as error:
        problems = error.problems
    return {problem.code for problem in problems}


def test_it_says_that_it_was_written() -> None:
    assert "scripted" in recorded.family().head.model
    assert not recorded.family().head.packages


@pytest.mark.slow
def test_the_file_is_what_the_scripted_model_says() -> None:
    name = "without references"
    assert asked([name]).of(name) == recorded.family().of(name)


@pytest.mark.slow
@pytest.mark.weekly
def test_the_file_is_all_that_the_scripted_model_says() -> None:
    assert asked() == recorded.family()
