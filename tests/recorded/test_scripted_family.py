"""The scripted family: what was written comes out of the same counting, and the file is what the model says."""

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
    assert "scripted" in family.head.model
    told = {effect.left_out for effect in recorded.ablation(family) if effect.difference.tells}
    assert told == NEEDED.keys() - {"span"}, "thirty answers miss the small effect"
    lost = {effect.left_out: whole.hits - effect.share.hits for effect in recorded.ablation(family)}
    assert lost == {part: NEEDED.get(part, 0) for part in ("the schema", *recorded.RULES)}


def codes_of(text: str) -> set[str]:
    try:
        problems = Plan.parse(text).problems(arithmetic.TOOLS)
    except PlanError as error:
        problems = error.problems
    return {problem.code for problem in problems}


def test_each_missing_part_spoils_the_plan_in_its_own_way() -> None:
    assert {part: codes_of(text) for part, text in WITHOUT.items()} == {
        "the schema": {"not_json"},
        "references": {"wrong_parameter"},
        "JSON alone": {"not_json"},
        "dependencies": {"indirect_reference"},
        "span": {"empty_plan"},
    }


@pytest.mark.slow
@pytest.mark.parametrize("names", [["without references"], pytest.param(None, marks=pytest.mark.weekly)])
def test_the_file_is_what_the_scripted_model_says(names: list[str] | None) -> None:
    said, family = asked(names), recorded.family()
    for name in names or family.variants:
        assert said.of(name) == family.of(name)
