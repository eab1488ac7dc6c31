"""The rules of every run, written only from the docstrings of `decide`, `Policy` and `Board`."""

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
from planexec_lite.capabilities.undo import steps_in_doubt
from planexec_lite.run import events as e

if TYPE_CHECKING:
    from tests.exhaustive.walk import Case


def at_rest(board: Board, case: Case, following: Sequence[e.Event | None]) -> None:
    """A run that has not ended can continue, and a run that has ended does not."""
    assert bool(following) != bool(board.ended), "the run stands still" if not following else "the run has ended"


def recorded(before: Board, event: e.Event, after: Board, case: Case) -> None:
    """Check an event and the boards before and after it."""
    if isinstance(event, e.StepStarted):
        _started(before, event, after, case)
    if isinstance(event, e.StepBlocked):
        assert _breaker_is_open(before, event.step, case), "blocked although its breaker is closed"
        assert event.attempt <= 1 + case.policy.retries, "blocked too often"
    if isinstance(event, e.StepSkipped):
        assert not before.steps[event.step].run_anyway, "skipped although it runs anyway"
        lost = {id for id, state in before.state.items() if id in before.failed or state == "skipped"}
        assert not lost.isdisjoint(before.steps[event.step].depends_on), "skipped although no dependency failed"
    if isinstance(event, e.JudgeStarted):
        assert before.state[event.step] == "judging", "judged without a result"
    if isinstance(event, e.PlanStarted):
        assert not before.in_flight, "a planner is asked while a job runs"
        assert after[Replanning].asked["replans"] <= case.policy.max_replans, "too many replans"
    if isinstance(event, e.Paused):
        assert not before.in_flight, "a person is asked while a job runs"
    if isinstance(event, e.BackoffStarted):
        assert case.policy.backoff, "a backoff without a policy"
        assert before.state[event.step] == "failed", "a backoff without a retry"
        assert event.step not in before.in_flight, "two backoffs of a step at once"
    if isinstance(event, e.RollbackStarted):
        assert not before.in_flight, "the rollback begins while a job runs"
        assert case.policy.rollback != "never", "a rollback without a policy"
        open_ = before.unfinished or not before.proposal or unanswered(before)
        assert open_, "a rollback of a finished run"
    if isinstance(event, e.UndoStarted):
        _undone(before, event, case)
    if before[Rollback].started and isinstance(
        event, e.StepStarted | e.PlanStarted | e.JudgeStarted | e.BackoffStarted | e.StepSkipped | e.RollbackStarted
    ):
        raise AssertionError("the run continues during its rollback")
    if before[News].unread and before.has_planner and not before[Rollback].started:
        assert not isinstance(event, e.StepStarted | e.BackoffStarted | e.StepSkipped), "the run ignores its news"
    if isinstance(event, e.Ended):
        _ended(before, event, case)


def gone_on(before: Board, after: Board, case: Case) -> None:
    """After a crash, done steps are kept and at-most-once calls are in doubt."""
    assert not after.in_flight, "a job runs after the crash"
    assert after.results == before.results, "a result is lost"
    assert after[Judging].results == before[Judging].results, "a result before its verdict is lost"
    for id, state in before.state.items():
        if state != "running":
            assert after.state[id] == state, "the crash changed a step that was not running"
        elif before.repeatable(before.steps[id]):
            assert after.state[id] in ("waiting", "failed"), "a repeatable step does not wait"
            assert after.state[id] == "waiting" or id in after.retry, "a repeatable step is never retried"
        else:
            assert after.state[id] == "in doubt", "an at-most-once step is not in doubt"


def _started(before: Board, event: e.StepStarted, after: Board, case: Case) -> None:
    step, policy = before.steps[event.step], case.policy
    lost = (
        {id for id, state in before.state.items() if id in before.failed or state == "skipped"}
        if step.run_anyway
        else set()
    )
    assert set(step.depends_on) <= before.results.keys() | lost, "started before its dependencies ended"
    assert policy.deadline is None or before.now < policy.deadline, "started after the deadline"
    assert not _breaker_is_open(before, event.step, case), "a tool with an open breaker is called"
    assert before.state[event.step] in ("waiting", "failed"), "started twice"
    assert not before.paused, "started while a person is asked"
    assert not before[Doubt].doubted, "started while a step is in doubt"
    assert event.attempt <= 1 + policy.retries, "too many attempts"
    if case.slots:
        assert len(after.in_flight.keys() - {None}) <= case.slots, "more steps at once than the limit allows"
    if policy.failure == "stop" and policy.replan == "never" and before.failed:
        raise AssertionError("started after the failure that stops the run")
    if event.attempt == 1 and before.retry:
        assert not any(map(before.queue.has_slot, before.retry)), "a new step before a retry"
    if event.attempt > 1 and policy.backoff:
        assert event.step in before[Backoffs].ended, "a retry before the end of its backoff"
    if event.attempt > 1:
        assert before.repeatable(before.steps[event.step]), "an at-most-once step is repeated"
    if event.attempt == 1 and before.repeatable(before.steps[event.step]):
        assert event.attempts == 1 + policy.retries, "the retries of a repeatable step are missing"
    if before.has_reviewer:
        assert before[Approvals].approved, "started before the plan was approved"
        assert not step.gate or before[Approvals].asks.get(event.step, "") is None, "started behind a closed gate"


def _breaker_is_open(before: Board, id: str, case: Case) -> bool:
    breaker, tool = case.policy.breaker, before.steps[id].tool or ""
    failures, latest = before[ToolHealth].failures.get(tool, (0, 0.0))
    if breaker is None or failures < breaker.failures:
        return False
    trying = [other for other in before.in_flight if other is not None and before.steps[other].tool == tool]
    return before.now < latest + breaker.seconds or bool(trying)


def _undone(before: Board, event: e.UndoStarted, case: Case) -> None:
    assert not before.in_flight, "undone while a job runs"
    if any(one.verdict == "done" and one.step == event.step for one in before.reviews):
        return  # a person knows about an attempt that was interrupted
    if before.state[event.step] == "failed":
        assert before.errors[event.step].startswith("judged"), "undone but never done"
        return
    tried = {label for label, _ in before[Rollback].remains}
    to_undo = [id for id in before.results if before.steps[id].undo and id not in tried]
    assert event.step in to_undo, "undone twice, or never done"
    doubts = [before.steps[id] for id in steps_in_doubt(before)]
    assert not any(event.step in step.depends_on for step in doubts), "undone, and a step behind it is in doubt"
    # judged results are not accepted in the order of their events
    assert case.judged or event.step == to_undo[-1], "undone before a later step"


def _ended(board: Board, event: e.Ended, case: Case) -> None:
    assert not board.in_flight, "the run ends while a job runs"
    steps = {step.id: step for step in board.plan.steps}
    states = {id: board.state[id] for id in steps}
    done = {id for id, state in states.items() if state == "done"}
    if event.status == "finished":
        assert done == set(steps), "finished although a step is not done"
        assert not unanswered(board), "finished although a failure is unanswered"
    elif event.status == "failed":
        assert done != set(steps) or board[News].texts or unanswered(board), "failed although all steps are done"
        assert case.policy.rollback == "never" or not done, "failed without the rollback"
    elif event.status == "rolled back":
        assert not any(steps[id].undo for id in board.results), "called rolled back, and an undo is left"
        assert not steps_in_doubt(board), "called rolled back, and a step is in doubt"
    elif event.status == "partly rolled back":
        tried = {label for label, _ in board[Rollback].remains}
        assert all(id in tried for id in board.results if steps[id].undo), "the rollback forgot a step"
    rejected = any(review.verdict == "reject" for review in board.reviews)
    late = case.policy.deadline is not None and board.now >= case.policy.deadline
    told = board.has_planner and board[News].unread and board[Replanning].asked["replans"] >= case.policy.max_replans
    assert rejected or late or told or event.status != "stopped", "stopped without a reason"
    if board.has_planner and board[News].unread and not board.problems:
        assert event.status != "finished", "finished with unread news"
    assert not rejected or event.status in ("stopped", "rolled back", "partly rolled back"), (
        "not stopped after a rejection"
    )
    if case.policy.failure == "skip" and event.status == "failed" and not board.problems:
        lost = {id for id, state in states.items() if state in ("failed", "skipped")}
        assert done | lost == set(steps), "the run ends although a step could start"
        for id in lost - set(board.failed):
            assert not lost.isdisjoint(steps[id].depends_on), "skipped without a reason"
