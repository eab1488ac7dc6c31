"""Order independence: the same requests, in any order and from any number of threads, get the same answers but for ids."""

import json
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from mock_llm import MockLLM, Request
from mock_llm.types import HttpRequest, HttpResponse
from tests.mock_llm.test_wire import SCENES, completion, response
from tests.rounds import rounds


def shout(request: Request) -> str:
    return request.last.text.upper()


FAULTS = ["rate_limit", "server_error"]
SCRIPT: list[dict[str, Any]] = [
    *SCENES,
    {"name": "limited", "when": {"last": "limited"}, "reply": {"text": "at last", "faults": FAULTS}},
    {"name": "dropped", "when": {"last": "dropped"}, "reply": {"text": "a b c", "fault": "dropped"}},
    {"name": "shout", "when": {"says": "shout"}, "reply": {"python": shout}},
]
KINDS: list[tuple[str, str, dict[str, Any], int]] = [
    *(("chat/completions", word, completion(word), 0) for word in ("talk", "total", "call", "refuse", "unscripted")),
    *(("responses", word, response(word, stream=True), 0) for word in ("talk", "call", "total")),
    *(("chat/completions", "limited", completion("limited"), attempt) for attempt in range(3)),
    ("chat/completions", "dropped", completion("dropped", stream=True), 0),
    ("chat/completions", "talk", completion("talk", stream=True), 0),
    ("responses", "shout", response("shout it"), 0),
    ("chat/completions", "bad", completion("talk", temperature=9), 0),
]


def send(llm: MockLLM, kind: int) -> HttpResponse:
    path, _, body, attempt = KINDS[kind]
    headers = {"x-stainless-retry-count": str(attempt)}
    return llm.respond(HttpRequest("POST", f"/v1/{path}", headers, json.dumps(body).encode()))


def but_for_ids(answer: HttpResponse) -> HttpResponse:
    """The answer without ids, and without what is made of them."""
    headers = {name: value for name, value in answer.headers.items() if name != "x-request-id"}
    chunks = (re.sub(rb'[0-9a-f]{24}|"obfuscation":"[0-9a-f]*"', b"", chunk) for chunk in answer.chunks)
    return replace(answer, headers=headers, chunks=tuple(chunks))


ALONE = [send(MockLLM(SCRIPT), kind) for kind in range(len(KINDS))]


@rounds(40)
@given(
    order=st.permutations([n % len(KINDS) for n in range(2 * len(KINDS))]),
    threads=st.sampled_from([1, 2, 8]),
    scenes=st.permutations(SCRIPT),
)
def test_any_order_of_requests_and_of_scenes_gives_the_same_responses(
    order: list[int], threads: int, scenes: list[Any]
) -> None:
    llm = MockLLM(scenes)
    with ThreadPoolExecutor(threads) as pool:
        got = list(pool.map(lambda kind: send(llm, kind), order))
    for kind, answer in zip(order, got, strict=True):
        if KINDS[kind][1] != "unscripted":  # which of two equally near scenes it names follows their order
            assert but_for_ids(answer) == but_for_ids(ALONE[kind])
    assert len(llm.calls) == len(order)
    names = [answer.headers["x-request-id"] for answer in got if answer.headers["x-request-id"] != "req_refused"]
    assert len(set(names)) == len(names), "each answer has its own id"
