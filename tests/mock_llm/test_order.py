"""Order independence: the same requests, in any order and from any number of threads, get the same bytes."""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mock_llm import MockLLM, Request
from mock_llm.types import HttpRequest, HttpResponse
from tests.mock_llm import strictly
from tests.mock_llm.test_wire import SCENES, completion, response
from tests.rounds import rounds


def shout(request: Request) -> str:
    return request.last.text.upper()


SCRIPT: list[dict[str, Any]] = [
    *SCENES,
    {
        "name": "limited",
        "when": {"last": "limited"},
        "reply": {"text": "at last", "faults": ["rate_limit", "server_error"]},
    },
    {"name": "dropped", "when": {"last": "dropped"}, "reply": {"text": "a b c", "fault": "dropped"}},
    {"name": "echo", "when": {"says": "echo", "find": {"n": r"echo (\d+)"}}, "reply": {"text": "heard {{n}}"}},
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
            assert answer == ALONE[kind]
    assert len(llm.calls) == len(order)


def test_every_kind_of_response_is_valid() -> None:
    for kind, answer in enumerate(ALONE):
        if answer.ending == "whole":
            strictly.check(answer.status, answer.headers["content-type"], answer.body)
        else:
            assert KINDS[kind][1] == "dropped"


@pytest.mark.slow
def test_a_thousand_mixed_calls_from_32_threads_get_their_own_answers() -> None:
    def run() -> tuple[list[str], MockLLM]:
        llm = MockLLM(SCRIPT)
        client = llm.client(max_retries=2)

        def ask(n: int) -> str:
            word, way = f"echo {n}", n % 5
            if way == 0:
                return str(client.chat.completions.create(**completion(word)).choices[0].message.content)
            if way == 1:
                chunks = client.chat.completions.create(**completion(word), stream=True)
                return "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
            if way == 2:
                return client.responses.create(**response(word)).output_text
            if way == 3:
                return str(client.chat.completions.create(**completion("limited", seed=n)).choices[0].message.content)
            with contextlib.suppress(openai.UnprocessableEntityError):
                client.chat.completions.create(**completion(f"unknown {n}"))
            return "refused"

        with ThreadPoolExecutor(32) as pool:
            return list(pool.map(ask, range(1000))), llm

    answers, llm = run()
    wanted = {0: "heard {n}", 1: "heard {n}", 2: "heard {n}", 3: "at last", 4: "refused"}
    assert answers == [wanted[n % 5].format(n=n) for n in range(1000)]
    assert Counter((call.scene, call.attempt) for call in llm.calls) == {
        ("echo", 0): 600,
        ("limited", 0): 200,
        ("limited", 1): 200,
        ("limited", 2): 200,
        (None, 0): 200,
    }
    assert [call.index for call in llm.calls] == list(range(1400))
