"""The order of the rules and guards: the first rule that returns an event wins. Comments explain the positions that matter.

One guard is elsewhere, because it needs the toolbox: `PlannerExecutor` holds a step that would repeat an at-most-once call.
"""

from __future__ import annotations

from planexec_lite import core
from planexec_lite.board import Board
from planexec_lite.capabilities import (
    approval,
    breaker,
    budget,
    deadline,
    doubt,
    judging,
    news,
    replanning,
    retries,
    rollback,
)
from planexec_lite.core import Answer, Guard, Rule, Signal
from planexec_lite.core.decide import ask_for_a_plan, finish, skip_unreachable, start_ready, wait_for_the_planner
from planexec_lite.events import Event
from planexec_lite.policy import Policy

RULES: tuple[Rule, ...] = (
    news.hold_streamed_steps,
    wait_for_the_planner,
    rollback.undo_next,  # a run that is rolled back does nothing else
    doubt.ask_about_doubt,  # what is done next depends on what was done
    # reasons to stop, before anything new starts
    approval.stop_if_rejected,
    news.stop_after_replans,
    deadline.stop_at_deadline,
    budget.stop_if_denied,
    approval.stop_after_changes,
    replanning.stop_at_failure,
    replanning.stop_after_repairs,
    judging.judge_next,  # a verdict might change what is left
    retries.back_off,
    retries.try_again,  # a retry might make a replan unnecessary
    replanning.replan,  # before steps behind the failure are skipped
    skip_unreachable,
    ask_for_a_plan,
    approval.ask_for_approval,  # the plan is there, and none of its steps has started
    start_ready,
    # nothing can start
    replanning.ask_for_more,
    replanning.fail,
    finish,
    budget.return_queued_jobs,
)
GUARDS: tuple[Guard, ...] = (
    retries.allow_retries,
    breaker.block_failing_tool,
    approval.ask_at_gate,  # after the breaker: nobody is asked about a step that would be blocked
    budget.keep_within_budget,
    rollback.roll_back_first,
    doubt.report_doubt,
)


def answer(board: Board, policy: Policy) -> Answer:
    """Return the next event of the run; `HOLD` or `WAIT` if it has ended, or must wait for a job or a person."""
    return core.decide(board, policy, RULES, GUARDS)


def decide(board: Board, policy: Policy) -> Event | None:
    """Return the next event of the run; None if it has ended, or must wait for a job or a person."""
    event = answer(board, policy)
    return None if isinstance(event, Signal) else event
