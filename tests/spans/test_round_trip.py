"""A run written as OTLP JSON and read again is the same run: same events, same pictures, same figures."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given

from planexec_lab import spans, views
from planexec_lite import Inline, Plan, Run, Simulated, Tool, Toolbox, ToolExecutor, execute
from planexec_lite.assembly import Policy
from tests.core.test_events import runs
from tests.rounds import rounds
from tests.spans.samples import SAMPLES, calls_of, long
from tests.views import worlds


@pytest.mark.parametrize("name", SAMPLES)
def test_a_run_comes_back_event_by_event(name: str) -> None:
    run = SAMPLES[name]()
    back = spans.read(spans.write(run))
    assert back.events == run.events
    assert back.board == run.board


@rounds(40)
@given(runs())
def test_every_run_comes_back(ran: tuple[Run, Policy]) -> None:
    run, _ = ran
    assert spans.read(spans.write(run)).events == run.events


@pytest.mark.parametrize("name", ["retried", "nested", "planned", "replanned"])
def test_its_timeline_ledger_and_graph_are_the_same(name: str) -> None:
    run = SAMPLES[name]()
    back = spans.read(spans.write(run))
    assert views.timeline(back).text == views.timeline(run).text
    assert views.ledger(back).text == views.ledger(run).text
    assert views.graph(back.plan).text == views.graph(run.plan).text


def test_a_run_on_a_real_clock_comes_back_to_the_nanosecond() -> None:
    run = execute(worlds.chain(3), ToolExecutor(Toolbox([worlds.work])), workers=Inline())
    back = spans.read(spans.write(run))
    assert [type(event) for event in back.events] == [type(event) for event in run.events]
    assert all(abs(one.at - other.at) < 2e-9 for one, other in zip(run.events, back.events, strict=True))
    assert back.results == run.results


def test_the_order_of_spans_and_of_lines_does_not_matter() -> None:
    run = SAMPLES["nested"]()
    made = spans.of(run)
    random.Random(3).shuffle(made)
    half = len(made) // 2
    lines = f"{spans.write(made[:half])}\n{spans.write(made[half:])}\n"
    assert spans.read(lines).events == run.events
    assert spans.read([json.loads(line) for line in lines.splitlines()]).events == run.events


def test_of_several_traces_one_is_chosen() -> None:
    one, other = SAMPLES["nested"](), SAMPLES["retried"]()
    both = spans.write([*spans.of(one), *spans.of(other)])
    with pytest.raises(spans.TraceError, match="there are 2 traces in it; choose one by trace_id"):
        spans.read(both)
    assert spans.read(both, trace_id=spans.of(other)[0].trace_id).events == other.events
    with pytest.raises(spans.TraceError, match="there is no trace"):
        spans.read(both, trace_id="f" * 32)


def test_a_missing_span_is_noticed() -> None:
    made = spans.of(SAMPLES["retried"]())
    with pytest.raises(spans.TraceError, match="event 2 of the run is missing: not all of its spans are there"):
        spans.read(spans.write([span for span in made if span.name != "step 1"]))


def test_a_trace_without_content_still_has_a_timeline_and_a_ledger() -> None:
    run = SAMPLES["planned"]()
    back = spans.read(spans.write(spans.of(run, content=False)))
    assert (back.status, back.makespan, back.usage) == ("finished", run.makespan, run.usage)
    assert [step.tool for step in back.plan.steps] == ["put_up", "put_up"]


def test_odd_values_come_back() -> None:
    odd = {"ä": [1, 1.5, True, None, "\u2028", "{"], "big": 2**60, "": {}}
    plan = Plan.parse([{"id": "1", "tool": "echo", "params": {"value": odd}}])

    def echo(value: dict[str, object]) -> object:
        """Give back."""
        return value

    run = execute(
        plan.changed(goal="ä {step_9_result}"), ToolExecutor(Toolbox([Tool(echo, effects="none")])), workers=Simulated()
    )
    back = spans.read(spans.write(run))
    assert back.results == run.results
    assert back.board.goal == run.board.goal


@pytest.mark.slow
def test_reading_a_long_run_takes_what_its_length_says() -> None:
    small, large = (spans.write(long(length)) for length in (200, 2_000))
    assert calls_of(lambda: spans.read(large)) < 11 * calls_of(lambda: spans.read(small))
