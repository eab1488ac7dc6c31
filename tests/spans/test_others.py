"""Real runs of agents in seven frameworks on the scripted model: `others.py` has the agents.

`made/` contains their traces, each with the versions of the packages that made it, and the day. The weekly test makes each anew, in
an environment of its own; it is skipped, and says so, where that can't be made (no package index can be reached).
``python -m tests.spans.test_others FRAMEWORK …`` records the traces again, and the samples of `planexec_lab.spans`.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

import pytest

from mock_llm import MockLLM
from planexec_lab import spans, views
from planexec_lab.spans import sample_traces
from planexec_lite import Run
from planexec_lite.run.events import to_dict
from tests.environments import make_environment

HERE = Path(__file__).with_name("others.py")
MADE = Path(__file__).with_name("made")
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
    "crewai": [
        "crewai>=1",
        "openinference-instrumentation-crewai>=1",
        "openinference-instrumentation-openai>=0.1",
        SDK,
    ],
    "strands": ["strands-agents[openai]>=1", SDK],
}
OF_THE_MACHINE = re.compile(r"langsmith\.metadata\.(LANGSMITH_\w+|revision_id|lc_versions)|telemetry\..*|.*stacktrace")


class Thinking(MockLLM):
    """A scripted model that takes its time."""

    def respond(self, request: Any) -> Any:
        time.sleep(THINKS)
        return super().respond(request)


def trace_of(framework: str, python: Path, folder: Path) -> str:
    """Run the agent in its environment, and return what the framework exported."""
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
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=180, env=environment, check=False, cwd=folder
        )
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
    "smolagents": [("final_answer", ANSWER)]
}
NOT_UNDERSTOOD = {  # the spans of each framework that are neither model calls nor steps
    "langgraph": "2 × 'tools_condition'",
    "llamaindex": "2 × 'OpenAILike._prepare_chat_with_tools'",
}


@pytest.mark.parametrize("framework", PACKAGES)
def test_a_trace_that_a_framework_made_is_read_and_drawn(framework: Any) -> None:
    made = json.loads((MADE / f"{framework}.json").read_text("utf-8"))
    assert made["by"]
    assert made["day"]
    run = spans.read(made["trace"])
    check(framework, run)
    if framework in get_args(sample_traces.Framework):
        assert events_of(spans.read(spans.sample(framework))) == events_of(run)


@pytest.mark.weekly
@pytest.mark.slow
@pytest.mark.xdist_group("span_others")
@pytest.mark.parametrize("framework", PACKAGES)
def test_a_trace_that_a_framework_makes_today_is_like_the_sample_of_the_kit(framework: Any, tmp_path: Path) -> None:
    python = make_environment(tmp_path / "env", *PACKAGES[framework], seconds=900)
    run = spans.read(trace_of(framework, python, tmp_path))
    check(framework, run)
    if framework in get_args(sample_traces.Framework):
        assert events_of(spans.read(spans.sample(framework))) == events_of(run)


def check(framework: str, run: Run) -> None:
    assert (run.status, run.answer) == ("finished", ANSWER)
    assert QUESTION in run.board.goal
    calls = {(step.tool, *step.params.values()): id for id, step in run.board.steps.items()}
    found, missing = ("order_status", "A-1034"), ("order_status", "A-9034")
    assert [*sorted([*calls][:2]), *[*calls][2:]] == [found, missing, *CALLED.get(framework, [])]
    assert run.results[calls[found]] == "A-1034: paid, not packed"
    assert run.board.state[calls[missing]] == "superseded"
    assert NOT_UNDERSTOOD.get(framework, "the trace ends") in run.reason
    assert ("not understood" in run.reason) == (framework in NOT_UNDERSTOOD)
    assert run.usage.output_tokens > 0
    assert views.ledger(run).text.startswith("2 model calls")
    assert "order_status(order='A-1034')" in views.timeline(run).text


def events_of(run: Run) -> list[tuple[str, str]]:
    """The events without their times; where two things end at one moment, their order is the machine's."""
    rows = []
    for event in run.events:
        calls = tuple(replace(call, seconds=0.0) for call in getattr(event, "calls", ()))
        fields = {key: value for key, value in to_dict(event).items() if key not in ("at", "seconds", "calls")}
        rows.append((type(event).__name__, f"{fields} {calls}"))
    return sorted(rows)


def versions(python: Path, framework: str) -> dict[str, str]:
    """The versions of the packages that were asked for."""
    names = [re.split(r"[\[<>=]", one)[0] for one in PACKAGES[framework]]
    program = "import importlib.metadata as m, json, sys; print(json.dumps({n: m.version(n) for n in sys.argv[1:]}))"
    done = subprocess.run([str(python), "-c", program, *names], capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))


def record(framework: str) -> None:
    """Write the trace that a framework makes today."""
    with tempfile.TemporaryDirectory() as room:
        python = make_environment(Path(room) / "env", *PACKAGES[framework])
        trace = cleaned(json.loads(trace_of(framework, python, Path(room))))
        made = {"by": versions(python, framework), "day": f"{datetime.now(UTC):%Y-%m-%d}", "trace": trace}
    places = {MADE / f"{framework}.json": made}
    if framework in get_args(sample_traces.Framework):
        places[sample_traces.place(framework)] = trace
    for place, content in places.items():
        place.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        print(place.name, place.stat().st_size, "bytes")


if __name__ == "__main__":
    for name in sys.argv[1:] or PACKAGES:
        record(name)
