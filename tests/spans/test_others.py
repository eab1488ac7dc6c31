"""Real runs of openai-agents and LangGraph on the scripted model, each in an environment of its own, seen with the kit's eyes.

Where an environment can't be made (no package index can be reached), the tests are skipped and say so.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from mock_llm import MockLLM
from planexec_lite import Run, spans, views
from tests.environments import make_environment

pytestmark = [pytest.mark.slow, pytest.mark.wide, pytest.mark.xdist_group("span_others")]
HERE = Path(__file__).parent / "others"
CITIES = [{"tool": "weather", "arguments": {"city": city}} for city in ("Paris", "Atlantis")]
SCENES = [
    {"name": "look", "when": {"says": "weather", "tools": "weather", "turn": 1}, "reply": {"calls": CITIES}},
    {"name": "tell", "when": {"called": "weather"}, "reply": {"text": "Paris has 12 degrees."}},
]
PACKAGES = {
    "run_openai_agents.py": ["openai-agents>=0.24"],
    "run_langgraph.py": [
        "langgraph>=1",
        "langchain-openai>=1",
        "opentelemetry-sdk>=1.40",
        "opentelemetry-exporter-otlp-proto-http>=1.40",
    ],
}


@pytest.fixture(scope="module", params=PACKAGES)
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """What the framework exported of its run, read."""
    python = make_environment(tmp_path_factory.mktemp("env") / "env", *PACKAGES[request.param])
    llm = MockLLM(SCENES)
    with llm.serve() as url:
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        command = [str(python), str(HERE / request.param), url]
        done = subprocess.run(command, capture_output=True, text=True, timeout=180, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    llm.assert_all_used()
    return spans.read(done.stdout)


def test_its_planning_and_steps_are_told(run: Run) -> None:
    assert run.status == "finished"
    assert run.board.goal == "weather in Paris and Atlantis?"
    assert run.answer == "Paris has 12 degrees."
    assert [(step.tool, dict(step.params)) for step in run.board.steps.values()] == [
        ("weather", {"city": "Paris"}),
        ("weather", {"city": "Atlantis"}),
    ]
    assert run.results == {"1": "Paris: 12 degrees"}
    assert run.board.state["2"] == "superseded"


def test_its_pictures_are_drawn(run: Run) -> None:
    assert run.usage.calls == 2
    assert run.usage.output_tokens > 0
    assert "gpt-4o-mini  2" in views.ledger(run, "model").text
    timeline = views.timeline(run).text
    assert "weather(city='Paris')" in timeline
    assert "failed" in timeline
    assert "weather" in views.graph(run.plan).text
