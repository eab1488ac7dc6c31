"""The circuit breaker: a tool that fails several times in a row is not called for a while, then tested with one call."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planexec_lab.views.narration import trace
from planexec_lite import Backoff, Board, Breaker, Run, Simulated, Tool, Toolbox, Verdict
from planexec_lite.events import StepBlocked, StepDone, StepFailed, StepStarted
from planexec_lite.meter import charge, now
from planexec_lite.plan import Step
from tests.capabilities.scaffold import carry_out, planned, told
from tests.core.shapes import step
from tests.rounds import rounds

NEVER = float("inf")
NOTE = Tool(lambda: "noted", name="note", latency=1.0, effects="none")


class Service:
    """A tool that fails until `up` seconds, with the times of its calls, and a tool that works."""

    def __init__(self, up: float = NEVER, error: type[Exception] = RuntimeError) -> None:
        self.up, self.error, self.calls = up, error, list[float]()
        retry_on = None if error is RuntimeError else [RuntimeError]
        self.tools = Toolbox([Tool(self.ask, latency=1.0, retry_on=retry_on, effects="none"), NOTE])

    def ask(self) -> str:
        """Ask the service."""
        self.calls.append(now() or 0.0)
        if self.calls[-1] < self.up:
            raise self.error("down")
        return "here"

    def run(self, *steps: dict[str, Any], slots: int | None = 1, **policy: Any) -> Run:
        return carry_out(list(steps), self.tools, Simulated(slots), breaker=Breaker(3, 10.0), **policy)


TEN = [step(str(n), "ask") for n in range(1, 11)]


def answering(*works: bool) -> Tool:
    """Return a tool whose calls work or fail in turn."""
    outcomes = iter(works)

    def ask() -> str:
        """Ask."""
        if not next(outcomes):
            raise RuntimeError("down")
        return "here"

    return Tool(ask, latency=1.0, effects="none")


def test_after_three_failures_in_a_row_nothing_is_called_or_asked_any_more() -> None:
    service = Service()
    run = service.run(*TEN[:4], step("5", "ask", gate=True), step("n", "note"))
    assert (len(service.calls), told(run, StepBlocked)) == (3, ["4", "5"])
    assert run.board.errors["4"] == "not called: ask failed 3 times in a row, and its breaker is open for 10 s more"
    assert "step 4 fails: not called: ask failed 3 times in a row" in trace(run)
    assert (run.status, run.board.state["n"]) == ("failed", "done")


def test_when_its_time_is_over_one_call_tries_and_a_result_closes_it() -> None:
    service = Service(up=11.0)
    run = service.run(*TEN, retries=3, backoff=Backoff(4.0, 2.5, jitter=0.0), slots=None)
    # all at once; then blocked after 4 s; then one after 10 s more, while the others are blocked; then the others
    assert sorted(service.calls) == [1.0] * 10 + [16.0] + [41.0] * 9
    blocked = [event for event in run.events if isinstance(event, StepBlocked)]
    assert [event.at for event in blocked] == [5.0] * 10 + [15.0] * 9
    assert (run.status, blocked[0].attempt, blocked[-1].attempt) == ("finished", 2, 3)


def test_an_error_that_is_final_says_nothing_about_the_tool() -> None:
    service = Service(error=KeyError)
    run = service.run(*TEN)
    assert len(service.calls) == 10
    assert all(event.final for event in run.events if isinstance(event, StepFailed))


def test_what_is_blocked_is_planned_again_with_another_tool() -> None:
    service, plans = Service(), (TEN[:5], [step("a", "note"), step("b", "ask")], [step("c", "note")])
    agent = planned(service.tools, *plans, workers=Simulated(1), replan="stall", breaker=Breaker(3, 60.0))
    run = agent.run("go")
    assert (run.status, len(service.calls), run.results.keys()) == ("finished", 3, {"a", "c"})


def test_a_result_that_is_being_judged_is_no_call_that_tries() -> None:
    class Slow:
        def evaluate(self, step: Step, result: Any, board: Board) -> Verdict:
            charge(30.0)
            return Verdict("accept", "here")

    steps = [step("1", "ask", success_criteria="here"), step("n", "note"), step("2", "ask", "n", retries=1)]
    tools, backoff = Toolbox([answering(True, False, True), NOTE]), Backoff(5.0, jitter=0.0)
    run = carry_out(steps, tools, breaker=Breaker(1, 5.0), backoff=backoff, evaluator=Slow())
    assert (run.status, told(run, StepBlocked)) == ("finished", [])


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ({"failures": 0}, "failures=0: at least one failure opens a breaker"),
        ({"seconds": -1.0}, "seconds=-1.0: a breaker stays open for zero seconds or more"),
        ({"seconds": NEVER}, "seconds=inf"),
    ],
)
def test_what_is_no_breaker_is_rejected_with_its_name(setting: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Breaker(**setting)


@given(st.lists(st.booleans(), min_size=1, max_size=30), st.integers(1, 4), st.sampled_from((0.0, 1.5, 4.0)))
@rounds(150)
def test_random_outages_are_left_alone_exactly_as_by_hand(works: list[bool], failures: int, seconds: float) -> None:
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
