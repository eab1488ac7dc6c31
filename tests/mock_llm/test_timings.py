"""The `timings` in the chunks of a stream: when each of them came, where the script states a latency; nobody waits for it."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from itertools import pairwise
from typing import Any

import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mock_llm import MockLLM, Reply, Scene, When
from planexec_lite.meter import Meter
from planexec_lite.model.answer import Answer
from planexec_lite.model.asking import ask_streaming
from tests.core.ending import to_its_end
from tests.rounds import rounds

WORDS = "one two three four five six seven eight"
ASK: Any = {"model": "m", "messages": [{"role": "user", "content": "count"}]}
USAGE: Any = {"stream_options": {"include_usage": True}}


def one(**reply: Any) -> MockLLM:
    return MockLLM([{"name": "one", "reply": {"text": WORDS, **reply}}])


def chunks(llm: MockLLM, **options: Any) -> list[Any]:
    return list(llm.client(max_retries=0).chat.completions.create(**{**ASK, **options}, stream=True))


def timings(streamed: list[Any]) -> list[Any]:
    """The timings of each chunk, None where it has none."""
    return [getattr(chunk, "timings", None) for chunk in streamed]


def milliseconds(streamed: list[Any]) -> list[float]:
    return [timing["predicted_ms"] for timing in timings(streamed) if timing is not None]


def test_each_chunk_says_when_it_came_and_the_last_one_takes_the_whole_latency() -> None:
    streamed = chunks(one(latency=2.0))
    came = milliseconds(streamed)
    assert len(came) == len(streamed)
    assert (came[0], came[-1]) == (0.0, 2000.0)
    assert came == sorted(came)
    assert len(set(came)) == len(came)
    assert [timing["predicted_n"] for timing in timings(streamed)] == list(range(len(came)))


def test_the_chunks_come_at_an_even_pace() -> None:
    came = milliseconds(chunks(one(latency=8.0)))
    steps = [after - before for before, after in pairwise(came)]
    assert max(steps) - min(steps) <= 0.002


def test_without_a_latency_nothing_is_said_about_time() -> None:
    assert set(timings(chunks(one()))) == {None}
    assert set(timings(chunks(one(latency=0)))) == {None}
    plain = one(latency=2.0).client().chat.completions.create(**ASK)
    assert getattr(plain, "timings", None) is None


def test_nobody_waits() -> None:
    assert to_its_end(lambda: chunks(one(latency=3600.0)))


def test_the_words_are_the_same_with_and_without_timings() -> None:
    def words(streamed: list[Any]) -> list[str]:
        return [chunk.choices[0].delta.content or "" for chunk in streamed if chunk.choices]

    assert words(chunks(one(latency=2.0))) == words(chunks(one()))
    assert "".join(words(chunks(one(latency=2.0)))) == WORDS


def test_the_chunk_with_the_usage_says_no_time_of_its_own() -> None:
    *spoken, usage = chunks(one(latency=2.0), **USAGE)
    assert usage.choices == []
    assert usage.usage.completion_tokens > 0
    assert getattr(usage, "timings", None) is None
    assert milliseconds(spoken)[-1] == 2000.0


def test_tool_calls_and_refusals_are_timed_like_words() -> None:
    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    tools = [{"type": "function", "function": {"name": "weather", "parameters": schema}}]
    calls = MockLLM(
        [{"name": "c", "reply": {"calls": [{"tool": "weather", "arguments": {"city": "Oslo"}}], "latency": 3.0}}]
    )
    for streamed in (
        chunks(calls, tools=tools),
        chunks(MockLLM([{"name": "r", "reply": {"refusal": "I would rather not", "latency": 3.0}}])),
    ):
        came = milliseconds(streamed)
        assert len(came) == len(streamed)
        assert (came[0], came[-1]) == (0.0, 3000.0)
        assert came == sorted(came)


def test_each_of_several_choices_is_timed_from_the_start() -> None:
    streamed = chunks(one(latency=2.0), n=2)
    for index in (0, 1):
        came = milliseconds([chunk for chunk in streamed if chunk.choices[0].index == index])
        assert (came[0], came[-1]) == (0.0, 2000.0)
        assert came == sorted(came)


def test_the_same_request_has_the_same_bytes_for_the_async_client_too() -> None:
    async def asked() -> list[Any]:
        client = one(latency=1.7).async_client(max_retries=0)
        return [chunk async for chunk in await client.chat.completions.create(**ASK, stream=True)]

    here = [chunk.model_dump_json() for chunk in chunks(one(latency=1.7))]
    assert here == [chunk.model_dump_json() for chunk in chunks(one(latency=1.7))]
    assert here == [chunk.model_dump_json() for chunk in asyncio.run(asked())]


@pytest.mark.parametrize(
    ("kind", "after"), [("ended_early", 3), ("dropped", 3), ("bad_chunk", 3), ("ended_early", None)]
)
def test_what_came_before_a_fault_says_when_it_came(kind: str, after: int | None) -> None:
    fault = {"kind": kind} | ({} if after is None else {"after": after})
    whole = milliseconds(chunks(one(latency=2.0)))
    came: list[float] = []
    stream = one(latency=2.0, fault=fault).client(max_retries=0).chat.completions.create(**ASK, stream=True)
    with suppress(openai.APIConnectionError, json.JSONDecodeError):
        for chunk in stream:
            came += milliseconds([chunk])
    assert came == whole[: len(came)]
    assert 0 < len(came) < len(whole)


def test_the_latency_stands_in_the_header_too() -> None:
    client = one(latency=2.5).client()
    raw = client.chat.completions.with_raw_response.create(**ASK, stream=True)
    assert raw.headers["openai-processing-ms"] == "2500"


@rounds(60)
@given(st.text(min_size=1, max_size=80), st.floats(0.001, 10_000))
def test_any_words_at_any_pace_add_up_to_the_latency(words: str, latency: float) -> None:
    scene = Scene(name="any", when=When(), reply=Reply(json={"words": words}, latency=latency))
    streamed = chunks(MockLLM([scene]))
    came = milliseconds(streamed)
    assert len(came) == len(streamed)
    assert came == sorted(came)
    assert came[0] == 0.0
    assert came[-1] == pytest.approx(1000 * latency, abs=0.001)
    text = "".join(chunk.choices[0].delta.content or "" for chunk in streamed)
    assert json.loads(text) == {"words": words}


# What a reader makes of it.


def heard(llm: MockLLM) -> tuple[list[tuple[str, float]], Answer, Meter]:
    """Each piece with the seconds charged when it was there; the answer; the meter."""
    pieces: list[tuple[str, float]] = []
    answer = Answer("", None, "")
    with Meter() as meter:
        for part in ask_streaming(llm.client(max_retries=0), "m", ASK["messages"]):
            if isinstance(part, Answer):
                answer = part
            else:
                pieces.append((part, meter.seconds))
    return pieces, answer, meter


def test_a_reader_is_charged_piece_by_piece_and_once_in_all() -> None:
    pieces, answer, meter = heard(one(latency=4.0))
    assert "".join(text for text, _ in pieces) == answer.text == WORDS
    assert answer.finish_reason == "stop"
    at = [seconds for _, seconds in pieces]
    assert at == sorted(at)
    assert len(set(at)) == len(at)
    assert 0.0 < at[0] < at[-1] < 4.0
    assert meter.seconds == pytest.approx(4.0, abs=1e-9)
    (call,) = meter.calls
    assert (call.model, call.seconds) == ("m", 4.0)
    assert call.output_tokens > 0


def test_a_reader_of_a_stream_without_timings_is_charged_what_it_measured() -> None:
    pieces, answer, meter = heard(one())
    assert answer.text == WORDS
    at = [seconds for _, seconds in pieces]
    assert at == sorted(at)
    assert 0.0 < meter.seconds < 30.0


def test_a_stream_that_ends_early_is_charged_as_far_as_it_came_and_is_not_whole() -> None:
    _, answer, meter = heard(one(latency=4.0, fault={"kind": "ended_early"}))
    assert answer.finish_reason == "length"
    assert WORDS.startswith(answer.text)
    assert 0.0 < meter.seconds < 4.0
    assert len(meter.calls) == 1


def test_what_a_lost_stream_cost_is_charged_though_it_raises() -> None:
    with Meter() as meter, pytest.raises(Exception, match=r"(?i)connection"):
        for _ in ask_streaming(one(latency=4.0, fault={"kind": "dropped"}).client(max_retries=0), "m", ASK["messages"]):
            pass
    assert 0.0 < meter.seconds < 4.0


def test_a_reader_that_leaves_in_the_middle_has_been_charged_so_far() -> None:
    with Meter() as meter:
        for n, _ in enumerate(ask_streaming(one(latency=4.0).client(), "m", ASK["messages"])):
            if n == 2:
                break
    assert 0.0 < meter.seconds < 4.0
