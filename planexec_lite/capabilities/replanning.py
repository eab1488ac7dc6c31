"""Replanning (lesson 06): the planner plans the rest again after a failure, news, every step or a stall; done steps are kept."""

from __future__ import annotations

from typing import Literal, Protocol

from planexec_lite.board import Board
from planexec_lite.core import Signal, after_retries, when_idle
from planexec_lite.events import Ended, Event, PlanStarted


class Settings(Protocol):
    """The settings of this capability."""

    @property
    def failure(self) -> Literal["skip", "stop"]: ...

    @property
    def max_repairs(self) -> int: ...

    @property
    def replan(self) -> Literal["never", "failure", "step", "stall"]: ...

    @property
    def max_replans(self) -> int: ...

    @property
    def max_rounds(self) -> int: ...


def stop_at_failure(board: Board, policy: Settings) -> Event | Signal | None:
    """With ``failure="stop"``, end the run after a failed step, unless the rest is planned again."""
    if policy.failure != "stop" or not board.failed:
        return None
    if board.proposals.ask_again or why_replan(board, policy) or (board.problems and policy.replan != "never"):
        return None
    return when_idle(board, Ended(board.now, "failed", _first_failure(board) + _replans_used_up(board, policy)))


def stop_after_repairs(board: Board, policy: Settings) -> Event | Signal | None:
    """End the run if the planner wrote more than `max_repairs` invalid plans in a row after the first one."""
    attempts = board.proposals.invalid_in_a_row
    if attempts <= policy.max_repairs:
        return None
    problems = "; ".join(map(str, board.proposals.problems[:3]))
    reason = f"no valid plan after {attempts} attempts (max_repairs={policy.max_repairs}): {problems}"
    return when_idle(board, Ended(board.now, "failed", reason))


def replan(board: Board, policy: Settings) -> Event | Signal | None:
    """Ask the planner for the rest if `why_replan` gives a reason."""
    reason = board.proposals.ask_again or why_replan(board, policy)
    return None if reason is None else after_retries(board, PlanStarted(board.now, reason))


def ask_for_more(board: Board, policy: Settings) -> Event | Signal | None:
    """Ask for the next steps if the plan is done up to its horizon, at most `max_rounds` times."""
    proposal = board.proposal
    if board.in_flight or proposal is None or proposal.complete:
        return None
    if not board.has_planner:
        why = "the plan is not complete, and there is no planner to ask for more"
        return Ended(board.now, "stopped", why)
    if board.proposals.rounds >= policy.max_rounds:
        why = f"the planner was asked for more {policy.max_rounds} times (max_rounds)"
        return Ended(board.now, "stopped", why)
    return PlanStarted(board.now, "horizon")


def fail(board: Board, policy: Settings) -> Event | Signal | None:
    """End the run as failed if a step failed and no later step made up for it."""
    if board.in_flight or board.proposal is None:
        return None
    if board.failed:
        skipped = [id for id, state in board.state.items() if state == "skipped"]
        behind = f"; skipped behind it: {', '.join(skipped)}" if skipped else ""
        return Ended(board.now, "failed", _first_failure(board) + behind + _replans_used_up(board, policy))
    if board.table.unanswered:
        id = next(iter(board.table.unanswered))
        return Ended(board.now, "failed", f"step {id} failed, and no later step was done that answers it")
    return None


def why_replan(board: Board, policy: Settings) -> Literal["failure", "news", "step", "stall"] | None:
    """Return the reason to plan the rest again; None if there is none, or no replan is left."""
    table, proposals = board.table, board.proposals
    if not board.has_planner or board.proposal is None or board.problems:
        return None
    if proposals.replans < policy.max_replans:
        if proposals.unread_news:
            return "news"
        if table.failed and policy.replan in ("failure", "step"):
            return "failure"
        if table.failed and policy.replan == "stall" and not (table.ready or table.unreachable or board.in_flight):
            return "stall"
    # a round, not a replan: nothing went wrong
    if policy.replan == "step" and table.done_since_plan and proposals.rounds < policy.max_rounds and table.has_more:
        return "step"
    return None


def _first_failure(board: Board) -> str:
    id = next(iter(board.failed))
    return f"step {id} failed: {board.errors[id]}"


def _replans_used_up(board: Board, policy: Settings) -> str:
    used_up = policy.replan != "never" and board.has_planner and board.proposals.replans >= policy.max_replans
    return f"; planned again {board.proposals.replans} times (max_replans={policy.max_replans})" if used_up else ""
