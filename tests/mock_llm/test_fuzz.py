"""Any script that loads gives any request a valid answer, a shaped error, or the fault that it orders; never a traceback."""

import json
from collections.abc import Iterator
from functools import reduce
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from mock_llm import MockLLM, ScriptError
from mock_llm.types import HttpRequest
from mock_llm.types.faults import Kind
from tests.mock_llm import strictly
from tests.mock_llm.asking import closed
from tests.mock_llm.test_wire import completion, response
from tests.rounds import rounds

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda part: st.lists(part, max_size=2) | st.dictionaries(st.text(max_size=3), part, max_size=2),
    max_leaves=4,
)
ITEM: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("items.yaml").read_text("utf-8"))["given"]
ITEMS = st.sampled_from([{"type": kind, **fields} for kind, fields in ITEM.items()])
USES = st.fixed_dictionaries(
    {"tool": st.sampled_from(["add", "add", "none"])}, optional={"arguments": st.just({"total": 1}) | VALUES}
)
FAULTS = st.sampled_from(get_args(Kind)) | st.fixed_dictionaries(
    {"kind": st.sampled_from(["dropped", "ended_early", "bad_chunk", "error_event"]), "after": st.integers(0, 30)}
)
EXTRAS: dict[str, Any] = {
    "fault": FAULTS,
    "faults": st.lists(FAULTS, min_size=1, max_size=2),
    "latency": st.floats(0, 9),
    "usage": st.fixed_dictionaries(
        {}, optional=dict.fromkeys(("input", "output", "cached", "reasoning"), st.integers(0, 99))
    ),
    "reasoning": st.text(max_size=20),
    "items": st.lists(ITEMS, min_size=1, max_size=2),
    "finish_reason": st.sampled_from(["stop", "length", "content_filter"]),
    "broken": st.booleans(),
}
TEXT = st.text(max_size=30) | st.sampled_from(["{{n}}", "a {{n}} b", '{"total": 5}', "{{n|json}}"])
SPEECH = st.one_of(
    st.fixed_dictionaries({"text": TEXT}, optional={"calls": st.lists(USES, min_size=1, max_size=2)}),
    st.fixed_dictionaries({"json": VALUES | st.just({"total": 53})}),
    st.fixed_dictionaries({"calls": st.lists(USES, min_size=1, max_size=3)}),
    st.fixed_dictionaries({"refusal": TEXT}),
    st.fixed_dictionaries({"fault": FAULTS}),
    st.fixed_dictionaries({"python": VALUES.map(lambda value: lambda _: value)}),
)
REPLIES = st.one_of(SPEECH, st.lists(SPEECH, min_size=1, max_size=3).map(lambda parts: {"choices": parts}))
WHENS = st.fixed_dictionaries(
    {"find": st.just({"n": "."})},
    optional={"turn": st.just(1), "counter": st.just("c"), "called": st.just("add")},
).map(lambda when: {**when, "turn": 1} if "counter" in when else when)


@rounds(300)
@given(
    scenes=st.lists(st.tuples(WHENS, REPLIES, st.fixed_dictionaries({}, optional=EXTRAS)), min_size=1, max_size=2),
    word=st.sampled_from(["talk", "total", "call"]),
    stream=st.booleans(),
    n=st.integers(1, 3),
    limit=st.none() | st.integers(16, 20),
    stop=st.none() | st.text(min_size=1, max_size=1),
    choice=st.sampled_from([None, "none", "required"]),
    attempt=st.integers(0, 2),
    responses=st.booleans(),
)
def test_whatever_a_script_holds_the_wire_stays_valid(
    scenes: list[Any],
    word: str,
    stream: bool,
    n: int,
    limit: int | None,
    stop: str | None,
    choice: str | None,
    attempt: int,
    responses: bool,
) -> None:
    try:
        llm = MockLLM(
            [
                {"name": f"s{i}", "when": when, "reply": {**extra, **reply}}
                for i, (when, reply, extra) in enumerate(scenes)
            ]
        )
    except ScriptError:
        return
    chosen = choice if word == "call" else None
    if responses:
        body = response(word, stream=stream, max_output_tokens=limit, tool_choice=chosen)
    else:
        body = completion(word, stream=stream, max_tokens=limit, n=n, stop=stop, tool_choice=chosen)
    path = "/v1/responses" if responses else "/v1/chat/completions"
    headers = {"x-stainless-retry-count": str(attempt)}
    answer = llm.respond(HttpRequest("POST", path, headers, json.dumps(body).encode()))
    (call,) = llm.calls
    fault = getattr(call.outcome, "fault", None)
    if fault is None or answer.status >= 400:
        strictly.check(answer.status, answer.headers["content-type"], answer.body)
    assert str(llm.calls)
    assert str(llm.explain(-1))


BODIES: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("bodies.yaml").read_text("utf-8"))
BODIES["messages/count_tokens"] = {
    k: v for k, v in BODIES["messages"].items() if k not in ("max_tokens", "stop_sequences")
}


def places(part: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield at
    for key, inner in part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ():
        yield from places(inner, (*at, key))


def send(path: str, body: bytes, llm: MockLLM | None = None) -> int:
    """Send a body, which gets an answer or an error in the API's shape; return its status."""
    llm = llm or MockLLM([{"name": "any", "reply": {"json": {"a": "x"}, "broken": True}}])
    answer = llm.respond(HttpRequest("POST", f"/v1/{path}", {"anthropic-version": "2026-10-21"}, body))
    assert answer.status in (200, 400, 404, 422)
    if not path.startswith("messages"):
        strictly.check(answer.status, answer.headers["content-type"], answer.body)
    elif answer.status != 200:
        assert json.loads(answer.body)["type"] == "error"
    return answer.status


@pytest.mark.parametrize("path", BODIES)
@rounds(200)
@given(data=st.data(), value=VALUES | st.sampled_from([1, 0.5, -1, True, "x", [], {}, [{}], {"type": "x"}, None]))
def test_any_value_in_any_place_of_a_body_gets_an_answer_or_a_shaped_error(path: str, data: Any, value: Any) -> None:
    body = json.loads(json.dumps(BODIES[path]))
    place = data.draw(st.sampled_from([*places(body)][1:]))
    if data.draw(st.booleans()) and path == "responses":  # without references the other rules are reached
        body = {**body, "input": body["input"][:-1], "previous_response_id": None}
        place = place if place[:2] != ("input", len(body["input"])) else ("input",)
    reduce(lambda inner, key: inner[key], place[:-1], body)[place[-1]] = value
    send(path, json.dumps(body).encode())
    send(path, json.dumps(body).encode(), MockLLM([{"name": "any", "reply": {"json": {"ok": [1, "x", {"a": None}]}}}]))


WRONG = [
    ("chat/completions", {"tool_choice": {"type": "x", "function": {"name": "x"}}}),
    ("responses", {"input": [{"type": "reasoning", "id": 5, "summary": []}], "previous_response_id": None}),
    ("messages", {"max_tokens": "many"}),
    ("messages", {"output_config": {"format": {"type": "json_schema", "schema": {"type": "array", "minItems": 2}}}}),
]


@pytest.mark.parametrize(("path", "change"), WRONG)
def test_a_wrong_value_is_refused(path: str, change: dict[str, Any]) -> None:
    assert send(path, json.dumps(BODIES[path] | change).encode()) == 400


@rounds(60)
@given(path=st.sampled_from(list(BODIES)), body=st.binary())
def test_any_bytes_get_a_shaped_error(path: str, body: bytes) -> None:
    send(path, body)


HOSTILE: dict[str, bytes | dict[str, Any]] = {
    "empty": b"",
    "no object": b"[]",
    "deep list": b"[" * 100_000,
    "deep object": b'{"a":' * 100_000,
    "nan": b'{"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "x"}], "temperature": NaN}',
    "utf-16": json.dumps(BODIES["messages"]).encode("utf-16"),
    "lone surrogates": b'{"model": "\\ud800", "messages": [{"role": "user", "content": "\\udfff"}]}',
    "huge integer": b'{"model": "m", "messages": [{"role": "user", "content": "x"}], "seed": 1' + b"0" * 4000 + b"}",
    "endless schema": {"name": "n", "schema": {"$ref": "#"}},
    "endless strict": {"name": "n", "strict": True, "schema": closed(a={"$ref": "#/properties/a"})},
}


@pytest.mark.parametrize("path", BODIES)
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_bodies_get_an_answer_or_a_shaped_error(path: str, name: str) -> None:
    body = HOSTILE[name]
    if isinstance(body, dict):
        shaped = {"response_format": {"type": "json_schema", "json_schema": body}}
        body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "x"}], **shaped}).encode()
    send(path, body)
    send(path, body, MockLLM([{"name": "any", "reply": {"json": {"a": 1}}}]))
