"""A job that ends without an outcome: only what it was is done again, whatever else has happened to its step before."""

from typing import Any

import pytest

from planexec_lab.views.timeline_drawing.bars import BACKOFF, bars
from planexec_lite import Backoff, PlannerExecutor, Run, Tool, Toolbox, Verdict
from planexec_lite.capabilities.once_calls import known_calls
from planexec_lite.core.events import Job
from planexec_lite.run import events as e
from planexec_lite.tools import Effects
from tests.core.agents import agent_for
from tests.core.shapes import check_fold

CALL = {"id": "w", "tool": "write", "params": {"name": "a"}}


class Once:
    """Raises when a job of this type is about to start, the first time."""

    def __init__(self, kind: type[Job]) -> None:
        self.kind, self.raised = kind, False

    def __call__(self, run: Run) -> None:
        if not self.raised and any(isinstance(job, self.kind) for job in run.board.in_flight.values()):
            self.raised = True
            raise KeyboardInterrupt


class Strict:
    """Accepts the second result."""

    def __init__(self) -> None:
        self.asked = 0

    def evaluate(self, *_shown: Any) -> Verdict:
        self.asked += 1
        return Verdict("accept" if self.asked > 1 else "retry", "once more")


def write(log: list[str], effects: Effects = "idempotent", fails: bool = False) -> Toolbox:
    """A tool that fails the first time if it has to."""

    def write(name: str) -> int:
        log.append(name)
        if fails and len(log) == 1:
            raise OSError("the first time")
        return len(log)

    return Toolbox([Tool(write, latency=1.0, effects=effects)])


def nested(tools: Toolbox, step: dict[str, Any], **settings: Any) -> PlannerExecutor:
    """An agent whose step is a nested run of one call."""
    return agent_for(agent_for(tools, [CALL]), [{"id": "1", "description": "do it", **step}], **settings)


def stopped(agent: PlannerExecutor) -> Run:
    with pytest.raises(KeyboardInterrupt) as stop:
        agent.run("go")
    run: Run = stop.value.run  # type: ignore[attr-defined]
    return run


def test_a_rejected_nested_run_begins_again_though_its_judge_was_cancelled() -> None:
    log: list[str] = []
    step = {"success_criteria": "good", "retries": 1}
    agent = nested(write(log), step, evaluator=Strict(), watch=Once(e.JudgeStarted))
    run = agent.resume(stopped(agent))
    check_fold(run)
    assert (run.status, run.answer, log) == ("finished", 2, ["a", "a"])


def test_a_nested_run_is_not_in_doubt_when_its_judge_is_killed() -> None:
    log: list[str] = []
    agent = nested(write(log, "once"), {"success_criteria": "good"}, evaluator=lambda step, result: True)
    events = agent.run("go").events
    place = next(n for n, event in enumerate(events) if isinstance(event, e.JudgeStarted))
    run = agent.resume(Run(events[: place + 1]))
    check_fold(run)
    assert (run.status, run.reason, log) == ("finished", "1 steps done", ["a"])


def test_a_nested_run_begins_again_after_a_cancelled_wait() -> None:
    log: list[str] = []
    agent = nested(write(log, fails=True), {"retries": 1}, backoff=Backoff(), watch=Once(e.BackoffStarted))
    run = agent.resume(stopped(agent))
    check_fold(run)
    assert (run.status, log) == ("finished", ["a", "a"])


def test_a_call_in_doubt_stays_in_doubt_while_its_next_attempt_waits() -> None:
    tools = write([], "once", fails=True)
    run = stopped(agent_for(tools, [CALL | {"retries": 1}], backoff=Backoff(), watch=Once(e.BackoffStarted)))
    assert isinstance(run.events[-1], e.Requeued)
    assert [known.state for known in known_calls(run.board)] == ["doubt"]


@pytest.mark.parametrize("kind", [e.JudgeStarted, e.BackoffStarted, e.StepStarted])
def test_a_timeline_drops_cancelled_work_and_no_other(kind: type[Job]) -> None:
    drawn = []
    for watch in (None, Once(kind)):
        step = CALL | {"success_criteria": "good", "retries": 2}
        agent = agent_for(write([], fails=True), [step], evaluator=Strict(), backoff=Backoff(), watch=watch)
        run = agent.run("go") if watch is None else agent.resume(stopped(agent))
        check_fold(run)
        drawn.append([(bar.step, bar.what, bar.state) for bar in bars(run) if bar.what != BACKOFF.what])
    assert drawn[0] == drawn[1]
