"""Spans handed on while a run goes on are those of the run that has ended, and no exporter disturbs it."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry import trace
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
    events,
    execute,
)
from planexec_lite.plan import Step
from planexec_lite.roles.reviewers import AskPerson
from tests.capabilities.scaffold import Site
from tests.core.shapes import step
from tests.core.test_events import runs
from tests.core.test_nested import inner, outer
from tests.rounds import rounds
from tests.spans import killed
from tests.spans.collecting import Collector
from tests.spans.samples import SAMPLES, Writer, calls_of, long
from tests.views import worlds

ROOT = Path(__file__).parents[2]
TOOLS = Toolbox([worlds.work])
live = partial(spans.live, epoch=EPOCH)  # as `of` has it


class Kept(SpanExporter):
    """Keeps what it is given, after a while."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.seconds = seconds
        self.batches: list[int] = []
        self.texts: list[str] = []
        self.threads: set[str] = set()

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        time.sleep(self.seconds)
        self.batches.append(len(spans))
        self.texts += [span.to_json() for span in spans]
        self.threads.add(threading.current_thread().name)
        return SpanExportResult.SUCCESS


class Failing(SpanExporter):
    """Raises, whatever it is given."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        raise ValueError("no")


def whole(run: Run, **options: Any) -> Counter[str]:
    """What `of` gives, each span as a text."""
    return Counter(span.to_json() for span in as_sdk(spans.of(run, trace_id=run.uid, **options)))


def ended(run: Run) -> Counter[str]:
    """The same without what is still in flight, all that is below it, and the run's own span where it has not ended."""
    started = {number for number, event in enumerate(run.events) if isinstance(event, events.Job)}
    made = spans.of(run, trace_id=run.uid)
    flying = {
        span.span_id
        for span in made
        if span.parent_id == made[0].span_id and span.attributes["planexec.first"] in started
        and "planexec.last" not in span.attributes
    }  # fmt: skip
    own = set() if run.board.ended else {made[0].span_id}
    for span in made:  # each behind the one around it
        flying |= {span.span_id} if span.parent_id in flying else set()
    return Counter(span.to_json() for span in as_sdk([span for span in made if span.span_id not in flying | own]))


def fed(run: Run, portions: Sequence[int] = (1,), **options: Any) -> list[str]:
    """What live export sends of a run that grows by so many events at a time, in their turn."""
    kept, growing = Kept(), Run()
    telling = live(kept, **options)
    growing.uid = run.uid
    told = 0
    while told < len(run.events):
        for _ in range(max(portions[told % len(portions)], 1)):
            if told < len(run.events):
                growing.record(run.events[told])
                told += 1
        telling(growing)
    assert telling.flush()
    return kept.texts


@pytest.mark.parametrize("name", [name for name in SAMPLES if name not in ("nested_and_paused", "midway", "thinking")])
def test_what_is_sent_live_is_what_of_gives(name: str) -> None:
    run = SAMPLES[name]()
    assert run.board.ended
    sent = fed(run)
    assert Counter(sent) == whole(run)
    assert '"parent_id": null' in sent[-1]
    assert sum('"parent_id": null' in text for text in sent) == 1
    assert Counter(fed(run, content=False, epoch=7.5)) == whole(run, content=False, epoch=7.5)


@pytest.mark.parametrize("name", SAMPLES)
def test_at_every_moment_what_had_ended_is_sent_and_stays(name: str) -> None:
    run, kept, growing = SAMPLES[name](), Kept(), Run()
    telling = live(kept)
    growing.uid = run.uid
    for event in run.events:
        growing.record(event)
        telling(growing)
        telling.flush()
        known = ended(growing)
        assert known <= Counter(kept.texts)  # and what has ended in a run inside a step that goes on
        assert set(kept.texts) <= set(whole(growing))
    assert len(kept.texts) == len(set(kept.texts))


@rounds(40)
@given(runs(), st.lists(st.integers(1, 5), min_size=1, max_size=6))
def test_of_every_run_and_however_often_it_is_looked_at(ran: tuple[Run, Policy], portions: list[int]) -> None:
    assert Counter(fed(ran[0], portions)) == whole(ran[0])


def put_up(*names: str, **more: Any) -> Plan:
    return Plan.parse([step(str(n), "put_up", name=name, **more) for n, name in enumerate(names, 1)])


@pytest.mark.parametrize("workers", [Simulated(), Simulated(1), Inline(), Pool(ThreadPoolExecutor(3))])
def test_a_run_that_is_watched(workers: Any) -> None:
    before, kept = trace.get_tracer_provider(), InMemorySpanExporter()
    run = execute(put_up("a", "b", "c"), ToolExecutor(Site().tools), workers=workers, watch=live(kept))
    assert Counter(span.to_json() for span in kept.get_finished_spans()) == whole(run)
    assert trace.get_tracer_provider() is before
    if isinstance(workers, Pool):
        workers.executor.shutdown()


def test_planning_repair_and_runs_inside_steps() -> None:
    for agent, goal in (
        (PlannerExecutor(Writer(), ToolExecutor(Site().tools), workers=Simulated()), "a"),
        (PlannerExecutor(RulePlanner(lambda _: [step("1", "dig")]), ToolExecutor(Site().tools)), "b"),
        (outer(inner()), "dinner"),
    ):
        kept = Kept()
        agent.watch = live(kept)
        run = agent.run(goal)
        assert Counter(kept.texts) == whole(run)


def test_what_ended_in_a_run_inside_a_step_goes_before_the_step_has_ended() -> None:
    run = SAMPLES["nested"]()
    done = next(n for n, event in enumerate(run.events) if isinstance(event, events.StepDone))
    growing = Run(run.events[:done])
    growing.uid = run.uid
    names = [span for span in fed(growing) if '"step a"' in span]
    assert names


def test_a_paused_run_goes_on_in_its_trace_and_nothing_goes_twice() -> None:
    kept = Kept()
    agent = outer(inner(reviewer=AskPerson()))
    agent.watch = telling = live(kept)
    run = agent.run("dinner")
    assert run.status == "paused"
    assert telling.flush()
    assert Counter(kept.texts) == ended(run)
    while run.status == "paused":
        run = agent.resume(run, Decision("approve"))
    assert Counter(kept.texts) == whole(run)


def test_another_answer_to_the_same_pause_is_the_same_trace_up_to_there() -> None:
    kept = Kept()
    agent = PlannerExecutor(Writer(), ToolExecutor(Site().tools), AskPerson(), workers=Simulated())
    agent.watch = live(kept)
    asked = agent.run("both")
    no, yes = agent.resume(asked, Decision("reject")), agent.resume(asked, Decision("approve"))
    assert set(kept.texts) == set(whole(no)) | set(whole(yes))


def test_a_run_that_is_rolled_back_after_its_end_has_its_own_span_again() -> None:
    kept = Kept()
    agent = PlannerExecutor(Writer(), ToolExecutor(Site().tools), workers=Simulated())
    agent.planner = RulePlanner(
        lambda _: [step("1", "put_up", name="a", undo={"tool": "take_down", "params": {"name": "a"}})]
    )
    agent.watch = live(kept)
    run = agent.run("up")
    first = list(kept.texts)
    back = agent.roll_back(run)
    assert back.status == "rolled back"
    assert Counter(first) == whole(run)
    assert Counter(kept.texts) == whole(back) + Counter([first[-1]])


def test_it_goes_on_from_a_journal_with_the_same_ids(tmp_path: Path) -> None:
    sent: list[str] = []
    run = None
    for _ in range(9):  # each time another process would
        kept = Kept()
        agent = outer(inner(reviewer=AskPerson()))
        agent.watch, agent.journal = live(kept), Journal(tmp_path / "j.db")
        run = agent.run("dinner") if run is None else agent.resume(agent.journal.load(run.id), Decision("approve"))
        agent.watch.flush()
        sent += kept.texts
        if run.board.ended:
            break
    assert run is not None
    assert run.status == "finished"
    assert set(sent) == set(whole(run))


@pytest.fixture
def collector() -> Iterator[Collector]:
    made = Collector()
    yield made
    made.close()


@pytest.mark.slow
def test_the_trace_of_a_process_that_is_killed_holds_what_had_ended(collector: Collector, tmp_path: Path) -> None:
    file = tmp_path / "j.db"
    command = [sys.executable, "-m", "tests.spans.killed", str(file), collector.url]
    assert subprocess.run(command, cwd=ROOT, timeout=60).returncode == -9
    names = [span["name"] for span in collector.spans]
    assert sorted(names) == ["execute_tool work", "execute_tool work", "step 1", "step 2"]
    torn = spans.read(collector.got)
    assert [one.tool for one in torn.plan.steps] == ["work", "work"]

    exporter = spans.otlp(collector.url)
    agent = PlannerExecutor(None, ToolExecutor(killed.tools(None)), watch=live(exporter))
    run = agent.resume(Journal(file).load(1))
    exporter.shutdown()
    assert run.status == "finished"
    ids: dict[str, Any] = {}
    for span in collector.spans:
        assert ids.setdefault(span["spanId"], span) == span
    assert len(ids) == len(spans.of(run))
    assert spans.read(collector.got).results == run.results


@pytest.mark.slow
def test_a_collector_gets_a_run_while_it_goes_on(collector: Collector) -> None:
    exporter = spans.otlp(collector.url)
    run = execute(worlds.chain(300), ToolExecutor(TOOLS), workers=Simulated(), watch=live(exporter))
    exporter.shutdown()
    assert len(collector.got) > 1
    assert len(collector.spans) == 601
    assert spans.read(collector.got).events == run.events


def test_an_exporter_that_fails_is_logged_and_the_run_is_the_same(caplog: pytest.LogCaptureFixture) -> None:
    run = execute(put_up("a", "b", "c"), ToolExecutor(Site().tools), workers=Simulated(), watch=live(Failing()))
    assert run.events == execute(put_up("a", "b", "c"), ToolExecutor(Site().tools), workers=Simulated()).events
    assert "Exception while exporting Span" in caplog.text


def test_nobody_waits_for_a_slow_exporter_before_the_run_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Kept(0.4)
    began = time.monotonic()
    telling = live(kept)
    monkeypatch.setattr(telling, "flush", partial(telling.flush, 0.0))
    with pytest.warns(RuntimeWarning, match=r"spans have not gone yet, and may still go"):
        run = execute(worlds.chain(50), ToolExecutor(TOOLS), workers=Simulated(), watch=telling)
    assert time.monotonic() - began < 0.4
    monkeypatch.undo()
    while not telling.flush(20):
        time.sleep(0.01)
    assert Counter(kept.texts) == whole(run)


def test_a_run_that_can_not_be_drawn_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("planexec_lab.spans.live_export.outermost", lambda _: 1 / 0)
    with pytest.warns(RuntimeWarning, match="its spans can't be made: ZeroDivisionError"):
        run = execute(put_up("a", "b"), ToolExecutor(Site().tools), workers=Simulated(), watch=live(Kept()))
    assert run.status == "finished"


def test_where_there_are_no_threads_they_are_handed_on_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: object) -> None:
        raise RuntimeError("can't start new thread")

    kept = Kept()
    monkeypatch.setattr("threading.Thread.start", refuse)
    telling = live(kept)
    run = execute(put_up("a", "b"), ToolExecutor(Site().tools), workers=Simulated(), watch=telling)
    assert Counter(kept.texts) == whole(run)


def test_one_serves_several_runs_at_once() -> None:
    kept = Kept()
    telling = live(kept)

    def one(names: str) -> Run:
        return execute(put_up(*names), ToolExecutor(Site().tools), workers=Simulated(1), watch=telling)

    with ThreadPoolExecutor(4) as threads:
        ran = [*threads.map(one, ["abc", "defg", "h", "ij"] * 6)]
    assert telling.flush()
    assert Counter(kept.texts) == sum((whole(run) for run in ran), Counter())


@pytest.mark.slow
def test_the_last_spans_go_when_the_process_ends(collector: Collector) -> None:
    program = (
        "import sys\nfrom planexec_lab import spans\nfrom tests.spans.samples import SAMPLES\n"
        "spans.live(spans.otlp(sys.argv[1]))(SAMPLES['midway']())\nraise KeyboardInterrupt"
    )
    done = subprocess.run([sys.executable, "-c", program, collector.url], cwd=ROOT, capture_output=True, timeout=60)
    assert done.returncode
    assert len(collector.spans) == ended(SAMPLES["midway"]()).total()


def test_what_is_handed_on_has_the_date_of_today() -> None:
    kept, before = InMemorySpanExporter(), time.time()
    run = execute(put_up("a"), ToolExecutor(Site().tools), workers=Simulated(), watch=spans.live(kept))
    assert before - 1 <= _began(kept) <= time.time() + 1
    kept.clear()
    spans.send(run, kept)
    assert before - 1 <= _began(kept) + run.makespan <= time.time() + 1
    kept.clear()
    spans.send(run, kept, epoch=7.5)
    assert _began(kept) == 7.5


def _began(kept: Any) -> float:
    began: float = min(span.start_time for span in kept.get_finished_spans()) / 1e9
    return began


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
            execute(put_up("a"), ToolExecutor(Site().tools), workers=Simulated(), watch=telling)
        took.append(time.monotonic() - began)
    answers.set()
    while not telling.flush(20):
        time.sleep(0.01)
    assert len(kept.texts) == 9
    assert took[0] >= 0.5
    assert max(took[1:]) < 0.5


def test_a_tool_that_emits_what_is_no_run_disturbs_neither() -> None:
    run = Run()
    for event in (
        events.RunStarted(0.0, "x", planner=False, reviewer=False),
        events.PlanProposed(0.0, Plan(steps=(Step(id="1", description="odd"),))),
        events.StepStarted(0.0, "1"),
        events.Inside(0.0, "1", events.RunStarted(0.0, "inner", planner=False, reviewer=False)),
        events.Inside(0.0, "1", events.PlanProposed(0.0, Plan(steps=(Step(id="a", description="b"),)))),
        events.Inside(0.0, "1", events.StepStarted(0.0, "a")),
        events.Inside(1.0, "1", events.StepDone(1.0, "a", 1, 1.0)),
        events.Inside(1.0, "1", events.StepStarted(1.0, ["no", "id"])),  # type: ignore[arg-type]
        events.StepDone(2.0, "1", "done", 2.0),
        events.Ended(2.0, "finished", "1 step done"),
    ):
        run.record(event)
    made = spans.of(run)
    assert [span.name for span in made[2:]] == ["invoke_agent planner-executor", "step a"]
    assert Counter(fed(run)) == whole(run)


@pytest.mark.slow
def test_a_long_run_costs_what_its_length_says() -> None:
    def cost(length: int) -> int:
        run, growing = long(length), Run()
        telling = live(Kept())
        telling._processor = SimpleNamespace(on_end=lambda _: None, force_flush=lambda: None)

        def follow() -> None:
            for event in run.events:
                growing.events.append(event)
                telling(growing)

        return calls_of(follow)

    assert cost(3_000) < 10.5 * cost(300)
