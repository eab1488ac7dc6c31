"""The rules of the pattern: a board and a policy in, the next event out.

Pure: no I/O, no clock, no toolbox. `decide` returns None when there is nothing to do but wait for what is in flight, or
nothing to do at all. A ``…Started`` event is the job itself; all others are facts. The first rule that applies wins.
"""

from __future__ import annotations

from typing import Literal

from planexec_lite.board import Board
from planexec_lite.events import Ended, Event, JudgeStarted, Paused, PlanStarted, Status, StepSkipped, StepStarted
from planexec_lite.policy import Policy


def decide(board: Board, policy: Policy) -> Event | None:
    """Return the next event of the run that `board` shows."""
    at, planning = board.now, None in board.in_flight
    if board.ended or board.paused or (planning and not board.arrived):
        return None
    if end := _bad_end(board, policy):
        return None if board.in_flight else Ended(at, *end)
    if board.to_judge:
        return JudgeStarted(at, board.to_judge[0])
    if board.retry and (id := board.retry_next) is not None:
        attempt, attempts = board.attempt[id]
        return StepStarted(at, id, attempt + 1, attempts)
    if (reason := _why_replan(board, policy)) is not None:
        return None if board.in_flight else PlanStarted(at, reason)
    if board.doomed:
        return StepSkipped(at, board.doomed[0], _why_skipped(board, board.doomed[0]))
    if not planning:
        if board.proposal is None or board.problems:
            return None if board.in_flight else PlanStarted(at, "repair" if board.problems else "first")
        if board.has_reviewer and board.proposal.hash not in board.approved:
            return Paused(at, "approval")
    if (id := board.ready) is not None:
        step = board.steps[id]
        if step.gate and id not in board.opened:
            return None if board.in_flight else Paused(at, "gate", id)
        retries = step.retries
        if policy.retries and not retries and board.repeatable(id):  # only a step may ask for what could do harm
            retries = policy.retries
        return StepStarted(at, id, 1, 1 + retries)
    if board.in_flight or board.proposal is None:
        return None
    if not board.proposal.complete:
        if not board.has_planner:
            return Ended(at, "stopped", "the plan is not complete, and there is no planner to ask for more")
        if board.rounds >= policy.max_rounds:
            return Ended(at, "stopped", f"the planner was asked for more {policy.max_rounds} times (max_rounds)")
        return PlanStarted(at, "horizon")
    return Ended(at, *_end(board, policy))


def holds_back(board: Board, policy: Policy) -> bool:
    """Whether nothing may start until what is in flight has ended: the workers take back what has not begun."""
    if _bad_end(board, policy) is not None:
        return True
    planned_again = (board.problems and not board.planning) or _why_replan(board, policy) is not None
    if not planned_again:
        return False
    # what is being tried again goes before a replan
    return not any(id is not None and board.attempt[id][0] > 1 for id in board.in_flight)


def _bad_end(board: Board, policy: Policy) -> tuple[Status, str] | None:
    """A reason to end before the plan is done, as (status, reason)."""
    if board.reviews and board.reviews[-1].verdict == "reject":
        review = board.reviews[-1]
        return "stopped", f"{review.by} rejected the plan" + (f": {review.comment}" if review.comment else "")
    if board.unheard and board.has_planner and board.replans >= policy.max_replans:
        return "stopped", f"news came, and the rest was planned again {board.replans} times already (max_replans)"
    if board.changes_asked > policy.max_changes:
        return "stopped", f"the reviewer asked for a change more than {policy.max_changes} times (max_changes)"
    if board.failed and policy.failure == "stop" and not _mending(board, policy):
        return "failed", _first_failure(board) + _replans_used_up(board, policy)
    if board.refused_in_a_row > policy.max_repairs:
        problems = "; ".join(map(str, board.problems[:3]))
        return (
            "failed",
            f"no fit plan after {board.refused_in_a_row} attempts (max_repairs={policy.max_repairs}): {problems}",
        )
    return None


def _mending(board: Board, policy: Policy) -> bool:
    """Whether a failure is being answered with a new plan, or is about to be."""
    return (bool(board.problems) and policy.replan != "never") or _why_replan(board, policy) is not None


def _why_replan(board: Board, policy: Policy) -> Literal["failure", "news", "step", "stall"] | None:
    """What makes the planner plan the rest again, None if nothing does or no replan is left."""
    if not board.has_planner or board.proposal is None or board.problems:
        return None
    if board.replans < policy.max_replans:
        if board.unheard:
            return "news"
        if board.failed and policy.replan in ("failure", "step"):
            return "failure"
        if board.failed and policy.replan == "stall" and not (board.ready or board.doomed or board.in_flight):
            return "stall"
    if policy.replan == "step" and board.done_since_plan and board.rounds < policy.max_rounds and board.has_more:
        return "step"
    return None


def _why_skipped(board: Board, id: str) -> str:
    states = ((other, board.state[other]) for other in board.steps[id].depends_on)
    return ", ".join(f"step {other} {state}" for other, state in states if state in ("failed", "skipped"))


def _replans_used_up(board: Board, policy: Policy) -> str:
    used_up = policy.replan != "never" and board.has_planner and board.replans >= policy.max_replans
    return f"; planned again {board.replans} times (max_replans={policy.max_replans})" if used_up else ""


def _end(board: Board, policy: Policy) -> tuple[Status, str]:
    if not board.failed:
        return "finished", f"{len(board.results)} steps done"
    skipped = [id for id, state in board.state.items() if state == "skipped"]
    behind = f"; skipped behind it: {', '.join(skipped)}" if skipped else ""
    return "failed", _first_failure(board) + behind + _replans_used_up(board, policy)


def _first_failure(board: Board) -> str:
    id = next(iter(board.failed))
    return f"step {id} failed: {board.errors[id]}"
