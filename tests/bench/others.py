"""The cost of imports, and of calls of the scripted model; a bare transport shows the time of the client itself."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from mock_llm import MockLLM
from mock_llm.types import HttpRequest
from tests.bench.timing import Row, beside, real, rounds

ROOT = Path(__file__).parents[2]
OURS = "import planexec_lite"
THEIRS = """
import sqlite3, pydantic
class Model(pydantic.BaseModel):
    name: str
"""


def seconds(code: str) -> float:
    """How long `code` takes in a fresh interpreter, without the start of the interpreter."""
    timed = f"from time import perf_counter as now; began = now()\n{code}\nprint(now() - began)"
    command = [sys.executable, "-c", timed]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=120)
    return float(done.stdout.splitlines()[-1])


def imports(times: int) -> list[Row]:
    """One row, in milliseconds; a round before the first one brings the files into the cache."""
    pairs = [(seconds(OURS), seconds(THEIRS)) for _ in range(times + 1)][1:]
    taken = {"ours": [ours for ours, _ in pairs], "theirs": [theirs for _, theirs in pairs]}
    return [beside("import planexec_lite", taken, "ours", "theirs", 1e3, "ms", most=1.3)]


SCENES = [
    {"name": f"scene {n}", "when": {"system": "Role: planner", "says": f"task {n}"}, "reply": {"json": {"steps": [n]}}}
    for n in range(20)
]
ASK: dict[str, Any] = {
    "model": "m",
    "messages": [{"role": "system", "content": "Role: planner"}, {"role": "user", "content": "Do task 7 now"}],
}


def calls(count: int, times: int = 9) -> list[Row]:
    """Rows with µs per call: over HTTP compared with in process (at most 3 times as long), and the mock's share of a call."""
    import httpx2
    import openai

    llm = MockLLM(SCENES)
    request = HttpRequest("POST", "/v1/chat/completions", {}, json.dumps(ASK).encode())
    near = llm.client()
    body = llm.respond(request).body
    fixed = httpx2.MockTransport(
        lambda _: httpx2.Response(200, content=body, headers={"content-type": "application/json"})
    )
    bare = openai.OpenAI(api_key="none", http_client=httpx2.Client(transport=fixed, trust_env=False))

    def repeat(ask: Any) -> Any:
        return lambda: [ask() for _ in range(count)]

    with llm.serve() as base_url, openai.OpenAI(api_key="none", base_url=base_url) as far:
        taken = rounds(
            {
                "http": repeat(lambda: far.chat.completions.create(**ASK)),
                "near": repeat(lambda: near.chat.completions.create(**ASK)),
                "bare": repeat(lambda: bare.chat.completions.create(**ASK)),
                "engine": repeat(lambda: llm.respond(request)),
            },
            times,
            real,
        )
    per = 1e6 / count
    return [
        beside("a call over HTTP", taken, "http", "near", per, "µs", most=3.0),
        beside("the client with a bare transport", taken, "bare", "near", per, "µs", most=1.0),
        beside("engine and wire alone", taken, "engine", "near", per, "µs", most=1.0),
    ]
