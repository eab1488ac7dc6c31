"""The scripted model: a call over loopback HTTP or a bare transport, compared with a call in process; the engine alone.

The bare transport returns the same body without reading the request, so the rest is the genuine client's own time.
"""

import json
from typing import Any

from mock_llm import MockLLM
from mock_llm.types import HttpRequest
from tests.bench.timing import Row, beside, real, rounds

SCENES = [
    {"name": f"scene {n}", "when": {"system": "Role: planner", "says": f"task {n}"}, "reply": {"json": {"steps": [n]}}}
    for n in range(20)
]
ASK: dict[str, Any] = {
    "model": "m",
    "messages": [{"role": "system", "content": "Role: planner"}, {"role": "user", "content": "Do task 7 now"}],
}


def measure(calls: int, times: int = 9) -> list[Row]:
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
        return lambda: [ask() for _ in range(calls)]

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
    per = 1e6 / calls
    return [
        beside("a call over HTTP", taken, "http", "near", per, "µs", most=3.0),
        beside("the client with a bare transport", taken, "bare", "near", per, "µs", most=1.0),
        beside("engine and wire alone", taken, "engine", "near", per, "µs", most=1.0),
    ]
