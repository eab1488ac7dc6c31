"""Plain runs (lesson 01): steps start, end and are skipped, plans come in, and the run pauses and ends.

This is the first capability: the others add to it.
"""

from __future__ import annotations

from typing import Any

from planexec_lite.core import (
    WAIT,
    Board,
    Capability,
    Choice,
    Moves,
    after_retries,
    only_with,
)
from planexec_lite.core.events import (
    Ended,
    Event,
    Job,
    Outcome,
    Paused,
    PlanProposed,
    PlanStarted,
    Requeued,
    Reviewed,
    RunStarted,
    StepBlocked,
    StepDone,
    StepFailed,
    StepPaused,
    StepSkipped,
    StepStarted,
)


def _refuse_if(board: Board, event: Event, because: object, why: str) -> None:
    """Raise `IllegalTransition` if `because` is true."""
    if because:
        board.refuse("happen", event.id, why)


def _check_job(board: Board, event: Job) -> None:
    _refuse_if(board, event, event.id in board.in_flight, "it is in flight")
    _refuse_if(board, event, board.ended, "the run has ended")
    _refuse_if(board, event, board.paused, "the run waits for a person")


def _check_outcome(board: Board, event: Outcome) -> None:
    # a plan can come from the caller, without a job
    if event.id not in board.in_flight and not isinstance(event, PlanProposed):
        board.refuse("come to this end", event.id)


def _check_idle(board: Board, event: Paused | Ended) -> None:
    _refuse_if(board, event, board.ended, "the run has ended")
    _refuse_if(board, event, board.in_flight, "work is in flight")


def _job_started(board: Board, event: Job) -> None:
    board.in_flight[event.id] = event


def _job_ended(board: Board, event: Outcome) -> None:
    board.calls += getattr(event, "calls", ())


def _run_started(board: Board, event: RunStarted) -> None:
    board.started, board.is_begun = event, True


def _check_plan(board: Board, event: PlanProposed) -> None:
    if event.plan is not None and not event.problems:
        board.check_new(step.id for step in event.plan.steps if step.id not in board.arrived)


def _plan_proposed(board: Board, event: PlanProposed) -> None:
    if event.problems or event.plan is None:
        board.reject(
            event.problems, event.text or (event.plan.to_json(indent=None) if event.plan else "")
        )
    else:
        board.adopt(event.plan)
        board.model_chooses = event.model_chooses


def _check_start(board: Board, event: StepStarted | StepBlocked) -> None:
    step_id, is_first = event.step, event.attempt == 1
    verb = "start" if is_first else "retry"
    if is_first != (board.state[step_id] == "waiting"):
        board.refuse(verb, step_id)
    if not is_first and step_id not in board.retry:
        board.refuse(verb, step_id, "it has no attempt left")
    if is_first and not board.queue.is_ready(step_id):
        missing = [
            other for other in board.steps[step_id].depends_on if board.state.get(other) != "done"
        ]
        board.refuse(verb, step_id, f"it waits for {', '.join(missing)}")


def _step_blocked(board: Board, event: StepBlocked) -> None:
    board.begin(event)
    board.queue.release(event.step)
    board.fail(event.step, event.error, final=event.final)


def _step_skipped(board: Board, event: StepSkipped) -> None:
    board.errors[event.step] = event.reason
    board.queue.lose(event.step)


def _requeued(board: Board, event: Requeued) -> None:
    match board.in_flight[event.step]:
        case PlanStarted():
            board.withdraw()
        case StepStarted(step=step_id):
            board.requeue(step_id)


def _paused(board: Board, event: Paused) -> None:
    board.paused = event
    board.questions += 1


def _check_review(board: Board, event: Reviewed) -> None:
    _refuse_if(board, event, board.paused is None, "the run asks nothing")
    why = f"it answers another question; the run asks about {board.asked.about}"
    _refuse_if(board, event, event.of != board.asked.digest, why)


def _ended(board: Board, event: Ended) -> None:
    board.ended = event


CAPABILITY = Capability(
    moves={
        StepStarted: Moves("start", {"waiting": "running", "failed": "running"}),
        StepBlocked: Moves("start", {"waiting": "failed", "failed": "failed"}),
        StepDone: Moves("come to this end", {"running": "done"}),
        StepFailed: Moves("come to this end", {"running": "failed"}),
        StepPaused: Moves("come to this end", {"running": "waiting"}),
        StepSkipped: Moves("skip", {"waiting": "skipped"}),
    },
    checks={
        RunStarted: lambda board, event: _refuse_if(
            board, event, board.is_begun, "the run has begun"
        ),
        Job: _check_job,
        Outcome: _check_outcome,
        PlanProposed: _check_plan,
        StepStarted: _check_start,
        StepBlocked: _check_start,
        Paused: _check_idle,
        Reviewed: _check_review,
        Ended: _check_idle,
    },
    folds={
        Job: _job_started,
        Outcome: _job_ended,
        RunStarted: _run_started,
        PlanProposed: _plan_proposed,
        StepStarted: Board.begin,
        StepDone: lambda board, event: board.give(event.step, event.result),
        StepFailed: Board.break_off,
        StepBlocked: _step_blocked,
        StepSkipped: _step_skipped,
        StepPaused: lambda board, event: board.requeue(event.step),
        Requeued: _requeued,
        Paused: _paused,
        Reviewed: lambda board, event: board.reviews.append(event),
        Ended: _ended,
    },
)


@only_with("planner")
def wait_for_the_planner(board: Board, _policy: Any) -> Choice | None:
    """While the planner is writing, start only steps that it has already streamed."""
    return WAIT if board.planning and not board.arrived else None


def skip_unreachable(board: Board, _policy: Any) -> Choice | None:
    """Skip a step that depends on a step that failed for good."""
    step_id = next(iter(board.queue.unreachable), None)
    if step_id is None:
        return None
    lost = [
        f"step {other} {board.state[other]}"
        for other in board.steps[step_id].depends_on
        if board.state[other] in ("failed", "skipped")
    ]
    return StepSkipped(board.now, step_id, ", ".join(lost))


@only_with("planner")
def ask_for_a_plan(board: Board, _policy: Any) -> Choice | None:
    """Ask the planner for the first plan, or for a repair of an invalid one."""
    if board.planning or (board.proposal is not None and not board.problems):
        return None
    return after_retries(board, PlanStarted(board.now, "repair" if board.problems else "first"))


def start_ready(board: Board, _policy: Any) -> Choice | None:
    """Start the first ready step in plan order."""
    step_id = board.queue.first()
    return None if step_id is None else StepStarted(board.now, step_id)


def finish(board: Board, _policy: Any) -> Choice | None:
    """End the run as "finished" if no work is left and no step failed."""
    if board.in_flight or board.proposal is None or board.failed:
        return None
    return Ended(board.now, "finished", f"{len(board.results)} steps done")
