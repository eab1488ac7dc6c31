"""Every fault as the genuine client sees it; a retry is an attempt of the same call; no test waits."""

import asyncio
import json
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import httpx2
import openai
import pytest

from mock_llm import MockLLM, ScriptError
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


RAISED: list[tuple[Any, type[Exception], str]] = [
    ("rate_limit", openai.RateLimitError, "Rate limit reached"),
    ({"status": 429, "retry_after": 7, "message": "Slow down."}, openai.RateLimitError, "Slow down."),
    ("server_error", openai.InternalServerError, "had an error while processing"),
    ({"status": 503}, openai.InternalServerError, "503"),
    ({"status": 401, "code": "invalid_api_key"}, openai.AuthenticationError, "Refused with 401"),
    ("insufficient_quota", openai.RateLimitError, "exceeded your current quota"),
    ({"status": 429, "code": "insufficient_quota"}, openai.RateLimitError, "exceeded your current quota"),
    ("timeout", openai.APITimeoutError, "timed out"),
    ("connection_error", openai.APIConnectionError, "Connection error"),
]


@pytest.mark.parametrize("ask", [plain, streamed_async])
@pytest.mark.parametrize(("fault", "error", "words"), RAISED, ids=lambda value: None)
def test_each_error_is_the_clients_own(ask: Callable[..., Any], fault: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words) as caught:
        to_its_end(lambda: ask(one(fault=fault)))  # at once, also where the client has patience for ten minutes
    assert type(caught.value) is error
    assert "quota" not in words or caught.value.type == caught.value.code == "insufficient_quota"  # type: ignore[attr-defined]


BREAKS = {
    "dropped": openai.APIConnectionError,
    "ended_early": None,
    "bad_chunk": json.JSONDecodeError,
    "error_event": openai.APIError,
}


@pytest.mark.parametrize("endpoint", ["chat", "responses"])
@pytest.mark.parametrize(("kind", "error"), BREAKS.items())
def test_a_stream_breaks_after_as_many_events_as_scripted(kind: str, error: Any, endpoint: str) -> None:
    client = one(fault={"kind": kind, "after": 3}).client(**OPTIONS)
    stream: Any = (
        client.chat.completions.create(**ASK, stream=True)
        if endpoint == "chat"
        else client.responses.create(model="m", input="count", stream=True)
    )
    seen: list[Any] = []
    with pytest.raises(error) if error else nullcontext():
        seen += stream
    assert len(seen) == 3
    if kind == "ended_early" and endpoint == "chat":
        assert "".join(chunk.choices[0].delta.content or "" for chunk in seen) == "one two"
        assert all(chunk.choices[0].finish_reason is None for chunk in seen)


def test_a_slow_first_token_does_not_time_out_a_patient_client() -> None:
    late = one(fault={"kind": "slow_first_token", "seconds": 30})
    assert len(streamed(late, timeout=40)) > 5
    raw = late.client(timeout=40).chat.completions.with_raw_response.create(**ASK, stream=True)
    assert raw.headers["openai-processing-ms"] == "30000"


def test_a_client_that_does_not_say_its_attempt_is_counted_by_content() -> None:
    llm = one(faults=["rate_limit", {"status": 503}])
    with httpx2.Client(transport=llm.transport()) as client:

        def ask(text: str) -> int:
            asked = {"model": "m", "messages": [{"role": "user", "content": text}]}
            return client.post("http://anywhere/v1/chat/completions", json=asked).status_code

        statuses = [ask(text) for text in ["a", "b", "a", "a", "b", "b", "a"]]
    assert statuses == [429, 429, 503, 200, 503, 200, 429]


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("meteorite", "unknown fault 'meteorite'; it is one of rate_limit, insufficient_quota"),
        ("timout", "unknown fault 'timout'; did you mean 'timeout'?"),
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


def test_the_client_waits_as_long_as_it_is_told_to() -> None:
    def headers(**fault: Any) -> Any:
        with pytest.raises(openai.RateLimitError) as caught:
            plain(one(fault={"kind": "rate_limit", **fault}))
        return caught.value.response.headers

    assert headers(retry_after=7)["retry-after"] == "7"
    assert "retry-after-ms" not in headers(retry_after=7)
    assert headers(retry_after_ms=20)["retry-after-ms"] == "20"
    assert headers()["retry-after-ms"] == "1"
    assert headers()["x-ratelimit-remaining-requests"] == "0"
    assert "x-ratelimit-remaining-requests" not in headers(code="insufficient_quota")
