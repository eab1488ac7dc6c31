"""Judging (lesson 06): an evaluator checks each result whose step has a success criterion. The result counts after that."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from planexec_lite.capabilities.new_effects import added_effects
from planexec_lite.core import (
    Board,
    Capability,
    Choice,
    IllegalTransition,
    Moves,
    Part,
    Task,
    Work,
    only_if,
)
from planexec_lite.core import events as e
from planexec_lite.core.tasks import Finished
from planexec_lite.meter import ModelCall
from planexec_lite.plan import Plan, Step
from planexec_lite.plan.data import as_words, copied

Judgement = Literal["accept", "retry", "modify", "replan"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict of an evaluator about a result.

    Args:
        verdict: "accept"; "retry" the same step, or "modify" it and try again, while the step has attempts left; or "replan".
        reason: the reason, for the planner and for people.
        changed: the step that replaces this one from now on, under the same id; not with "accept".
        rejects: the id of a done step that caused the problem. It stays done, and a new step must fix it.
    """

    verdict: Judgement
    reason: str = ""
    changed: Step | None = None
    rejects: str | None = None

    def __post_init__(self) -> None:
        if self.verdict not in get_args(Judgement) or not isinstance(self.reason, str):
            raise ValueError(
                f"verdict={self.verdict!r}: say 'accept', 'retry', 'modify' or 'replan', and give the reason as a text"
            )
        as_words(self.reason, "the reason")
        if self.rejects is not None and not isinstance(self.rejects, str):
            raise ValueError(f"rejects={self.rejects!r}: it is the id of a done step, or None")
        if self.changed is not None:
            Step.model_validate(
                self.changed.model_dump(warnings=False)
            )  # a copy with other values is not checked


@dataclass(frozen=True, slots=True)
class JudgeStarted(e.Job):
    """The evaluator is asked whether the step's result meets its success criterion."""

    step: str


@dataclass(frozen=True, slots=True)
class Judged(e.Outcome):
    """The evaluator's verdict and its reason.

    "modify" gives the `changed` step, which runs instead. `rejects` names a done step that caused the problem: it stays done, and a
    new step must fix it. If the evaluator raised an `error`, the step is done and unverified.
    """

    step: str
    verdict: Judgement
    reason: str = ""
    changed: Step | None = None
    rejects: str | None = None
    seconds: float = 0.0
    calls: tuple[ModelCall, ...] = ()
    error: str | None = None


@dataclass
class Judging(Part):
    """The results that wait for a verdict (`to_judge` in order), the done steps without a verdict, and those rejected later."""

    to_judge: deque[str] = field(default_factory=deque)
    results: dict[str, object] = field(default_factory=dict)
    unverified: set[str] = field(default_factory=set)
    rejected: dict[str, str] = field(default_factory=dict)


def _take_result(board: Board, step_id: str, result: object) -> bool:
    if board.steps[step_id].success_criteria is None:
        return False
    mine = board[Judging]
    if not board.started.evaluator:
        mine.unverified.add(step_id)
        return False
    board.state[step_id] = "judging"
    mine.results[step_id] = result
    mine.to_judge.append(step_id)
    return True


def _check_judge(board: Board, event: JudgeStarted) -> None:
    if event.step not in board[Judging].to_judge:
        raise IllegalTransition("be judged", event.step, board.state.get(event.step))


def _judge_started(board: Board, event: JudgeStarted) -> None:
    board[Judging].to_judge.remove(event.step)


def _check_verdict(board: Board, event: Judged) -> None:
    if event.step not in board.in_flight:
        raise IllegalTransition("come to this end", event.step, board.state.get(event.step))


def _judged(board: Board, event: Judged) -> None:
    mine = board[Judging]
    result = mine.results.pop(event.step)
    if event.error is not None:  # the work was done, even if the evaluator fails
        mine.unverified.add(event.step)
    if event.verdict == "accept" or event.error is not None:
        board.finish(event.step, result)
        return
    if event.changed is not None:
        board.change(event.changed)
    if event.rejects is not None:
        mine.rejected[event.rejects] = event.reason
    board.fail(event.step, f"judged: {event.reason}", final=event.verdict == "replan")


def _requeued(board: Board, event: e.Requeued) -> None:
    if event.step in board[Judging].results:
        board[Judging].to_judge.appendleft(event.step)


@only_if(lambda _policy, started: started.evaluator)
def judge_next(board: Board, _policy: object) -> Choice | None:
    """Judge the next result."""
    to_judge = board[Judging].to_judge
    return JudgeStarted(board.now, to_judge[0]) if to_judge else None


def judge(agent: Any, step: Step, result: Any, board: Board) -> Verdict:
    """Ask the evaluator, and check its verdict: a changed step must be valid, and can't replace an approved call.

    If a reviewer approves plans, or the step has a gate, the evaluator can change only the step's words. If the changed step is
    invalid, the rest is planned again. Raises `TypeError` if the answer is not a `Verdict`.
    """
    verdict = board.show(lambda shown: agent.evaluator.evaluate(step, copied(result), shown))
    if not isinstance(verdict, Verdict):
        raise TypeError(f"the evaluator returned a {type(verdict).__name__}; return a Verdict")
    kind, reason, changed, rejects = (
        verdict.verdict,
        verdict.reason,
        verdict.changed,
        verdict.rejects,
    )  # read once
    if changed is None:
        return Verdict(kind, reason, None, rejects)
    (changed,) = Plan.received(Plan.model_construct(steps=(changed,)), "the evaluator").steps
    free: dict[str, Any] = {"description": step.description}
    if not (board.has_reviewer or step.gate):
        free |= {"tool": step.tool, "params": step.params}
    plan = Plan(steps=(changed,))
    problems = plan.problems(agent.executor.tools, done=board.results.keys())
    problems += added_effects(plan, board, agent.policy, agent.executor)
    if changed.model_copy(update=free) == step and not problems:
        return Verdict(kind, reason, changed, rejects)
    return Verdict(
        "replan", f"{reason}; the changed step is invalid or not approved", rejects=rejects
    )


def _task(agent: Any, run: Any, job: JudgeStarted) -> Task:
    board = run.board
    return Task(
        job,
        judge,
        (agent, board.steps[job.step], board[Judging].results[job.step], board),
        here=True,
    )


def _outcome(job: JudgeStarted, message: Finished) -> list[e.Event]:
    report, at, seconds = message.report, message.at, message.seconds
    if report.error is not None:
        return [
            Judged(at, job.step, "accept", seconds=seconds, calls=report.calls, error=report.error)
        ]
    one = report.value
    return [
        Judged(
            at, job.step, one.verdict, one.reason, one.changed, one.rejects, seconds, report.calls
        )
    ]


CAPABILITY = Capability(
    Judging,
    moves={
        JudgeStarted: Moves("be judged", {"judging": "judging"}),
        Judged: Moves("come to this end", {"judging": "judging"}),
    },
    checks={JudgeStarted: _check_judge, Judged: _check_verdict},
    folds={JudgeStarted: _judge_started, Judged: _judged, e.Requeued: _requeued},
    takes_result=_take_result,
    work={JudgeStarted: Work(_task, _outcome)},
)
