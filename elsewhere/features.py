"""Questions about what other frameworks are known for; each program is a function of `NAME/features.py`.

A framework without such a function gets a "no" with the reason, and with a link if its documentation says so.
"""

import json
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from elsewhere import suite
from mock_llm import MockLLM
from mock_llm.script import Reply, ToolUse

TITLES = {
    "memory": "a second process knows what the first conversation said",
    "handoff": "one agent hands the conversation to another",
    "time_travel": "goes back to an earlier point, changes something and runs on",
    "wiring": "refuses a miswired graph before anything runs",
    "postgres": "after kill -9, resumes from Postgres",
    "tokens": "streams the model's words to a user interface",
}
LINKS = {
    ("kit", "memory"): "runs are separate; the journal keeps them, and the planner reads none of the others",
    ("kit", "handoff"): "the planner keeps the run; an executor gets one step, not the conversation",
    ("kit", "postgres"): "the journal is a SQLite file",
    ("kit", "tokens"): "the planner streams steps, not words (`LLMPlanner(stream=True)`)",
    ("agents_sdk", "wiring"): "there is no graph: https://openai.github.io/openai-agents-python/multi_agent/",
    (
        "pydantic_ai",
        "postgres",
    ): "through DBOS, Temporal or Prefect: https://ai.pydantic.dev/durable_execution/overview/",
    (
        "llamaindex",
        "postgres",
    ): "through the DBOS runtime: https://developers.llamaindex.ai/python/llamaagents/workflows/dbos/",
}


def _called(request: Any) -> Reply:
    """Return a call of the tool that hands the conversation over."""
    names = [one for one in request.tools if any(word in one for word in ("transfer", "handoff"))]
    name = names[0] if names else next(iter(request.tools))
    properties = request.tool_schema(name).get("properties", {})
    return Reply(calls=(ToolUse(name, dict.fromkeys(properties, "deployer")),))


def _turns(request: Any) -> str:
    """Return the user's messages, so that a test sees what the model saw."""
    return " | ".join(message.text for message in request.conversation if message.role == "user")


def script() -> MockLLM:
    """Return the model of these questions."""
    name, question = "My name is Ann", "What is my name?"
    return MockLLM(
        [
            {"name": "greet", "when": {"says": [name], "never": [question]}, "reply": {"text": "Hello."}},
            {"name": "recall", "when": {"says": [name, question]}, "reply": {"text": "Your name is Ann."}},
            {"name": "forgot", "when": {"says": [question], "never": [name]}, "reply": {"text": "I don't know."}},
            {"name": "triage", "when": {"system": ["Role: triage"]}, "reply": {"python": _called}},
            {
                "name": "deployer",
                "when": {"system": ["Role: deployer"], "says": ["Release v2.3.1"]},
                "reply": {"text": "I deploy it."},
            },
            {"name": "turns", "when": {"says": ["first"]}, "reply": {"python": _turns}},
            {"name": "count", "when": {"says": ["Count to six"]}, "reply": {"text": "one two three four five six"}},
        ]
    )


class Feature(suite.Observed):
    """One run of a feature's program, perhaps in several processes."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.llm = script()

    def start(self, name: str, text: str = "", *, kill: bool = False) -> "Feature":
        """Run the program's function `name`."""
        self.arguments = [name, text]
        self.run(kill=kill)
        return self

    @property
    def text(self) -> str:
        """The printed lines."""
        return "\n".join(line for _, line in self.lines)


@contextmanager
def postgres_server() -> Iterator[str]:
    """Start a Postgres server on loopback, and yield its address."""
    binaries = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    found = shutil.which("initdb") or (str(binaries[-1]) if binaries else "")
    if not found:
        raise FileNotFoundError("there is no Postgres on this machine")
    as_user = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
    folder, bin_ = Path(tempfile.mkdtemp(prefix="postgres-")), Path(found).parent
    if as_user:
        shutil.chown(folder, "postgres")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": "/"}
    subprocess.run(
        [*as_user, str(bin_ / "initdb"), "-D", str(folder / "db"), "-U", "suite", "-A", "trust"], check=True, **quiet
    )
    options = f"-h 127.0.0.1 -p {port} -k {folder}"
    control = [*as_user, str(bin_ / "pg_ctl"), "-D", str(folder / "db"), "-w"]
    subprocess.run([*control, "-o", options, "-l", str(folder / "log"), "start"], check=True, **quiet)
    try:
        yield f"postgresql://suite@127.0.0.1:{port}/postgres"
    finally:
        subprocess.run([*control, "-m", "immediate", "stop"], check=False, **quiet)
        shutil.rmtree(folder, ignore_errors=True)


def answer(run: Feature, name: str) -> suite.Verdict:
    """Answer one question by a run."""
    if name == "memory":
        run.start(name, "My name is Ann").start(name, "What is my name?")
        return suite.Verdict(
            "Your name is Ann." in run.text, run.text.splitlines()[-1] if run.text else run.last_words()
        )
    if name == "handoff":
        run.start(name, "Release v2.3.1")
        asked = [call for call in run.calls if "Role: deployer" in json.dumps(call.request)]
        return suite.Verdict(
            "I deploy it." in run.text and bool(asked),
            f"{len(run.calls)} model calls; {run.text[-60:] or run.last_words()}",
        )
    if name == "time_travel":
        run.start(name)
        once = run.started.count("first") <= 1
        return suite.Verdict("LAST first | second two" in run.text and once, run.text[-80:] or run.last_words())
    if name == "wiring":
        run.start(name)
        return suite.Verdict(run.codes[-1] != 0 and run.refused, f"started: {run.started}; {run.last_words()}")
    if name == "postgres":
        with postgres_server() as url:
            run.start(name, url, kill=True).start(name, url)
        passed = "LAST first | second hold" in run.text and run.started.count("first") == 1
        return suite.Verdict(passed, run.text[-80:] or run.last_words())
    run.start(name, "Count to six")
    pieces = [line[6:] for line in run.text.splitlines() if line.startswith("PIECE ") and line[6:].strip()]
    return suite.Verdict(len(pieces) > 2, f"{len(pieces)} pieces" if pieces else run.last_words())


def decide(framework: str, name: str) -> dict[str, Any]:
    """Answer one question about one framework."""
    file = suite.HERE / framework / "features.py"
    reason = LINKS.get((framework, name), "")
    if f"def {name}(" not in file.read_text():
        return {"cell": "no", "seen": reason}
    program = suite.Program(framework, "features.py")
    verdict = suite.attempt(lambda program: answer(Feature(program), name), program)
    cell = suite.cell(verdict, program.lines_of(name), None, None)
    return {"cell": cell, "seen": verdict.seen} | ({"why": reason} if reason else {})


REPLAYS = {"kit": "this kit", "langgraph": "LangGraph, functional API", "dbos": "DBOS"}


def replay(framework: str) -> dict[str, Any]:
    """Kill five steps in the last one, resume them, and return the steps that ran in both processes and the results."""
    run = suite.Observed(suite.Program(framework, "replay.py"))
    run.run()
    before = len(run.lines)
    run.run()
    lines = [line for _, line in run.lines]
    ran = [line.split()[1] for line in lines if line.startswith("RUN")]
    if not lines or not lines[-1].startswith("DONE"):
        raise RuntimeError(f"{framework}: {run.last_words()}")
    return {
        "name": REPLAYS[framework],
        "ran": ran[:before],
        "again": ran[before:],
        "results": json.loads(lines[-1][5:]),
    }
