"""Retries: how often, after which wait; and a breaker that stops calls to a tool that fails."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planexec_lite import Backoff, Board, Breaker, Inline, Pool, Run, Simulated, Tool, Toolbox, Verdict
from planexec_lite.meter import charge
from planexec_lite.plan import Step
from planexec_lite.run.events import BackoffStarted, StepBlocked, StepDone, StepFailed, StepStarted
from tests.capabilities.scaffold import told
from tests.core.agents import agent_for, carry_out
from tests.core.shapes import Workshop, left, starts, step, work
from tests.rounds import rounds

ERRORS: dict[str, type[Exception]] = {"busy": ConnectionError, "gone": LookupError, "reset": ConnectionResetError}


class Line:
    """A telephone line that raises errors in turn."""

    def __init__(self, *says: str) -> None:
        self.says = list(says)

    def ring(self) -> str:
        if self.says:
            raise ERRORS[word := self.says.pop(0)](word)
        return "hello"

    def run(self, retry_on: Any) -> Run:
        return carry_out([step("1", "ring")], [Tool(self.ring, retry_on=retry_on, effects="none")], retries=3)


@pytest.mark.parametrize(
    ("says", "retry_on", "status", "count"),
    [
        (["busy", "busy"], None, "finished", 3),
        (["gone", "gone"], None, "finished", 3),
        (["busy", "busy"], [ConnectionError], "finished", 3),
        (["reset"], [ConnectionError], "finished", 2),  # it is a kind of ConnectionError
        (["busy", "gone"], [ConnectionError], "failed", 2),
        (["gone"], [ConnectionError, TimeoutError], "failed", 1),
        (["busy"], [], "failed", 1),
    ],
)
def test_only_the_errors_that_the_tool_names_are_retried(
    says: list[str], retry_on: Any, status: str, count: int
) -> None:
    run = Line(*says).run(retry_on)
    assert (run.status, len(starts(run))) == (status, count)
    assert [event.final for event in run.events if isinstance(event, StepFailed)][-1:] == [status == "failed"]


EVEN = Backoff(first=1.0, factor=2.0, longest=5.0, jitter=0.0)
AN_HOUR = Backoff(first=3600.0, longest=3600.0)


def tried(steps: Any, workshop: Workshop, workers: Any = None, **more: Any) -> Run:
    return carry_out(steps, workshop.toolbox, workers, **{"retries": 3, "backoff": EVEN, **more})


@pytest.mark.parametrize(
    ("backoff", "waits"),
    [
        (EVEN, [1.0, 2.0, 4.0, 5.0, 5.0]),
        (Backoff(first=0.5, factor=1.0, jitter=0.0), [0.5] * 5),
        (Backoff(first=0.0), [0.0] * 5),
    ],
)
def test_each_wait_is_longer_up_to_a_bound(backoff: Backoff, waits: Sequence[float]) -> None:
    assert [backoff.seconds("1", attempt) for attempt in range(2, 7)] == waits


@given(st.floats(0, 100), st.floats(1, 10), st.floats(0, 1), st.integers(), st.text(), st.integers(2, 11))
@rounds(200)
def test_jitter_only_shortens_a_wait_and_is_deterministic(
    first: float, factor: float, jitter: float, seed: int, id: str, attempt: int
) -> None:
    backoff = Backoff(first, factor, 60.0, jitter, seed)
    whole = Backoff(first, factor, 60.0, 0.0).seconds(id, attempt)
    wait = backoff.seconds(id, attempt)
    assert whole * (1 - jitter) - 1e-5 <= wait <= whole + 1e-5
    assert backoff.seconds(id, attempt) == wait


@pytest.mark.parametrize("kind", ["inline", "threads"])
def test_after_an_interrupt_in_the_wait_the_run_continues_without_it(kind: str) -> None:
    workshop = Workshop()

    def watch(run: Run) -> None:
        if isinstance(run.events[-1], BackoffStarted):
            raise KeyboardInterrupt

    with ThreadPoolExecutor(1) as threads:
        workers = Inline() if kind == "inline" else Pool(threads)
        run = left(lambda: tried([work("1", fails=1)], workshop, workers, watch=watch, backoff=AN_HOUR))
        run = agent_for(workshop.toolbox, workers=workers, retries=1, backoff=AN_HOUR).resume(run)
    assert (run.status, workshop.calls) == ("finished", {"1": 2})


NOTE = Tool(lambda: "noted", name="note", latency=1.0, effects="none")


def answering(*works: bool) -> Tool:
    """Return a tool whose calls work or fail in turn."""
    outcomes = iter(works)

    def ask() -> str:
        if not next(outcomes):
            raise RuntimeError("down")
        return "here"

    return Tool(ask, latency=1.0, effects="none")


def test_a_result_that_is_being_judged_does_not_count_as_the_trying_call() -> None:
    class Slow:
        def evaluate(self, step: Step, result: Any, board: Board) -> Verdict:
            charge(30.0)
            return Verdict("accept", "here")

    steps = [step("1", "ask", success_criteria="here"), step("n", "note"), step("2", "ask", "n", retries=1)]
    tools, backoff = Toolbox([answering(True, False, True), NOTE]), Backoff(5.0, jitter=0.0)
    run = carry_out(steps, tools, breaker=Breaker(1, 5.0), backoff=backoff, evaluator=Slow())
    assert (run.status, told(run, StepBlocked)) == ("finished", [])


def test_a_step_waits_again_after_each_verdict() -> None:
    verdicts = [Verdict("retry", "no"), Verdict("retry", "no"), Verdict("accept")]
    evaluator = lambda *_shown: verdicts.pop(0)  # noqa: E731
    steps = [step("1", "note", success_criteria="here", retries=2)]
    run = carry_out(steps, Toolbox([NOTE]), backoff=EVEN, evaluator=evaluator)
    assert (run.status, [event.seconds for event in run.events if isinstance(event, BackoffStarted)]) == (
        "finished",
        [1.0, 2.0],
    )


@given(st.lists(st.booleans(), min_size=1, max_size=30), st.integers(1, 4), st.sampled_from((0.0, 1.5, 4.0)))
@rounds(150)
def test_a_breaker_blocks_random_outages_exactly_as_by_hand(works: list[bool], failures: int, seconds: float) -> None:
    steps = [step(str(n), "ask") for n in range(len(works))]
    run = carry_out(steps, Toolbox([answering(*works)]), Simulated(1), breaker=Breaker(failures, seconds))
    in_a_row, last, again, clock, expected = 0, 0.0, iter(works), 0.0, []
    for n in range(len(works)):
        if in_a_row >= failures and clock < last + seconds:
            expected.append((str(n), "StepBlocked"))
            continue
        clock += 1.0
        well = next(again)
        in_a_row, last = (0, last) if well else (in_a_row + 1, clock)
        expected.append((str(n), "StepDone" if well else "StepFailed"))
    seen = [event for event in run.events if isinstance(event, StepBlocked | StepDone | StepFailed)]
    assert [(event.step, type(event).__name__) for event in seen] == expected
    assert len(told(run, StepStarted)) == sum(what != "StepBlocked" for _, what in expected)


@pytest.mark.parametrize("workers", [Simulated(1), Simulated(limits={"work": 1})], ids=str)
def test_while_it_waits_its_place_is_free_for_others(workers: Simulated) -> None:
    run = tried([work("1", fails=1), work("2"), work("3", quarters=16)], Workshop(), workers)
    assert starts(run) == [("1", 0.0), ("2", 1.0), ("1", 2.0), ("3", 3.0)]


@pytest.mark.parametrize("kind", ["inline", "threads", "simulated"])
def test_a_run_that_ends_does_not_wait_for_a_backoff(kind: str) -> None:
    workshop = Workshop()
    with ThreadPoolExecutor(1) as threads:
        workers = {"inline": Inline(), "threads": Pool(threads), "simulated": Simulated(1)}[kind]
        broken = work("2", fails=9, retries=0)
        steps = [work("1", fails=1, retries=1), broken]
        run = tried(steps, workshop, workers, failure="stop", backoff=AN_HOUR, retries=0)
    assert (run.status, workshop.calls) == ("failed", {"1": 1, "2": 1})
    assert run.makespan < 60


def test_a_step_that_a_judge_sends_back_waits_too() -> None:
    verdicts = [Verdict("retry", "once more"), Verdict("accept")]
    run = tried([work("1", success_criteria="good")], Workshop(), evaluator=lambda *_: verdicts.pop(0))
    assert starts(run) == [("1", 0.0), ("1", 2.0)]
