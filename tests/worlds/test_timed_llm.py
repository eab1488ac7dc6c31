"""The `timings` in the chunks of a stream: when each chunk came, if the script states a latency; no test waits for it."""

from __future__ import annotations

import json
from contextlib import nullcontext, suppress
from itertools import count
from typing import Any

import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mock_llm import Reply, Scene, When
from planexec_lab.timed_llm import TimedLLM
from planexec_lite.meter import Meter
from planexec_lite.model import asking
from planexec_lite.model.answer import Answer
from planexec_lite.model.asking import ask_streaming
from tests.rounds import rounds

WORDS = "one two three four five six seven eight"
ASK: Any = {"model": "m", "messages": [{"role": "user", "content": "count"}]}
USAGE: Any = {"stream_options": {"include_usage": True}}


def one(**reply: Any) -> TimedLLM:
    return TimedLLM([{"name": "one", "reply": {"text": WORDS, **reply}}])


def chunks(llm: TimedLLM, **options: Any) -> list[Any]:
    return list(llm.client(max_retries=0).chat.completions.create(**{**ASK, **options}, stream=True))


def timings(streamed: list[Any]) -> list[Any]:
    return [getattr(chunk, "timings", None) for chunk in streamed]


def milliseconds(streamed: list[Any]) -> list[float]:
    return [timing["predicted_ms"] for timing in timings(streamed) if timing is not None]


def test_without_a_latency_nothing_is_said_about_time() -> None:
    assert set(timings(chunks(one()))) == {None}
    assert set(timings(chunks(one(latency=0)))) == {None}
    plain = one(latency=2.0).client().chat.completions.create(**ASK)
    assert getattr(plain, "timings", None) is None


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


@rounds(60)
@given(st.text(min_size=1, max_size=80), st.integers(1, 10**7).map(lambda milliseconds: milliseconds / 1000))
def test_any_words_at_any_pace_add_up_to_the_latency(words: str, latency: float) -> None:
    scene = Scene(name="any", when=When(), reply=Reply(json={"words": words}, latency=latency))
    *streamed, usage = chunks(TimedLLM([scene]), **USAGE)
    came = milliseconds(streamed)
    assert (came[0], came[-1]) == (0.0, pytest.approx(1000 * latency, abs=0.001))
    assert came == sorted(came)
    assert [timing["predicted_n"] for timing in timings(streamed)] == list(range(len(streamed)))
    assert timings([usage]) == [None], "the chunk with the usage says no time of its own"
    text = "".join(chunk.choices[0].delta.content or "" for chunk in streamed)
    assert json.loads(text) == {"words": words}


def test_a_reader_is_charged_piece_by_piece_and_once_in_all() -> None:
    with Meter() as meter:
        parts = [(part, meter.seconds) for part in ask_streaming(one(latency=4.0).client(), "m", ASK["messages"])]
    (answer,) = [part for part, _ in parts if isinstance(part, Answer)]
    assert "".join(part for part, _ in parts if isinstance(part, str)) == answer.text == WORDS
    assert answer.finish_reason == "stop"
    at = [seconds for part, seconds in parts if isinstance(part, str)]
    assert at == sorted(set(at))
    assert 0.0 < at[0] < at[-1] < 4.0
    assert meter.seconds == pytest.approx(4.0, abs=1e-9)
    (call,) = meter.calls
    assert (call.model, call.seconds) == ("m", 4.0)
    assert call.output_tokens > 0


@pytest.mark.parametrize("kind", ["ended_early", "dropped"])
def test_a_stream_that_breaks_is_charged_as_far_as_it_came(kind: str) -> None:
    client = one(latency=4.0, fault={"kind": kind}).client(max_retries=0)
    lost = pytest.raises(Exception, match=r"(?i)connection") if kind == "dropped" else nullcontext()
    parts: list[str | Answer] = []
    with Meter() as meter, lost:
        parts += ask_streaming(client, "m", ASK["messages"])
    if kind == "ended_early":
        answer = parts[-1]
        assert isinstance(answer, Answer)
        assert answer.cut_off == "its stream ended without a finish_reason"
        assert WORDS.startswith(answer.text)
    assert 0.0 < meter.seconds < 4.0
    assert len(meter.calls) == (kind == "ended_early")


def test_a_slow_machine_adds_no_time_to_what_the_endpoint_reports(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = count(step=5.0)
    monkeypatch.setattr(asking, "perf_counter", lambda: next(clock))
    with Meter() as meter:
        *_, answer = ask_streaming(one(latency=2.0).client(), "m", ASK["messages"])
    assert isinstance(answer, Answer)
    assert meter.seconds == pytest.approx(2.0)
    assert meter.calls[0].seconds == pytest.approx(2.0)
