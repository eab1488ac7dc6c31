"""Whole runs of a real model: heard again as they were, counted in their events, and told on the page as counted."""

from collections import Counter
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from planexec_lab import recorded
from planexec_lab.recorded import RecordedAnswer, WholeRuns
from planexec_lab.recorded.accounts import Account, counted
from planexec_lab.recorded.roles import MAX_TOKENS, WORLDS
from planexec_lab.recorded.whole_runs import RecordedRun
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


def test_a_recording_of_runs_is_read_as_it_was_written(runs: WholeRuns, tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl"
    turn = RecordedAnswer("…", "stop", 9, 5, 1000, "a digest", "planner", (("add", '{"a": 1}'),))
    one = RecordedRun("arithmetic", False, 1, (turn,))
    file.write_text(line_of(runs.setting) + line_of(one), encoding="utf-8")
    assert recorded.load_runs(file) == WholeRuns(runs.setting, (one,))
