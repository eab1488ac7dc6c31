"""Whole runs of a real model: heard again as they were, counted in their events, and told on the page as counted."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from planexec_lab import recorded
from planexec_lab.recorded import RecordedAnswer, WholeRuns
from planexec_lab.recorded.accounts import Account, counted
from planexec_lab.recorded.roles import CRITERIA, MAX_TOKENS, WORLDS, in_words
from planexec_lab.recorded.whole_runs import RecordedRun
from planexec_lab.scoreboard import tasks
from planexec_lite.events import Action, Inside, Judged, Observation, PlanProposed, PlanStarted, StepStarted
from planexec_lite.meter import ModelCall
from planexec_lite.plan import Plan, Problem
from tests.recorded.recording import line_of
from tests.recorded.small_model import TOOLS_TEMPLATE

FOLDER = Path(recorded.__file__).parent


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


def test_the_setting_says_where_the_runs_come_from(runs: WholeRuns) -> None:
    first = recorded.smollm2().head
    assert (runs.setting.model, runs.setting.sha256, runs.setting.packages) == (
        first.model,
        first.sha256,
        first.packages,
    )
    assert runs.setting.max_tokens == MAX_TOKENS
    assert runs.setting.template == sha256(TOOLS_TEMPLATE.encode()).hexdigest()


def test_three_tasks_are_recorded_with_a_plan_and_without(runs: WholeRuns) -> None:
    counted = Counter((run.task, run.given) for run in runs.runs)
    assert counted == {(name, given): 6 for name in WORLDS for given in (False, True)}


def test_no_two_answers_of_one_task_have_the_same_seed(runs: WholeRuns) -> None:
    for name in WORLDS:
        for given in (False, True):
            seeds = [turn.seed for run in runs.of(given=given) if run.task == name for turn in run.turns]
            assert len(set(seeds)) == len(seeds)


def test_the_file_of_runs_is_small() -> None:
    assert (FOLDER / "smollm2-runs.jsonl.gz").stat().st_size < 100_000


def test_every_role_was_played_by_the_model(runs: WholeRuns) -> None:
    assert {turn.role for run in runs.of(given=True) for turn in run.turns} == {"planner", "executor", "evaluator"}
    assert {turn.role for run in runs.of(given=False) for turn in run.turns} >= {"planner"}


@pytest.mark.slow
def test_a_run_is_heard_twice_the_same(runs: WholeRuns) -> None:
    for one in runs.of(given=True)[::5]:
        first, again = (recorded.replayed(one) for _ in range(2))
        assert [type(event) for event in first.run.events] == [type(event) for event in again.run.events]
        assert (first.run.status, first.run.reason) == (again.run.status, again.run.reason)


def test_a_run_that_asks_otherwise_is_noticed(runs: WholeRuns) -> None:
    one = runs.of(given=True)[0]
    other = replace(one, turns=(replace(one.turns[0], text="Something else."), *one.turns[1:]))
    with pytest.raises(ValueError, match="asks other questions"):
        recorded.replayed(other)
    with pytest.raises(ValueError, match="record again"):
        recorded.replayed(replace(one, turns=(*one.turns, one.turns[0])))


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


@pytest.mark.slow
def test_every_run_ended_at_its_bound_and_no_database_was_touched(runs: WholeRuns) -> None:
    for one in runs.runs:
        heard = recorded.replayed(one)
        assert heard.run.status == "failed"
        assert "max_repairs" in heard.run.reason
        assert {action.tool for action in counted(heard.run.events)[1]} <= {"web_search"}


@pytest.mark.slow
def test_the_counts_are_those_of_the_recorded_turns(runs: WholeRuns, accounts: dict[str, Account]) -> None:
    """By another way: from what was recorded, without the events."""
    given = accounts["plan given"]
    verdicts = [
        json.loads(turn.text)["verdict"]
        for run in runs.of(given=True)
        for turn in run.turns
        if turn.role == "evaluator" and turn.finish_reason == "stop"
    ]
    assert {name: given.counts[name] for name in set(verdicts)} == Counter(verdicts)
    assert given.counts["verdicts"] - given.counts["no verdict"] == len(verdicts)
    plans = [turn for run in runs.of(given=False) for turn in run.turns if turn.role == "planner"]
    by_text = sum(turn.finish_reason == "stop" and not problems_of(turn.text) for turn in plans)
    assert accounts["it plans"].counts["valid"] == by_text


def problems_of(text: str) -> Any:
    try:
        return Plan.parse(text).problems()
    except ValueError as error:
        return error


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


def test_a_given_plan_is_no_plan_of_the_model() -> None:
    plan = Plan.parse([{"id": "1", "description": "look"}])
    assert counted([PlanStarted(0, "first"), PlanProposed(0, plan)])[0]["plans"] == 0


def test_the_plan_in_words_has_a_criterion_for_each_step() -> None:
    for name in WORLDS:
        plan = in_words(tasks()[name].plan)
        assert not plan.problems(tasks()[name].world().tools)
        assert {step.success_criteria for step in plan.steps} <= set(CRITERIA.values())
        assert all(step.tool is None and step.description for step in plan.steps)


def test_a_recording_of_runs_is_read_as_it_was_written(runs: WholeRuns, tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl"
    turn = RecordedAnswer("…", "stop", 9, 5, 1000, "a digest", "planner", (("add", '{"a": 1}'),))
    one = RecordedRun("arithmetic", False, 1, (turn,))
    file.write_text(line_of(runs.setting) + line_of(one), encoding="utf-8")
    assert recorded.load_runs(file) == WholeRuns(runs.setting, (one,))
