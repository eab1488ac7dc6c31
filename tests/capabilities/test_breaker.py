"""The circuit breaker: a tool that fails several times in a row is not called for a while, then tested with one call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planexec_lab.views.narration import trace
from planexec_lite import (
    Backoff,
    Board,
    Breaker,
    Plan,
    PlannerExecutor,
    Policy,
    Run,
    Simulated,
    Tool,
    Toolbox,
    ToolExecutor,
    Verdict,
    execute,
)
from planexec_lite.events import StepBlocked, StepDone, StepFailed, StepStarted
from planexec_lite.meter import charge, now
from planexec_lite.plan import Step
from tests.core.shapes import Portions, check_fold, check_replay, step
from tests.rounds import rounds

NEVER = float("inf")


class Service:
    """A tool that fails until `up` seconds, with the times of its calls, and a tool that works."""

    def __init__(self, up: float = NEVER, error: type[Exception] = RuntimeError) -> None:
        self.up, self.error, self.calls = up, error, list[float]()
        retry_on = None if error is RuntimeError else [RuntimeError]
        self.tools = Toolbox(
            [
                Tool(self.ask, latency=1.0, retry_on=retry_on, effects="none"),
                Tool(self.note, latency=1.0, effects="none"),
            ]
        )

    def ask(self) -> str:
        """Ask the service."""
        at = now() or 0.0
        self.calls.append(at)
        if at < self.up:
            raise self.error("down")
        return "here"

    def note(self) -> str:
        """Note something."""
        return "noted"

    def run(self, *steps: dict[str, Any], slots: int | None = None, **settings: Any) -> Run:
        policy = Policy(**{"breaker": Breaker(3, 10.0), **settings})
        run = execute(Plan.parse(list(steps)), ToolExecutor(self.tools), workers=Simulated(slots), policy=policy)
        check_fold(run)
        check_replay(run, policy)
        return run


def ten(**more: Any) -> list[dict[str, Any]]:
    return [step(str(n), "ask", **more) for n in range(1, 11)]


def answering(*works: bool) -> Tool:
    """Return a tool whose calls work or fail in turn."""
    outcomes = iter(works)

    def ask() -> str:
        """Ask."""
        if not next(outcomes):
            raise RuntimeError("down")
        return "here"

    return Tool(ask, latency=1.0, effects="none")


def kinds(run: Run, kind: type[Any]) -> list[Any]:
    return [event for event in run.events if isinstance(event, kind)]


def test_after_three_failures_in_a_row_nothing_is_called_or_asked_any_more() -> None:
    service = Service()
    run = service.run(*ten()[:4], step("5", "ask", gate=True), step("n", "note"), slots=1)
    assert len(service.calls) == 3
    assert [event.step for event in kinds(run, StepBlocked)] == ["4", "5"]
    assert run.board.errors["4"] == "not called: ask failed 3 times in a row, and its breaker is open for 10 s more"
    assert (run.status, run.board.state["n"]) == ("failed", "done")


def test_it_ends_a_storm_of_retries() -> None:
    even = Backoff(1.0, 2.0, jitter=0.0)
    storm, calm = Service(), Service()
    storm.run(*ten(), retries=3, backoff=even, breaker=None)
    calm.run(*ten(), retries=3, backoff=even)
    assert (len(storm.calls), len(calm.calls)) == (40, 10)


def test_when_its_time_is_over_one_call_tries_and_a_result_closes_it() -> None:
    service = Service(up=11.0)
    run = service.run(*ten(), retries=3, backoff=Backoff(4.0, 2.5, jitter=0.0), slots=None)
    # all at once; then blocked after 4 s; then one after 10 s more, while the others are blocked; then the others
    assert sorted(service.calls) == [1.0] * 10 + [16.0] + [41.0] * 9
    assert run.status == "finished"
    assert [event.at for event in kinds(run, StepBlocked)] == [5.0] * 10 + [15.0] * 9


def test_a_failure_of_the_one_that_tries_opens_it_again() -> None:
    service = Service(up=20.0)
    steps = [*ten()[:4], step("n", "note"), step("m", "note", "n")]
    run = service.run(*steps, slots=1, retries=9, backoff=Backoff(4.0, 1.0, jitter=0.0), breaker=Breaker(3, 10.0))
    assert run.status == "finished"
    tried = [at for at in service.calls if at > 3.0]
    assert tried[0] >= 13.0
    assert tried[1] - tried[0] >= 10.0, "the second is let through before its time"


def test_an_error_that_is_final_says_nothing_about_the_tool() -> None:
    service = Service(error=KeyError)
    run = service.run(*ten(), slots=1)
    assert len(service.calls) == 10
    assert all(event.final for event in kinds(run, StepFailed))


def test_a_blocked_attempt_counts_and_is_told() -> None:
    run = Service().run(*ten()[:4], slots=1, retries=1)
    assert [(event.step, event.attempt, event.attempts) for event in kinds(run, StepBlocked)][-1] == ("4", 2, 2)
    assert "step 4 fails: not called: ask failed 3 times in a row" in trace(run)


def test_what_is_blocked_is_planned_again_with_another_tool() -> None:
    service = Service()
    agent = PlannerExecutor(
        Portions(ten()[:5], [step("a", "note"), step("b", "ask")], [step("c", "note")]),
        ToolExecutor(service.tools),
        workers=Simulated(1),
        policy=Policy(replan="stall", breaker=Breaker(3, 60.0)),
    )
    run = agent.run("go")
    assert (run.status, len(service.calls)) == ("finished", 3)
    assert run.results.keys() == {"a", "c"}


def test_a_result_that_is_being_judged_is_no_call_that_tries() -> None:
    class Slow:
        def evaluate(self, step: Step, result: Any, board: Board) -> Verdict:
            charge(30.0)
            return Verdict("accept", "here")

    tools = Toolbox([answering(True, False, True), Service().tools["note"]])
    plan = [step("1", "ask", success_criteria="here"), step("n", "note"), step("2", "ask", "n", retries=1)]
    policy = Policy(breaker=Breaker(1, 5.0), backoff=Backoff(5.0, jitter=0.0))
    run = execute(Plan.parse(plan), ToolExecutor(tools), workers=Simulated(), policy=policy, evaluator=Slow())
    check_fold(run)
    assert (run.status, kinds(run, StepBlocked)) == ("finished", [])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Breaker(failures=0), "failures=0: at least one failure opens a breaker"),
        (lambda: Breaker(seconds=-1.0), "seconds=-1.0: a breaker stays open for zero seconds or more"),
        (lambda: Breaker(seconds=NEVER), "seconds=inf"),
    ],
)
def test_what_is_no_breaker_is_rejected_with_its_name(make: Callable[[], Breaker], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        make()


@given(st.lists(st.booleans(), min_size=1, max_size=30), st.integers(1, 4), st.sampled_from((0.0, 1.5, 4.0)))
@rounds(150)
def test_random_outages_are_left_alone_exactly_as_by_hand(works: list[bool], failures: int, seconds: float) -> None:
    tools = Toolbox([answering(*works)])
    count = len(works)
    plan = Plan.parse([step(str(n), "ask") for n in range(count)])
    run = execute(plan, ToolExecutor(tools), workers=Simulated(1), policy=Policy(breaker=Breaker(failures, seconds)))
    check_fold(run)
    in_a_row, last, again = 0, 0.0, iter(works)
    clock, told = 0.0, []
    for n in range(count):
        if in_a_row >= failures and clock < last + seconds:
            told.append((str(n), "blocked"))
            continue
        clock += 1.0
        well = next(again)
        in_a_row, last = (0, last) if well else (in_a_row + 1, clock)
        told.append((str(n), "done" if well else "failed"))
    names = {StepBlocked: "blocked", StepDone: "done", StepFailed: "failed"}
    seen = [(event.step, names[type(event)]) for event in run.events if type(event) in names]
    assert seen == told
    assert len(kinds(run, StepStarted)) == sum(what != "blocked" for _, what in told)
