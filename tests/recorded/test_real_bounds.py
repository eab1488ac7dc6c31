"""A real small model, offline: whatever it says, its answers and the conversation with it stay within their bounds.

The model and its server come from packages that are installed into an environment of their own; where that can't be
made, the tests are skipped and say so.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

import pytest
from openai import OpenAI

from planexec_lab.worlds import arithmetic
from planexec_lite import LLMPlanner, PlannerExecutor, Policy, ReActExecutor, Step, ToolExecutor
from planexec_lite.events import PlanProposed
from planexec_lite.meter import Meter
from tests.environments import make_environment
from tests.guards.books import ROOT
from tests.recorded.small_model import PACKAGES

LOOPBACK = True
pytestmark = [pytest.mark.weekly, pytest.mark.xdist_group("a small model")]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenAI]:
    python = make_environment(tmp_path_factory.mktemp("model") / "env", "--no-deps", *PACKAGES)
    command = [python, "-m", "tests.recorded.small_model"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        url = server.stdout.readline().split()[0].removeprefix("PLANEXEC_LLM=")
        yield OpenAI(base_url=url, api_key="none", max_retries=0, timeout=1800)
        server.kill()


def test_a_real_models_plans_are_cut_off_and_the_repair_does_not_grow(client: OpenAI) -> None:
    planner = LLMPlanner(client, "small", max_steps=4, max_tokens=60)
    agent = PlannerExecutor(planner, ToolExecutor(arithmetic.TOOLS), policy=Policy(max_repairs=2))
    run = agent.run("What is 12 * 4 + 5?")
    calls = [call for event in run.events if isinstance(event, PlanProposed) for call in event.calls]
    assert run.board.ended is not None
    assert calls
    assert max(call.output_tokens for call in calls) <= 60
    first = calls[0].input_tokens
    assert all(call.input_tokens < first + 400 for call in calls)
    for event in run.events:
        if isinstance(event, PlanProposed) and event.problems and event.calls[0].output_tokens == 60:
            assert "it may have 60 tokens (max_tokens)" in str(event.problems[0])


def test_a_real_models_step_ends_within_its_bounds(client: OpenAI) -> None:
    executor = ReActExecutor(client, arithmetic.TOOLS, "small", max_iterations=2, max_tokens=40, max_prompt=4000)
    with Meter() as meter:
        try:
            answer = executor.execute(Step(id="1", description="Multiply 12 and 4."), {})
        except RuntimeError as error:
            answer = str(error)
    assert answer is not None
    assert 1 <= len(meter.calls) <= 2
    assert max(call.output_tokens for call in meter.calls) <= 40
