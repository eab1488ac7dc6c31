"""Traces that are wrong, huge, deep or go round in circles: refused with the place, or read in bounds."""

import contextlib
import json
import random
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planexec_lab import spans, views
from planexec_lab.spans import TraceError, reading, tree
from planexec_lite import Run
from tests.rounds import rounds
from tests.spans.samples import SAMPLES, agent, called, calls_of, chat, otlp, span

OPENAI_AGENTS = json.loads(spans.sample("openai-agents"))
JAEGER = {"traceID": "a", "spanID": "b", "operationName": "x", "startTime": 1, "duration": 1}
TWICE = [{"key": "message", "value": "a"}, {"key": "message", "value": "b"}]
PLACE = r"resourceSpans\[0\].scopeSpans\[0\].spans\[1\]"


def changed(**fields: Any) -> dict[str, Any]:
    return otlp(agent("a", None, 0, 9), {**called("t", "a", 1, 2), **fields})


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("", "the trace is no JSON"),
        ("{", "the trace is no JSON"),
        ("[]", "there is no span in it"),
        ("7", "the trace: no span, and no OTLP JSON, an object with resourceSpans: 7"),
        ('{"resourceSpans": 3}', "resourceSpans: no list: 3"),
        ('{"resourceSpans": [[]]}', r"resourceSpans\[0\]: no object"),
        ('{"resourceSpans": []}', "there is no span in it"),
        ('{"resourceSpans": [NaN]}', "JSON has no NaN"),
        ("[" * 70 + "]" * 70, "nested more than 60 deep"),
        ("[" * 100_000, "the trace is no JSON"),
        ('{"resourceSpans": []}\n{"resour', "line 2 is no JSON"),
        ({1, 2}, "the trace is no JSON"),
        (changed(spanId=""), f"{PLACE}: its span id is no id"),
        (changed(spanId="x" * 200), f"{PLACE}: its span id is no id"),
        (changed(traceId=7), f"{PLACE}: its trace id is no id: 7"),
        (changed(spanId="a"), f"{PLACE}: two spans have the id a"),
        (changed(startTimeUnixNano="-5"), f"{PLACE}: its start is no time since 1970: '-5'"),
        (changed(startTimeUnixNano=-5), f"{PLACE}: its start is no time"),
        (changed(startTimeUnixNano=None), f"{PLACE}: its start is no time since 1970: None"),
        (changed(endTimeUnixNano="9" * 30), f"{PLACE}: its end is no time"),
        (changed(endTimeUnixNano=True), f"{PLACE}: its end is no time"),
        (changed(endTimeUnixNano="1"), f"{PLACE}: it ends .* s before it starts"),
        (changed(startTimeUnixNano=1767225600000), f"{PLACE}: its start, 1767225600000, seems to be in milliseconds"),
        (
            changed(startTimeUnixNano="1767225600000000"),
            f"{PLACE}: its start, 1767225600000000, seems to be in microsec",
        ),
        (
            {**JAEGER, "tags": [{"key": "llm.n", "value": 3}, {"key": "llm.n", "value": 4}]},
            "the trace: the key 'llm.n' has two values",
        ),
        (
            {**JAEGER, "logs": [{"fields": [{"key": "event", "value": "gen_ai.choice"}, *TWICE]}]},
            "the trace: the key 'message' has two values",
        ),
        (
            otlp(
                {**called("t", "", 1, 2), "startTimeUnixNano": 1767225600000, "endTimeUnixNano": 1767225660000},
            ),
            "seems to be in milliseconds",
        ),
        ({"trace": changed(), "status": "PARTIAL"}, r"there are more spans than these \(status\); read all pages"),
        (changed(attributes=[{"key": 3}]), rf"{PLACE}.attributes\[0\]: its key is not a string: 3"),
        (changed(attributes=[{"key": "k", "value": {"intValue": "x"}}]), rf"{PLACE}.attributes\[0\]: no value of an"),
        (changed(attributes=[{"key": "k", "value": {"doubleValue": "many"}}]), "no value of an attribute"),
        (changed(attributes=[{"key": "k", "value": {"intValue": 7.5}}]), "no value of an attribute"),
        (
            changed(attributes=[{"key": "k", "value": {"kvlistValue": {"values": [{"key": "a"}] * 2}}}]),
            "the key 'a' occurs twice",
        ),
        (changed(parentSpanId="t"), f"{PLACE}: the span is inside itself"),
        ([{"object": "trace"}, 3], r"\[1\]: no span, and no OTLP JSON, an object with resourceSpans: 3"),
        ([{"object": "trace.span"}], "the trace: its span_data is no object"),
        ([{**OPENAI_AGENTS[1], "ended_at": None}], "the trace: its end is no time since 1970: None"),
        ([{**OPENAI_AGENTS[1], "started_at": "9999-99"}], "the trace: its start is no time since 1970: '9999-99'"),
        ([{**OPENAI_AGENTS[1], "started_at": "1950-01-01"}], "the trace: its start is no time"),
    ],
)
def test_bad_input_is_refused_with_the_place(source: Any, words: str) -> None:
    with pytest.raises(TraceError, match=words):
        spans.read(source)


@pytest.mark.parametrize("start", [0, 10**12, 4 * 10**12, 20 * 86_400 * 10**9])
def test_a_clock_that_does_not_count_from_1970_is_read(start: int) -> None:
    times = {"startTimeUnixNano": start, "endTimeUnixNano": start + 10**9}
    assert spans.read(otlp({**called("t", "", 1, 2), **times})).status == "finished"


@pytest.mark.parametrize(
    ("tags", "fields"),
    [
        ([{"key": "http.url", "value": "a"}, {"key": "http.url", "value": "b"}], []),
        ([{"key": "error", "value": False}, {"key": "error", "value": "false"}], []),
        ([], [{"key": "event", "value": "retry"}, {"key": "event", "value": "again"}, *TWICE]),
        ([], [{"value": "a"}, {"value": "b"}]),
    ],
)
def test_keys_of_jaeger_that_are_not_read_can_have_several_values(tags: list[Any], fields: list[Any]) -> None:
    assert spans.read({**JAEGER, "tags": tags, "logs": [{"fields": fields}]}).status == "finished"


def test_a_circle_of_parents_is_refused_and_found_at_once() -> None:
    ring = [span(str(n), str((n + 1) % 50), "x", 0, 1) for n in range(50)]
    hanging = [span(f"h{n}", "0", "x", 0, 1) for n in range(3_000)]

    def refuse(many: int) -> None:
        with pytest.raises(TraceError, match="the span is inside itself, because its parents form a cycle"):
            spans.read(otlp(span("root", None, "x", 0, 1), *hanging[:many], *ring))

    assert calls_of(lambda: refuse(3_000)) < 12 * calls_of(lambda: refuse(300))


def test_too_many_spans_and_characters_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree, "MOST_SPANS", 5)
    with pytest.raises(TraceError, match="there are 8 spans; 5 are the most"):
        spans.read(spans.write(SAMPLES["retried"]()))
    monkeypatch.setattr(reading, "MOST_CHARACTERS", 1_000)
    with pytest.raises(TraceError, match=r"the trace has .* characters; 1,000 are the most"):
        spans.read(spans.write(SAMPLES["retried"]()))


def test_wide_answers_are_read_in_bounds() -> None:
    """Each step of one answer would depend on each of the answer before: a million edges."""
    first = [called(f"a{n}", "r", 10, 20) for n in range(1_000)]
    second = [called(f"b{n}", "r", 30, 40) for n in range(1_000)]
    run = spans.read(otlp(agent("r", None, 0, 50), chat("c", "r", 0, 10), *first, chat("d", "r", 20, 30), *second))
    assert sum(len(step.depends_on) for step in run.plan.steps) == 1_000


def test_odd_texts_do_no_harm() -> None:
    odd = "\ud800 <b>\x00\x1b[31m {step_9_result} \u202e"
    trace = otlp(
        agent("r", None, 0, 50, asked=json.dumps([{"role": "user", "content": odd}])),
        chat("c", "r", 0, 10, completion=odd),
        called("t", "r", 10, 20, tool=odd, arguments="[" * 5_000, result='{"x": 1e999}'),
        {**called("u", "r", 10, 20), "name": odd},
    )
    run = spans.read(trace)
    assert run.results["1"] == {"x": "1e999"}
    for view in (views.timeline, views.graph, views.board, views.ledger):
        assert "\x1b" not in view(run).text
    assert spans.read(spans.write(run)).events == run.events


CHANGES: dict[str, list[Any]] = {
    "number": ["x", 3, -1, 700],
    "event": [
        "{",
        "3",
        '{"event": "Nonsense"}',
        '{"event": "StepStarted"}',
        '{"event": "StepStarted", "at": 0, "step": 7}',
        "",
    ],
}


@pytest.mark.parametrize(("key", "value"), [(key, value) for key, values in CHANGES.items() for value in values])
def test_a_run_of_the_kit_that_was_changed_is_refused(key: str, value: Any) -> None:
    data = json.loads(spans.write(SAMPLES["retried"]()))
    (step,) = [one for one in data["resourceSpans"][0]["scopeSpans"][0]["spans"] if one["name"] == "step 1, try 2"]
    (noted,) = [one for one in step["events"] if one["name"] == "planexec.StepStarted"]
    kind = "intValue" if isinstance(value, int) else "stringValue"
    others = [one for one in noted["attributes"] if one["key"] != f"planexec.{key}"]
    noted["attributes"] = [*others, {"key": f"planexec.{key}", "value": {kind: value}}]
    with pytest.raises(TraceError):
        spans.read(data)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(-1e9, 1e9) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=6,
)


@cache
def trace_text(name: str) -> str:
    return spans.write(SAMPLES[name]()) if name in SAMPLES else spans.sample(name)  # type: ignore[arg-type]


@rounds(400)
@given(st.randoms(use_true_random=False), json_values, st.sampled_from(["langgraph", "openai-agents", *SAMPLES]))
def test_a_trace_with_a_part_exchanged_is_a_run_or_a_trace_error(chance: random.Random, value: Any, name: str) -> None:
    data: Any = json.loads(trace_text(name))
    place = data
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        if not keys:
            return
        key = chance.choice(keys)
        if not isinstance(place[key], dict | list) or chance.random() < 0.1:
            place[key] = value
            break
        place = place[key]
    with contextlib.suppress(TraceError):
        assert isinstance(spans.read(data), Run)
