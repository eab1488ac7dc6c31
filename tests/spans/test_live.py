"""Spans handed on while a run goes on are those of the run that has ended, and no exporter disturbs it."""

import threading
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from planexec_lab import spans
from planexec_lab.spans import live_export
from planexec_lab.spans.exporting import as_sdk
from planexec_lab.spans.from_events import EPOCH
from planexec_lite import (
    Decision,
    Inline,
    Journal,
    Plan,
    PlannerExecutor,
    Policy,
    Pool,
    RulePlanner,
    Run,
    Simulated,
    Toolbox,
    ToolExecutor,
    execute,
)
from planexec_lite.roles.reviewers import AskPerson
from planexec_lite.run import events
from tests.capabilities.scaffold import Site
from tests.core.shapes import step
from tests.core.test_events import runs
from tests.core.test_nested import inner, outer
from tests.rounds import rounds
from tests.spans.collecting import Collector
from tests.spans.samples import SAMPLES
from tests.views import worlds

ROOT = Path(__file__).parents[2]
live = partial(spans.live, epoch=EPOCH)  # as `of` has it


class Kept(SpanExporter):
    """Keeps what it is given."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        self.texts += [span.to_json() for span in spans]
        return SpanExportResult.SUCCESS


def whole(run: Run, **options: Any) -> Counter[str]:
    """What `of` gives, each span as a text."""
    return Counter(span.to_json() for span in as_sdk(spans.of(run, trace_id=run.uid, **options)))


def ended(run: Run) -> Counter[str]:
    """The same without what is still in flight, all that is below it, and the run's own span where it has not ended."""
    made = spans.of(run, trace_id=run.uid)
    flying = set() if run.board.ended else {made[0].span_id}
    inside: set[str | None] = set()
    for span in made:  # each behind the one around it
        job = span.parent_id == made[0].span_id
        if span.parent_id in inside or (job and "planexec.ended" not in span.attributes):
            inside.add(span.span_id)
    return Counter(span.to_json() for span in as_sdk([span for span in made if span.span_id not in flying | inside]))


def fed(run: Run, portions: Sequence[int] = (1,), **options: Any) -> list[str]:
    """What live export sends of a run that grows by so many events at a time, in their turn."""
    kept, growing, left = Kept(), Run(), iter(run.events)
    telling = live(kept, **options)
    growing.uid = run.uid
    for many in cycle(portions):
        for event in islice(left, many):
            growing.record(event)
        telling(growing)
        if len(growing.events) == len(run.events):
            assert telling.flush()
            return kept.texts
    raise AssertionError


@pytest.mark.parametrize("name", SAMPLES)
def test_at_every_moment_what_had_ended_is_sent_and_stays(name: str) -> None:
    run, kept, growing = SAMPLES[name](), Kept(), Run()
    telling = live(kept)
    growing.uid = run.uid
    for event in run.events:
        growing.record(event)
        telling(growing)
        telling.flush()
        assert ended(growing) <= Counter(kept.texts)  # and what has ended in a run inside a step that goes on
        assert set(kept.texts) <= set(whole(growing))
        if isinstance(event, events.StepDone) and name == "nested":
            assert any('"step a"' in text for text in kept.texts)
    assert len(kept.texts) == len(set(kept.texts))
    assert not run.board.ended or Counter(fed(run, content=False)) == whole(run, content=False)


@rounds(40)
@given(
    runs(), st.lists(st.integers(1, 5), min_size=1, max_size=6), st.sampled_from([{}, {"content": False, "epoch": 7.5}])
)
def test_of_every_run_and_however_often_it_is_looked_at(
    ran: tuple[Run, Policy], portions: list[int], options: Any
) -> None:
    sent = fed(ran[0], portions, **options)
    assert Counter(sent) == whole(ran[0], **options)
    assert ['"parent_id": null' in text for text in sent] == [False] * (len(sent) - 1) + [True]


def put_up(names: str, watch: Any = None, workers: Any = None) -> Run:
    plan = Plan.parse([step(str(n), "put_up", name=name) for n, name in enumerate(names, 1)])
    return execute(plan, ToolExecutor(Site().tools), workers=workers or Simulated(), watch=watch)


@pytest.mark.parametrize("workers", [Simulated(1), Inline(), Pool(ThreadPoolExecutor(3))])
def test_a_run_that_is_watched(workers: Any) -> None:
    run = put_up("abc", live(kept := Kept()), workers)
    assert Counter(kept.texts) == whole(run)
    if isinstance(workers, Pool):
        workers.executor.shutdown()


@pytest.mark.parametrize("another_process", [False, True])
def test_a_paused_run_goes_on_in_its_trace(another_process: bool, tmp_path: Path) -> None:
    kept, journal = Kept(), Journal(tmp_path / "j.db")
    agent = outer(inner(reviewer=AskPerson()))
    agent.watch, agent.journal = live(kept), journal
    run = agent.run("dinner")
    assert agent.watch.flush()
    assert Counter(kept.texts) == ended(run)
    while run.status == "paused":
        if another_process:
            run = journal.load(run.id)
            agent.watch = live(kept)  # it knows nothing of what went before
        run = agent.resume(run, Decision("approve"))
    assert agent.watch.flush()
    assert set(kept.texts) == set(whole(run))
    assert another_process or Counter(kept.texts) == whole(run), "nothing goes twice"


def test_a_run_that_is_rolled_back_after_its_end_has_its_own_span_again() -> None:
    kept, undo = Kept(), {"tool": "take_down", "params": {"name": "a"}}
    planner = RulePlanner(lambda _: [step("1", "put_up", name="a", undo=undo)])
    agent = PlannerExecutor(planner, ToolExecutor(Site().tools), workers=Simulated(), watch=live(kept))
    run = agent.run("up")
    first = list(kept.texts)
    back = agent.roll_back(run)
    assert back.status == "rolled back"
    assert Counter(first) == whole(run)
    assert Counter(kept.texts) == whole(back) + Counter([first[-1]])


@pytest.mark.slow
def test_a_collector_gets_a_run_while_it_goes_on() -> None:
    collector = Collector()
    exporter = spans.otlp(collector.url)
    run = execute(worlds.chain(300), ToolExecutor(Toolbox([worlds.work])), workers=Simulated(), watch=live(exporter))
    exporter.shutdown()
    collector.close()
    assert len(collector.got) > 1
    assert spans.read(collector.got).events == run.events


def test_an_exporter_that_fails_is_logged_and_the_run_is_the_same(caplog: pytest.LogCaptureFixture) -> None:
    kept = Kept()
    kept.export = lambda _: 1 / 0  # type: ignore[assignment, method-assign, return-value]
    assert put_up("abc", live(kept)).events == put_up("abc").events
    assert "Exception while exporting Span" in caplog.text


def test_a_run_that_can_not_be_drawn_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("planexec_lab.spans.live_export.outermost", lambda _: 1 / 0)
    with pytest.warns(RuntimeWarning, match="its spans can't be made: ZeroDivisionError"):
        assert put_up("ab", live(Kept())).status == "finished"


def test_one_serves_several_runs_at_once() -> None:
    telling = live(kept := Kept())
    with ThreadPoolExecutor(4) as threads:
        ran = [*threads.map(lambda names: put_up(names, telling), ["abc", "defg", "h", "ij"] * 6)]
    assert telling.flush()
    assert Counter(kept.texts) == sum((whole(run) for run in ran), Counter())


def test_what_is_handed_on_has_the_date_of_today() -> None:
    def began() -> float:
        return float(min(span.start_time for span in kept.get_finished_spans())) / 1e9

    kept, before = InMemorySpanExporter(), time.time()
    run = put_up("a", spans.live(kept))
    assert before - 1 <= began() <= time.time() + 1
    kept.clear()
    spans.send(run, kept)
    assert before - 1 <= began() + run.makespan <= time.time() + 1
    kept.clear()
    spans.send(run, kept, epoch=7.5)
    assert began() == 7.5


def test_the_next_runs_do_not_wait_for_an_exporter_that_is_stuck(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = threading.Event()

    class Stuck(Kept):
        def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
            answers.wait(60)
            return super().export(spans)

    monkeypatch.setattr(live_export, "PATIENCE", 0.5)
    telling, took = live(kept := Stuck()), []
    for _ in range(3):
        began = time.monotonic()
        with pytest.warns(RuntimeWarning, match="spans have not gone yet"):
            put_up("a", telling)
        took.append(time.monotonic() - began)
    answers.set()
    while not telling.flush(20):
        time.sleep(0.01)
    assert len(kept.texts) == 9
    assert took[0] >= 0.5
    assert max(took[1:]) < 0.5
