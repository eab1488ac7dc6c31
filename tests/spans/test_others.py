"""Real runs of agents in six frameworks on the scripted model, each in an environment of its own: `others.py` has the agents.

Where an environment can't be made (no package index can be reached), the tests are skipped and say so.
``python -m tests.spans.test_others`` records the samples of `planexec_lab.spans` again.
"""

import json
import os
import re
import subprocess
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest

from mock_llm import MockLLM
from planexec_lab import spans, views
from planexec_lab.spans import sample_traces
from planexec_lite import Run
from planexec_lite.run.events import to_dict
from tests.environments import make_environment

pytestmark = [pytest.mark.slow, pytest.mark.weekly, pytest.mark.xdist_group("span_others")]
HERE = Path(__file__).with_name("others.py")
QUESTION = "Where are the orders A-1034 and A-9034?"
ANSWER = "A-1034 is paid, and not packed yet."
CALLS = [{"tool": "order_status", "arguments": {"order": order}} for order in ("A-1034", "A-9034")]
LOOK = {"name": "look", "when": {"says": "orders", "tools": "order_status", "turn": 1}, "reply": {"calls": CALLS}}
FINISH = [{"tool": "final_answer", "arguments": {"answer": ANSWER}}]  # smolagents' own tool
THINKS = 0.4  # seconds before each answer of the model, so that its work is seen beside that of the tools
SDK = "opentelemetry-sdk>=1.40"
PACKAGES = {
    "openai-agents": ["openai-agents>=0.24"],
    "langgraph": ["langgraph>=1", "langchain-openai>=1", "opentelemetry-exporter-otlp-proto-http>=1.40", SDK],
    "pydantic-ai": ["pydantic-ai-slim[openai]>=2.68", SDK],
    "llamaindex": [
        "llama-index-core>=0.14",
        "llama-index-llms-openai-like>=0.8",
        "openinference-instrumentation-llama-index>=4",
        SDK,
    ],
    "smolagents": ["smolagents[openai]>=1", "openinference-instrumentation-smolagents>=0.1", SDK],
    "strands": ["strands-agents[openai]>=1", SDK],
}
OF_THE_MACHINE = re.compile(r"langsmith\.metadata\.(LANGSMITH_\w+|revision_id|lc_versions)|telemetry\..*|.*stacktrace")


class Thinking(MockLLM):
    """A scripted model that takes its time."""

    def respond(self, request: Any) -> Any:
        time.sleep(THINKS)
        return super().respond(request)


def trace_of(framework: str, folder: Path) -> str:
    """Run the agent, in an environment made in `folder`, and return what the framework exported."""
    python = make_environment(folder / "env", *PACKAGES[framework])
    tell: dict[str, Any] = {"name": "tell", "when": {"called": "order_status"}, "reply": {"text": ANSWER}}
    if framework == "smolagents":  # it sends observations as the user's messages
        tell |= {
            "when": {"says": "order", "last": "no such order", "tools": "final_answer", "turn": 1},
            "reply": {"calls": FINISH},
        }
    llm = Thinking([tell, LOOK])
    with llm.serve() as url:
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        command = [str(python), str(HERE), framework, url]
        done = subprocess.run(command, capture_output=True, text=True, timeout=180, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    llm.assert_all_used()
    return done.stdout


def cleaned(told: Any) -> Any:
    """A trace without what names the machine: settings, versions, a program's places, the server's port."""
    match told:
        case {"key": str(key)} if OF_THE_MACHINE.fullmatch(key):
            return None
        case dict():
            return {key: cleaned(value) for key, value in told.items() if key not in ("model_config", "resource")}
        case list():
            return [kept for one in told if (kept := cleaned(one)) is not None]
        case str():
            return told.partition("Traceback (most recent call last)")[0]
    return told


CALLED = {  # the tools that only one framework calls, with their arguments
    "smolagents": [("final_answer", {"answer": ANSWER})]
}
NOT_UNDERSTOOD = {  # the spans of each framework that are neither model calls nor steps
    "langgraph": "2 × 'tools_condition'",
    "llamaindex": "2 × 'OpenAILike._prepare_chat_with_tools'",
}


@pytest.mark.parametrize("framework", PACKAGES)
def test_a_real_run_is_read_drawn_and_like_the_sample_of_the_kit(framework: Any, tmp_path: Path) -> None:
    run = spans.read(trace_of(framework, tmp_path))
    assert (run.status, run.board.goal, run.answer) == ("finished", QUESTION, ANSWER)
    asked = [("order_status", {"order": "A-1034"}), ("order_status", {"order": "A-9034"})]
    assert [(step.tool, dict(step.params)) for step in run.board.steps.values()] == asked + CALLED.get(framework, [])
    assert run.results["1"] == "A-1034: paid, not packed"
    assert run.board.state["2"] == "superseded"
    assert NOT_UNDERSTOOD.get(framework, "the trace ends") in run.reason
    assert ("not understood" in run.reason) == (framework in NOT_UNDERSTOOD)
    assert run.usage.output_tokens > 0
    assert views.ledger(run).text.startswith("2 model calls")
    assert "order_status(order='A-1034')" in views.timeline(run).text
    if framework in get_args(sample_traces.Framework):
        assert events_of(spans.read(spans.sample(framework))) == events_of(run)


def events_of(run: Run) -> list[tuple[str, str]]:
    """The events without their times; where two things end at one moment, their order is the machine's."""
    rows = []
    for event in run.events:
        calls = tuple(replace(call, seconds=0.0) for call in getattr(event, "calls", ()))
        fields = {key: value for key, value in to_dict(event).items() if key not in ("at", "seconds", "calls")}
        rows.append((type(event).__name__, f"{fields} {calls}"))
    return sorted(rows)


if __name__ == "__main__":
    for framework in get_args(sample_traces.Framework):
        with tempfile.TemporaryDirectory() as room:
            kept = cleaned(json.loads(trace_of(framework, Path(room))))
        place = sample_traces.place(framework)
        place.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        print(place.name, place.stat().st_size, "bytes")
