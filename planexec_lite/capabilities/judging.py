"""Judging (lesson 06): an evaluator checks each result whose step has a success criterion. The result counts after that."""

from __future__ import annotations

from collections import deque
from typing import Any, Literal, get_args

from planexec_lite.core import (
    Board,
    Capability,
    Choice,
    Moves,
    Part,
    Task,
    Work,
    only_with,
)
from planexec_lite.core.events import Job, Outcome, Requeued
from planexec_lite.frozen import frozen
from planexec_lite.meter import ModelCall
from planexec_lite.plan import Step
from planexec_lite.plan.data import as_words, copied

Judgement = Literal["accept", "retry", "modify", "replan"]


@frozen
class Verdict:
    """The verdict of an evaluator about a result.

    Args:
        verdict: "accept"; "retry" the same step, or "modify" it and try again, while the step has attempts left; or "replan".
        reason: the reason, for the planner and for people.
        changed: the new words of the step (`Step.description`) from now on; not with "accept".
        rejects: the id of a done step that caused the problem. It stays done, and a new step must fix it.
    """

    verdict: Judgement
    reason: str = ""
    changed: str | None = None
    rejects: str | None = None

    def __post_init__(self) -> None:
        if self.verdict not in get_args(Judgement):
            raise ValueError(
                f"verdict={self.verdict!r}: say 'accept', 'retry', 'modify' or 'replan'"
            )
        as_words(self.reason, "the reason")
        for text in (self.changed, self.rejects):
            if text is not None:
                as_words(text, "changed or rejects")


@frozen
class JudgeStarted(Job):
    """The evaluator is asked whether the step's result meets its success criterion."""

    step: str


@frozen
class Judged(Outcome):
    """The evaluator's verdict and its reason.

    The `changed` step runs from now on, with other words. `rejects` names a done step that caused the problem: it stays done, and a
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


class Judging(Part):
    """The results that wait for a verdict (`to_judge` in order), the done steps without a verdict, and those rejected later."""

    to_judge: deque[str] = deque()
    results: dict[str, object] = {}
    unverified: set[str] = set()
    rejected: dict[str, str] = {}


def _take_result(board: Board, step_id: str, result: object) -> bool:
    if board.steps[step_id].success_criteria is None:
        return False
    mine = board[Judging]
    if not board.started.evaluator:
        mine.unverified.add(step_id)
        return False
    board.hold(step_id, "judging")
    mine.results[step_id] = result
    mine.to_judge.append(step_id)
    return True


def _requeued(board: Board, event: Requeued) -> None:
    job = board.in_flight[event.step]
    if isinstance(job, JudgeStarted):
        board[Judging].to_judge.appendleft(job.step)


def _judged(board: Board, event: Judged) -> None:
    mine = board[Judging]
    result = mine.results.pop(event.step)
    if event.error is not None:
        mine.unverified.add(event.step)
    if event.verdict == "accept":
        board.finish(event.step, result)
        return
    if event.changed is not None:
        # only the words are different; they count as brought by the next plan
        board.steps[event.step] = event.changed
        board.brought_by[event.step] = board.plans + 1
    if event.rejects is not None:
        mine.rejected[event.rejects] = event.reason
    board.fail(event.step, f"judged: {event.reason}", final=event.verdict == "replan")


@only_with("evaluator")
def judge_next(board: Board, _policy: object) -> Choice | None:
    """Judge the next result."""
    to_judge = board[Judging].to_judge
    return JudgeStarted(board.now, to_judge[0]) if to_judge else None


def judge(agent: Any, board: Board, step_id: str) -> Judged:
    """Ask the evaluator, and check its verdict. Raises `TypeError` if the answer is not a `Verdict`."""
    step, result = board.steps[step_id], board[Judging].results[step_id]
    verdict = board.show(lambda shown: agent.evaluator.evaluate(step, copied(result), shown))
    if not isinstance(verdict, Verdict):
        raise TypeError(f"the evaluator returned a {type(verdict).__name__}; return a Verdict")
    # read once, and checked again: a subclass can give anything
    verdict = Verdict(verdict.verdict, verdict.reason, verdict.changed, verdict.rejects)
    changed = None
    if verdict.changed is not None:
        changed = step.model_copy(update={"description": verdict.changed})
    return Judged(board.now, step_id, verdict.verdict, verdict.reason, changed, verdict.rejects)


def _failed(at: float, job: JudgeStarted, error: str) -> Judged:
    # the work was done, even if the evaluator fails
    return Judged(at, job.step, "accept", error=error)


CAPABILITY = Capability(
    Judging,
    moves={
        JudgeStarted: Moves("be judged", {"judging": "judging"}),
        Judged: Moves("come to this end", {"judging": "judging"}),
    },
    folds={
        JudgeStarted: lambda board, event: board[Judging].to_judge.remove(event.step),
        Judged: _judged,
        Requeued: _requeued,
    },
    takes_result=_take_result,
    work={
        JudgeStarted: Work.asking(
            lambda agent, run, job: Task(job, judge, (agent, run.board, job.step), here=True),
            _failed,
        )
    },
)
