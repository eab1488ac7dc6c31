"""The rules of the pattern: a board and a policy in, the next event out.

Pure: no I/O, no clock, no toolbox. `decide` returns None when there is nothing to do but wait for what is in flight, or
nothing to do at all. A ``…Started`` event is the job itself; all others are facts. The first rule that applies wins.
"""

from __future__ import annotations

from typing import Literal

from planexec_lite.board import Board
from planexec_lite.budget import SHARED, Allowance, Budget, in_words
from planexec_lite.events import (
    JOBS,
    BackoffStarted,
    Ended,
    Event,
    Job,
    JudgeStarted,
    Paused,
    PlanStarted,
    RollbackBegun,
    Status,
    StepBlocked,
    StepSkipped,
    StepStarted,
    UndoStarted,
)
from planexec_lite.policy import Breaker, Policy


def decide(board: Board, policy: Policy) -> Event | None:
    """Return the next event of the run that `board` shows."""
    event = _next(board, policy)
    if policy.budget is None or not isinstance(event, JOBS) or board.rollback.begun:
        return event
    if not (short := _used_up(board, policy, event)):
        return event
    if board.in_flight:
        return None
    if policy.over_budget == "stop":
        return _over(board, policy, "stopped", f"the budget is used up: {', '.join(short.values())}")
    return Paused(board.now, "budget", short=short)


def _next(board: Board, policy: Policy) -> Event | None:
    at, table, proposals = board.now, board.table, board.proposals
    if board.ended or board.paused or (board.planning and (proposals.unread_news or not table.arrived)):
        return None
    if board.rollback.begun:
        return None if board.in_flight else _take_back(board)
    # before anything else: what is done next hangs on what was done
    if table.doubted:
        return None if board.in_flight else Paused(at, "doubt", next(iter(table.doubted)))
    # what has begun is heard out first: it can not be stopped, and its results are kept
    if end := _bad_end(board, policy):
        return None if board.in_flight else _over(board, policy, *end)
    # judged before anything new starts: the verdict may change what is left
    if table.to_judge:
        return JudgeStarted(at, table.to_judge[0])
    # what is tried again goes before a replan, which it may make needless; but not when news has come
    if not (board.has_planner and proposals.unplanned_news):
        if policy.backoff and (id := next((id for id in table.retries if id not in table.rested), None)) is not None:
            seconds = policy.backoff.seconds(id, table.attempt[id][0] + 1)
            return BackoffStarted(at, id, policy.until_deadline(at, seconds))
        if table.retries and (id := table.retry_next) is not None:
            attempt, attempts = table.attempt[id]
            return _begin(board, policy, id, attempt + 1, attempts)
    if (reason := proposals.ask_again or _why_replan(board, policy)) is not None:
        return None if board.in_flight else PlanStarted(at, reason)
    if table.unreachable:
        return StepSkipped(at, table.unreachable[0], _why_skipped(board, table.unreachable[0]))
    if not board.planning:
        if board.proposal is None or board.problems:
            return None if board.in_flight else PlanStarted(at, "repair" if board.problems else "first")
        if board.needs_approval:
            return Paused(at, "approval")
    if (id := table.ready) is not None:
        retries = table.steps[id].retries
        if policy.retries and not retries and board.repeatable(id):  # only a step may ask for what could do harm
            retries = policy.retries
        return _begin(board, policy, id, 1, 1 + retries)
    if board.in_flight or board.proposal is None:
        return None
    if not board.proposal.complete:
        if not board.has_planner:
            why = "the plan is not complete, and there is no planner to ask for more"
            return _over(board, policy, "stopped", why)
        if proposals.rounds >= policy.max_rounds:
            why = f"the planner was asked for more {policy.max_rounds} times (max_rounds)"
            return _over(board, policy, "stopped", why)
        return PlanStarted(at, "horizon")
    return _over(board, policy, *_end(board, policy))


def holds_back(board: Board, policy: Policy) -> bool:
    """Whether nothing may start until what is in flight has ended: the workers take back what has not begun."""
    if board.rollback.begun or _bad_end(board, policy) is not None:
        return not board.rollback.begun  # an undo that waits for its turn is the next one in any case
    if policy.budget is not None and _used_up(board, policy):
        return True
    if board.has_planner and board.proposals.unread_news:
        return True
    planned_again = (board.problems and not board.planning) or _why_replan(board, policy) is not None
    if not planned_again:
        return False
    # what is being tried again goes before a replan
    table = board.table
    return not any(id in table.resting or (id is not None and table.attempt[id][0] > 1) for id in board.in_flight)


def _used_up(board: Board, policy: Policy, job: Job | None = None) -> dict[str, str]:
    """What keeps `job` from starting, by name, in words: the budget has nothing left of it. Without one: what keeps any step."""
    short = {}
    for name, bound in (policy.budget or Budget()).plus(board.spending.extra).bounds.items():
        used = board.used(name)
        # what needs none of it starts all the same, unless more was used than there was
        if (used > bound and name in SHARED) or (used >= bound and name in _needs(board, job)):
            short[name] = in_words(name, used, bound)
    return short


def allowance_of(board: Board, policy: Policy) -> Allowance:
    """What the budget has left for the runs inside a step that starts now."""
    budget = (policy.budget or Budget()).plus(board.spending.extra)
    shared = Budget(**{name: bound for name, bound in budget.bounds.items() if name in SHARED})  # type: ignore[arg-type]
    return Allowance(shared.plus({name: -board.used(name) for name in shared.bounds}), policy.over_budget)


def _needs(board: Board, job: Job | None) -> tuple[str, ...]:
    """What a job uses, as far as it is known before."""
    match job:
        case StepStarted(attempt=1):
            own: tuple[str, ...] = ("steps",)
        case PlanStarted(reason="repair"):
            own = ("repairs",)
        case PlanStarted(reason="failure" | "news" | "stall"):
            own = ("replans",)
        case _:
            own = ()
    models = isinstance(job, PlanStarted | JudgeStarted) or board.models_in_steps
    return (*own, *SHARED) if models else (*own, "seconds")


def _begin(board: Board, policy: Policy, id: str, attempt: int, attempts: int) -> Event | None:
    """A step starts, unless its tool's breaker is open, or a person has to be asked before."""
    if policy.breaker and (error := _breaker_open(board, policy.breaker, id)):
        return StepBlocked(board.now, id, error, attempt, attempts)
    # a gate is shown with the board as it stands, so nothing may be under way while a person looks at it
    if board.why_asked(id) is not None:
        return None if board.in_flight else Paused(board.now, "gate", id)
    return StepStarted(board.now, id, attempt, attempts)


def _breaker_open(board: Board, breaker: Breaker, id: str) -> str | None:
    """Why the step's tool must not be called now, in words; None: it may be."""
    tool = board.steps[id].tool
    if tool is None or (failures := board.health.failures.get(tool, 0)) < breaker.failures:
        return None
    closed_for = round(board.health.last_failure[tool] + breaker.seconds - board.now, 9)
    if closed_for > 0:
        return f"not called: {tool} failed {failures} times in a row, and its breaker is open for {closed_for:g} s more"
    running = (board.steps[other] for other in board.in_flight if other is not None and board.state[other] == "running")
    if any(step.tool == tool for step in running):
        return f"not called: {tool} failed {failures} times in a row, and one call is trying it"
    return None


def _over(board: Board, policy: Policy, status: Status, reason: str) -> Event:
    """The run comes to its end; what it has done may have to be taken back first."""
    wanted = status != "finished" if policy.rollback == "unfinished" else status == policy.rollback
    if wanted and board.rollback.has_anything():
        return RollbackBegun(board.now, reason)
    left = board.left_in_doubt
    return Ended(board.now, status, reason + (f"; nobody knows whether {', '.join(left)} was done" if left else ""))


def _take_back(board: Board) -> Event:
    """The next event of a rollback: one call after another, whatever becomes of them."""
    rollback = board.rollback
    if rollback.left:
        undo = rollback.left[-1]
        if rollback.asks:
            return Paused(board.now, "undo", undo.label)
        return UndoStarted(board.now, undo.label, undo.call)
    by_reason: dict[str, list[str]] = {}
    for label, why in rollback.remains:
        by_reason.setdefault(why, []).append(label)
    words = [rollback.begun.reason] if rollback.begun else []
    words += [f"undone: {', '.join(rollback.undone_steps)}"] if rollback.undone_steps else []
    words += [f"called: {', '.join(rollback.called)}"] if rollback.called else []
    words += ["nothing was undone"] if not rollback.undone else []
    words += [f"not undone: {', '.join(labels)} ({why})" for why, labels in by_reason.items()]
    return Ended(board.now, "rolled back", "; ".join(words))


def _bad_end(board: Board, policy: Policy) -> tuple[Status, str] | None:
    """A reason to end before the plan is done, as (status, reason)."""
    proposals, approvals, replans = board.proposals, board.approvals, board.proposals.replans
    if review := approvals.rejected:
        return "stopped", f"{review.by} rejected the plan" + (f": {review.comment}" if review.comment else "")
    if proposals.unread_news and board.has_planner and replans >= policy.max_replans:
        return "stopped", f"news came, and the rest was planned again {replans} times already (max_replans)"
    if policy.deadline is not None and policy.time_left(board.now) <= 0 and _has_more(board):
        return "stopped", f"the deadline of {policy.deadline:g} s has passed"
    if denied := board.spending.denied:
        return "stopped", f"{denied.by} granted no more budget" + (f": {denied.comment}" if denied.comment else "")
    if approvals.changes_asked > policy.max_changes:
        return "stopped", f"the reviewer asked for a change more than {policy.max_changes} times (max_changes)"
    if board.table.failed and policy.failure == "stop" and not _mending(board, policy):
        return "failed", _first_failure(board) + _replans_used_up(board, policy)
    if (attempts := proposals.invalid_in_a_row) > policy.max_repairs:
        problems = "; ".join(map(str, proposals.problems[:3]))
        return "failed", f"no valid plan after {attempts} attempts (max_repairs={policy.max_repairs}): {problems}"
    return None


def _has_more(board: Board) -> bool:
    """Whether there is anything left to plan or to do."""
    return board.proposal is None or bool(board.problems) or board.table.has_more or not board.proposal.complete


def _mending(board: Board, policy: Policy) -> bool:
    """Whether a failure is being answered with a new plan, or is about to be."""
    planned_again = board.proposals.ask_again or _why_replan(board, policy)
    return (bool(board.problems) and policy.replan != "never") or planned_again is not None


def _why_replan(board: Board, policy: Policy) -> Literal["failure", "news", "step", "stall"] | None:
    """What makes the planner plan the rest again, None if nothing does or no replan is left."""
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
    # counted as rounds: nothing went wrong, so it uses up none of the replans
    if policy.replan == "step" and table.done_since_plan and proposals.rounds < policy.max_rounds and table.has_more:
        return "step"
    return None


def _why_skipped(board: Board, id: str) -> str:
    states = ((other, board.state[other]) for other in board.steps[id].depends_on)
    return ", ".join(f"step {other} {state}" for other, state in states if state in ("failed", "skipped"))


def _replans_used_up(board: Board, policy: Policy) -> str:
    used_up = policy.replan != "never" and board.has_planner and board.proposals.replans >= policy.max_replans
    return f"; planned again {board.proposals.replans} times (max_replans={policy.max_replans})" if used_up else ""


def _end(board: Board, policy: Policy) -> tuple[Status, str]:
    if board.table.unanswered and not board.failed:
        id = next(iter(board.table.unanswered))
        return "failed", f"step {id} failed, and no later step was done that answers it"
    if not board.failed:
        return "finished", f"{len(board.results)} steps done"
    skipped = [id for id, state in board.state.items() if state == "skipped"]
    behind = f"; skipped behind it: {', '.join(skipped)}" if skipped else ""
    return "failed", _first_failure(board) + behind + _replans_used_up(board, policy)


def _first_failure(board: Board) -> str:
    id = next(iter(board.failed))
    return f"step {id} failed: {board.errors[id]}"
