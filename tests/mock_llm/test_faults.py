"""Every fault as the genuine client sees it; a retry is an attempt of the same call; nobody waits."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import httpx2
import openai
import pytest

from mock_llm import Fault, MockLLM, Reply, Scene, ScriptError, When
from mock_llm.script.corruption import CORRUPTIONS, corrupted
from mock_llm.types.faults import PLAIN_ONLY, STREAM_ONLY, Kind
from tests.core.ending import to_its_end

WORDS = "one two three four five six seven eight"
ASK: Any = {"model": "m", "messages": [{"role": "user", "content": "count"}]}
OPTIONS: Any = {"max_retries": 0, "timeout": 600}


def one(**reply: Any) -> MockLLM:
    return MockLLM([{"name": "one", "reply": {"text": WORDS, **reply}}])


def plain(llm: MockLLM, **options: Any) -> Any:
    return llm.client(**{**OPTIONS, **options}).chat.completions.create(**ASK)


def streamed(llm: MockLLM, **options: Any) -> Any:
    return list(llm.client(**{**OPTIONS, **options}).chat.completions.create(**ASK, stream=True))


def streamed_async(llm: MockLLM, **options: Any) -> Any:
    async def ask() -> Any:
        client = llm.async_client(**{**OPTIONS, **options})
        return [chunk async for chunk in await client.chat.completions.create(**ASK, stream=True)]

    return asyncio.run(ask())


def plain_async(llm: MockLLM, **options: Any) -> Any:
    async def ask() -> Any:
        return await llm.async_client(**{**OPTIONS, **options}).chat.completions.create(**ASK)

    return asyncio.run(ask())


RAISED: list[tuple[Any, type[Exception], str]] = [
    ("rate_limit", openai.RateLimitError, "Rate limit reached"),
    ({"status": 429, "retry_after": 7, "message": "Slow down."}, openai.RateLimitError, "Slow down."),
    ("server_error", openai.InternalServerError, "had an error while processing"),
    ({"status": 503}, openai.InternalServerError, "503"),
    ({"status": 401, "code": "invalid_api_key"}, openai.AuthenticationError, "invalid_api_key"),
    ("timeout", openai.APITimeoutError, "timed out"),
    ("connection_error", openai.APIConnectionError, "Connection error"),
]


@pytest.mark.parametrize("ask", [plain, streamed, plain_async, streamed_async])
@pytest.mark.parametrize(("fault", "error", "words"), RAISED, ids=lambda value: None)
def test_each_error_is_the_clients_own(ask: Callable[..., Any], fault: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words) as caught:
        to_its_end(lambda: ask(one(fault=fault)))  # at once, also where the client has patience for ten minutes
    assert type(caught.value) is error


def test_the_client_waits_as_long_as_it_is_told_to() -> None:
    def headers(**fault: Any) -> Any:
        with pytest.raises(openai.RateLimitError) as caught:
            plain(one(fault={"kind": "rate_limit", **fault}))
        return caught.value.response.headers

    assert headers(retry_after=7)["retry-after"] == "7"
    assert "retry-after-ms" not in headers(retry_after=7)
    assert headers(retry_after_ms=20)["retry-after-ms"] == "20"
    assert headers()["retry-after-ms"] == "1"


def test_a_page_of_html_with_status_200_is_no_completion() -> None:
    assert "Please sign in" in plain(one(fault="html"))
    assert streamed(one(fault="html")) == []


@pytest.mark.parametrize("ask", [plain, plain_async])
def test_a_truncated_body_is_a_json_error(ask: Callable[..., Any]) -> None:
    with pytest.raises(json.JSONDecodeError):
        ask(one(fault="truncated"))


@pytest.mark.parametrize("ask", [plain, plain_async, streamed, streamed_async])
def test_a_dropped_connection_is_a_connection_error(ask: Callable[..., Any]) -> None:
    with pytest.raises(openai.APIConnectionError):
        ask(one(fault="dropped"))


@pytest.mark.parametrize("kind", ["dropped", "ended_early", "bad_chunk", "error_event"])
def test_a_stream_breaks_after_as_many_events_as_scripted(kind: str) -> None:
    errors = {"dropped": openai.APIConnectionError, "bad_chunk": json.JSONDecodeError, "error_event": openai.APIError}
    stream = one(fault={"kind": kind, "after": 3}).client(**OPTIONS).chat.completions.create(**ASK, stream=True)
    seen: list[Any] = []
    error = None
    try:
        seen += stream
    except (openai.APIError, json.JSONDecodeError) as caught:
        error = type(caught)
    assert error is errors.get(kind)
    if kind == "ended_early":
        assert "".join(chunk.choices[0].delta.content or "" for chunk in seen) == "one two"
        assert all(chunk.choices[0].finish_reason is None for chunk in seen)
        assert len(seen) == 3


def test_an_error_in_the_stream_has_the_scripted_words() -> None:
    with pytest.raises(openai.APIError, match=r"The model is tired\."):
        streamed(one(fault={"kind": "error_event", "message": "The model is tired."}))


@pytest.mark.parametrize("ask", [streamed, streamed_async])
def test_a_slow_first_token_times_out_an_impatient_client_only(ask: Callable[..., Any]) -> None:
    late = one(fault={"kind": "slow_first_token", "seconds": 30})
    with pytest.raises(openai.APITimeoutError):
        ask(late, timeout=5)
    assert len(ask(late, timeout=40)) > 5
    raw = late.client(timeout=40).chat.completions.with_raw_response.create(**ASK, stream=True)
    assert raw.headers["openai-processing-ms"] == "30000"


@pytest.mark.parametrize("kind", sorted(STREAM_ONLY | PLAIN_ONLY))
def test_a_fault_that_does_not_go_with_the_request_is_refused_and_never_ignored(kind: str) -> None:
    ask = plain if kind in STREAM_ONLY else streamed
    with pytest.raises(openai.UnprocessableEntityError, match=f"the fault '{kind}' is for"):
        ask(one(fault=kind))


def test_a_silent_retry_is_the_next_attempt_and_takes_no_other_answer() -> None:
    llm = MockLLM(
        [
            {
                "name": f"number {n}",
                "when": {"says": "count", "counter": "asked", "turn": n},
                "reply": {"text": f"answer {n}", "faults": ["rate_limit", {"status": 503}]},
            }
            for n in (1, 2)
        ]
    )
    client = llm.client(max_retries=2)
    answers = [client.chat.completions.create(**ASK).choices[0].message.content for _ in range(2)]
    assert answers == ["answer 1", "answer 2"]
    assert [(call.scene, call.attempt, call.text) for call in llm.calls[:3]] == [
        ("number 1", 0, "fault: rate_limit"),
        ("number 1", 1, "fault: server_error"),
        ("number 1", 2, "answer 1"),
    ]
    assert str(llm.calls[:1]).splitlines()[1].split() == [
        "0",
        "-",
        "number",
        "1",
        "0",
        "0",
        "0.00",
        "fault:",
        "rate_limit",
    ]


def test_a_client_that_does_not_say_its_attempt_is_counted_by_content() -> None:
    llm = one(faults=["rate_limit", {"status": 503}])
    with httpx2.Client(transport=llm.transport()) as client:

        def ask(text: str) -> int:
            asked = {"model": "m", "messages": [{"role": "user", "content": text}]}
            return client.post("http://anywhere/v1/chat/completions", json=asked).status_code

        statuses = [ask(text) for text in ["a", "b", "a", "a", "b", "b", "a"]]
    assert statuses == [429, 429, 503, 200, 503, 200, 429]


def test_a_loop_of_ones_own_is_told_apart_by_a_counter() -> None:
    limited = {"when": {"says": "count", "counter": "asked", "turn": 1}, "reply": {"fault": "rate_limit"}}
    answering = {"when": {"says": "count", "counter": "asked", "turn": 2}, "reply": {"text": "at last"}}
    client = MockLLM([{"name": "limited", **limited}, {"name": "then", **answering}]).client(max_retries=0)
    with pytest.raises(openai.RateLimitError):
        client.chat.completions.create(**ASK)
    assert client.chat.completions.create(**ASK).choices[0].message.content == "at last"


def test_after_the_last_retry_the_client_gives_up() -> None:
    with pytest.raises(openai.RateLimitError):
        plain(one(faults=["rate_limit"] * 3), max_retries=2)
    assert plain(one(faults=["rate_limit"] * 3), max_retries=3).choices[0].message.content == WORDS


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("meteorite", "fault 'meteorite' is not one of rate_limit, server_error"),
        ({"after": 2}, "a fault has a kind"),
        ({"kind": "timeout", "status": 429}, "the fault timeout has no field status; only rate_limit"),
        ({"status": 200}, "400 to 599"),
        ({"kind": "dropped", "after": -1}, "after is 0 or more"),
        ({"kind": "dropped", "afters": 1}, "did you mean 'after'?"),
        ({"kind": "rate_limit", "retry_after": "soon"}, "retry_after must be a number"),
        (5, "a fault has fields"),
    ],
)
def test_a_fault_that_is_none_is_named_when_the_script_is_loaded(fault: Any, told: str) -> None:
    for reply in ({"fault": fault}, {"text": "x", "faults": [fault]}):
        with pytest.raises(ScriptError) as caught:
            MockLLM([{"name": "one", "reply": reply}])
        assert told in str(caught.value)


def test_faults_can_be_written_in_python() -> None:
    assert one(fault=Fault(kind="rate_limit")).scenes[0].reply.fault == Fault(kind="rate_limit")
    assert one(faults=[Fault(kind="rate_limit"), "timeout"]).scenes[0].reply.faults[1] == Fault(kind="timeout")


def test_every_kind_of_fault_is_tested_here() -> None:
    import inspect
    import sys
    from typing import get_args

    source = inspect.getsource(sys.modules[__name__])
    assert [kind for kind in get_args(Kind) if f'"{kind}"' not in source] == []


PLAN = {
    "goal": "3 + 4 * 2",
    "steps": [
        {"id": "1", "tool": "multiply", "params": {"a": 4, "b": 2}, "depends_on": []},
        {"id": "2", "tool": "add", "params": {"a": "{step_1_result}", "b": 3}, "depends_on": ["1"]},
    ],
}


def bad(how: str) -> Any:
    reply = {"json": PLAN, "spoil": how}
    asked = {
        **ASK,
        "messages": [{"role": "user", "content": "plan in json"}],
        "response_format": {"type": "json_object"},
    }
    completion = MockLLM([{"name": "plan", "reply": reply}]).client().chat.completions.create(**asked)
    text = completion.choices[0].message.content or ""
    return text if how == "prose" else json.loads(text)["steps"]


def test_bad_plans_are_made_from_a_good_one() -> None:
    assert bad("prose").startswith("Sure! Here is a plan with 2 steps:")
    assert json.dumps(PLAN) in bad("prose")
    assert bad("unknown_tool")[1]["tool"] == "add_v2"
    assert bad("dangling_dependency")[1]["depends_on"] == ["1", "99"]
    assert [step["depends_on"] for step in bad("cycle")] == [["2"], ["1"]]
    assert [step["id"] for step in bad("duplicate_ids")] == ["1", "1"]
    assert [step["id"] for step in bad("ignored_instruction")] == ["1"]
    assert bad("plausible_but_wrong")[1]["params"] == {"a": 3, "b": "{step_1_result}"}
    assert PLAN["steps"][1]["depends_on"] == ["1"]  # type: ignore[index]
    assert set(CORRUPTIONS) == {
        "prose",
        "unknown_tool",
        "dangling_dependency",
        "cycle",
        "duplicate_ids",
        "ignored_instruction",
        "plausible_but_wrong",
    }


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        ({"json": PLAN, "spoil": "cylce"}, "spoil 'cylce' is not one of prose"),
        ({"text": "x", "spoil": "cycle"}, "needs a plan in json"),
        ({"json": {"steps": [{"id": "1"}]}, "spoil": "cycle"}, "a cycle needs 2 steps, and this plan has 1"),
        ({"json": {"steps": [{"id": "1"}]}, "spoil": "plausible_but_wrong"}, "two different parameters"),
    ],
)
def test_a_plan_that_can_not_be_corrupted_is_named_when_the_script_is_loaded(reply: Any, told: str) -> None:
    with pytest.raises(ScriptError, match=told):
        MockLLM([{"name": "one", "reply": reply}])


def test_spoiling_leaves_the_good_plan_alone() -> None:
    before = json.dumps(PLAN)
    for how in CORRUPTIONS:
        corrupted(PLAN, how)
    assert json.dumps(PLAN) == before


def test_a_replan_that_never_ends_is_a_scene_that_fits_every_failure() -> None:
    stubborn = Scene(
        "try it again", Reply(json={"steps": [{"id": "{{failed}}b"}]}), When(find={"failed": r"step (\w+) failed"})
    )
    client = MockLLM([stubborn]).client()
    failed, plans = "1", []
    for _ in range(3):
        asked = {"model": "m", "messages": [{"role": "user", "content": f"step {failed} failed"}]}
        failed = json.loads(client.chat.completions.create(**asked).choices[0].message.content or "")["steps"][0]["id"]
        plans.append(failed)
    assert plans == ["1b", "1bb", "1bbb"]
