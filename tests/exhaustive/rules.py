"""What must hold in every run, written from the docstrings of `decide`, `Policy` and `Board` alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from planexec_lite import Board
from planexec_lite.capabilities.approval import Approvals
from planexec_lite.capabilities.breaker import ToolHealth
from planexec_lite.capabilities.doubt import Doubt
from planexec_lite.capabilities.judging import Judging
from planexec_lite.capabilities.news import News
from planexec_lite.capabilities.replanning import Replanning, unanswered
from planexec_lite.capabilities.retries import Backoffs
from planexec_lite.capabilities.rollback import Rollback
from planexec_lite.events import (
    BackoffStarted,
    Ended,
    Event,
    JudgeStarted,
    Paused,
    PlanStarted,
    RollbackStarted,
    StepBlocked,
    StepSkipped,
    StepStarted,
    UndoStarted,
)

if TYPE_CHECKING:
    from tests.exhaustive.walk import Case


def at_rest(board: Board, case: Case, following: Sequence[Event | None]) -> None:
    """Whoever waits has something to wait for, and what is over stays over."""
    assert bool(following) != bool(board.ended), "the run stands still" if not following else "the run is over"


def recorded(before: Board, event: Event, after: Board, case: Case) -> None:
    """An event was decided on, or came."""
    if isinstance(event, StepStarted):
        _started(before, event, after, case)
    if isinstance(event, StepBlocked):
        assert _breaker_is_open(before, event.step, case), "blocked, and its tool may be called"
        assert event.attempt <= 1 + case.policy.retries, "blocked too often"
    if isinstance(event, StepSkipped):
        assert not before.steps[event.step].run_anyway, "skipped, and it runs anyway"
        lost = {id for id, state in before.state.items() if id in before.failed or state == "skipped"}
        assert not lost.isdisjoint(before.steps[event.step].depends_on), "skipped, and nothing before it is lost"
    if isinstance(event, JudgeStarted):
        assert before.state[event.step] == "judging", "judged without a result"
    if isinstance(event, PlanStarted):
        assert not before.in_flight, "the rest is planned again while something is under way"
        assert after[Replanning].replans <= case.policy.max_replans, "planned again too often"
    if isinstance(event, Paused):
        assert not before.in_flight, "a person is asked while something is under way"
    if isinstance(event, BackoffStarted):
        assert case.policy.backoff, "it waits, and nobody asked for it"
        assert before.state[event.step] == "failed", "it waits, and nothing is tried again"
        assert event.step not in before.in_flight, "it waits twice at once"
    if isinstance(event, RollbackStarted):
        assert not before.in_flight, "the rollback begins while something is under way"
        assert case.policy.rollback != "never", "a rollback, and nobody asked for it"
        open_ = before.unfinished or not before.proposal or unanswered(before)
        assert open_, "taken back, and everything was done"
    if isinstance(event, UndoStarted):
        _undone(before, event, case)
    if before[Rollback].started and isinstance(
        event, StepStarted | PlanStarted | JudgeStarted | BackoffStarted | StepSkipped | RollbackStarted
    ):
        raise AssertionError("the run goes on while it is taken back")
    if before[News].unread and before.has_planner and not before[Rollback].started:
        assert not isinstance(event, StepStarted | BackoffStarted | StepSkipped), (
            "the run goes on as if no news had come"
        )
    if isinstance(event, Ended):
        _ended(before, event, case)


def gone_on(before: Board, after: Board, case: Case) -> None:
    """The process died, and somebody goes on: what is done is kept, and what may be done once is not done again unasked."""
    assert not after.in_flight, "something is in flight, and nobody carries it out"
    assert after.results == before.results, "a result is lost"
    assert after[Judging].results == before[Judging].results, "a result that is to be judged is lost"
    for id, state in before.state.items():
        if state != "running":
            assert after.state[id] == state, "the crash changed what was not in flight"
        elif before.repeatable(before.steps[id]):
            assert after.state[id] in ("waiting", "failed"), "what may be repeated does not wait for its turn"
            assert after.state[id] == "waiting" or id in after.retry, "what may be tried again never is"
        else:
            assert after.state[id] == "in doubt", "what may have been done is not asked about"


def _started(before: Board, event: StepStarted, after: Board, case: Case) -> None:
    step, policy = before.steps[event.step], case.policy
    lost = (
        {id for id, state in before.state.items() if id in before.failed or state == "skipped"}
        if step.run_anyway
        else set()
    )
    assert set(step.depends_on) <= before.results.keys() | lost, (
        "started before what it waits for was done, or had ended"
    )
    assert policy.deadline is None or before.now < policy.deadline, "started after the deadline"
    assert not _breaker_is_open(before, event.step, case), "a tool is called whose breaker is open"
    assert before.state[event.step] in ("waiting", "failed"), "started twice"
    assert not before.paused, "started while a person is asked"
    assert not before[Doubt].doubted, "started while nobody knows what became of another step"
    assert event.attempt <= 1 + policy.retries, "tried too often"
    if case.slots:
        assert len(after.in_flight.keys() - {None}) <= case.slots, "more at once than the limit allows"
    if policy.failure == "stop" and policy.replan == "never" and before.failed:
        raise AssertionError("started after the failure that stops the run")
    if event.attempt == 1 and before.retry:
        assert not before.retry_next, "something new before what is tried again"
    if event.attempt > 1 and policy.backoff:
        assert event.step in before[Backoffs].ended, "tried again before it has waited"
    if event.attempt > 1:
        assert before.repeatable(before.steps[event.step]), "what may be done once is done again"
    if event.attempt == 1 and before.repeatable(before.steps[event.step]):
        assert event.attempts == 1 + policy.retries, "it may be tried again, and will not be"
    if before.has_reviewer:
        assert before[Approvals].approved, "started before the plan was approved"
        assert not step.gate or event.step in before[Approvals].opened, "started behind a closed gate"


def _breaker_is_open(before: Board, id: str, case: Case) -> bool:
    breaker, tool = case.policy.breaker, before.steps[id].tool or ""
    if breaker is None or before[ToolHealth].failures.get(tool, 0) < breaker.failures:
        return False
    trying = [other for other in before.in_flight if other is not None and before.steps[other].tool == tool]
    return before.now < before[ToolHealth].last_failure[tool] + breaker.seconds or bool(trying)


def _undone(before: Board, event: UndoStarted, case: Case) -> None:
    assert not before.in_flight, "undone while something is under way"
    if before.state[event.step] == "failed":
        assert before.errors[event.step].startswith("judged"), "undone, and never done"
        return
    tried = {label for label, _ in before[Rollback].remains}
    to_undo = [id for id in before.results if before.steps[id].undo and id not in tried]
    assert event.step in to_undo, "undone, and never done, or undone twice"
    # where results are judged, they are not accepted in the order in which they came
    assert case.judged or event.step == to_undo[-1], "undone before what was done later"


def _ended(board: Board, event: Ended, case: Case) -> None:
    assert not board.in_flight, "it ends while something is under way"
    steps = {step.id: step for step in board.plan.steps}
    states = {id: board.state[id] for id in steps}
    done = {id for id, state in states.items() if state == "done"}
    if event.status == "finished":
        assert done == set(steps), "finished, and not everything is done"
        assert not unanswered(board), "finished, and a failure was forgotten"
    elif event.status == "failed":
        assert done != set(steps) or board[News].texts or unanswered(board), "failed, and everything is done"
        assert case.policy.rollback == "never" or not done, "failed, and what was done was not taken back"
    elif event.status == "rolled back":
        tried = {label for label, _ in board[Rollback].remains}
        assert all(id in tried for id in board.results if steps[id].undo), "rolled back, and a step was forgotten"
    rejected = any(review.verdict == "reject" for review in board.reviews)
    late = case.policy.deadline is not None and board.now >= case.policy.deadline
    told = board.has_planner and board[News].unread and board[Replanning].replans >= case.policy.max_replans
    assert rejected or late or told or event.status != "stopped", "stopped, and nobody said no"
    if board.has_planner and board[News].unread and not board.problems:
        assert event.status != "finished", "finished, and nobody read the news"
    assert not rejected or event.status in ("stopped", "rolled back"), "somebody said no, and it did not stop"
    if case.policy.failure == "skip" and event.status == "failed" and not board.problems:
        lost = {id for id, state in states.items() if state in ("failed", "skipped")}
        assert done | lost == set(steps), "it ends, and something could still be done"
        for id in lost - set(board.failed):
            assert not lost.isdisjoint(steps[id].depends_on), "skipped without a reason"
