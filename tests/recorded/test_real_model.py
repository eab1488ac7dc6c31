"""A real small model, offline: its answers and runs are recorded and replayed.

The model and its server come from packages that are installed into a separate environment; where that can't be
made, the tests are skipped and say so.
"""

import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from openai import OpenAI

from planexec_lab.recorded import load, load_runs, replayed, smollm2, smollm2_runs
from tests.environments import make_environment
from tests.guards.books import ROOT
from tests.recorded.recording import record, record_runs
from tests.recorded.small_model import PACKAGES

LOOPBACK = True
pytestmark = [pytest.mark.weekly, pytest.mark.xdist_group("a small model")]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenAI]:
    python = make_environment(tmp_path_factory.mktemp("model") / "env", "--no-deps", *PACKAGES)
    command = [python, "-m", "tests.recorded.small_model"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
        url = server.stdout.readline().split()[0].removeprefix("PLANEXEC_LLM=")
        yield OpenAI(base_url=url, api_key="none", max_retries=0, timeout=1800)
        server.kill()


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
