"""Agents in six frameworks, each in an environment of its own: `others.py` has them, a scripted model answers.

``python -m tests.spans.frameworks`` records the samples of `planexec_lab.spans` anew.
"""

import json
import os
import re
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any, get_args

from mock_llm import MockLLM
from planexec_lab.spans import sample_traces
from tests.environments import make_environment

HERE = Path(__file__).with_name("others.py")
QUESTION = "Where are the orders A-1034 and A-9034?"
ANSWER = "A-1034 is paid, and not packed yet."
CALLS = [{"tool": "order_status", "arguments": {"order": order}} for order in ("A-1034", "A-9034")]
LOOK = {"name": "look", "when": {"says": "orders", "tools": "order_status", "turn": 1}, "reply": {"calls": CALLS}}
FINISH = [{"tool": "final_answer", "arguments": {"answer": ANSWER}}]  # smolagents' own tool
THINKS = 0.4  # seconds before each answer of the model, so that its work is seen beside that of the tools
PACKAGES = {
    "openai-agents": ["openai-agents>=0.24"],
    "langgraph": [
        "langgraph>=1",
        "langchain-openai>=1",
        "opentelemetry-sdk>=1.40",
        "opentelemetry-exporter-otlp-proto-http>=1.40",
    ],
    "pydantic-ai": ["pydantic-ai-slim[openai]>=2.68", "opentelemetry-sdk>=1.40"],
    "llamaindex": [
        "llama-index-core>=0.14",
        "llama-index-llms-openai-like>=0.8",
        "openinference-instrumentation-llama-index>=4",
        "opentelemetry-sdk>=1.40",
    ],
    "smolagents": ["smolagents[openai]>=1", "openinference-instrumentation-smolagents>=0.1", "opentelemetry-sdk>=1.40"],
    "strands": ["strands-agents[openai]>=1", "opentelemetry-sdk>=1.40"],
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


if __name__ == "__main__":
    for framework in get_args(sample_traces.Framework):
        with tempfile.TemporaryDirectory() as room:
            kept = cleaned(json.loads(trace_of(framework, Path(room))))
        place = sample_traces.place(framework)
        place.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        print(place.name, place.stat().st_size, "bytes")
