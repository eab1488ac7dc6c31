"""A judge against the truth: how often an evaluator accepts what was not done, and rejects what was.

The truth is the world's: rows in a database, unit tests, documents that are there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from planexec_lite.assembly import Board
from planexec_lite.plan import Step
from planexec_lite.roles.evaluators import Evaluator


@dataclass(frozen=True, slots=True)
class Case:
    """One result that is to be judged, with the truth about it.

    Args:
        name: what it is called in a report.
        step: the step, with its success criterion.
        result: what the executor gave for it.
        board: the run so far, as an evaluator sees it.
        done: whether the criterion is met, as the world says.
    """

    name: str
    step: Step
    result: Any
    board: Board
    done: bool


@dataclass(frozen=True, slots=True)
class JudgeScore:
    """The score of a judge over some cases.

    Args:
        done: number of cases that were really done.
        not_done: number of the other cases.
        false_accepts: names of cases that were accepted and not done.
        false_rejects: names of cases that were done and not accepted.
        unjudged: names of cases for which the evaluator raised an error, with its message. They count as neither, as in a
            run, where the step stays done and unverified.
    """

    done: int
    not_done: int
    false_accepts: tuple[str, ...]
    false_rejects: tuple[str, ...]
    unjudged: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        accepts = f"{len(self.false_accepts)} of {self.not_done} that were not done were accepted"
        rejects = f"{len(self.false_rejects)} of {self.done} that were done were not"
        return f"{accepts}, {rejects}" + (f", {len(self.unjudged)} not judged" if self.unjudged else "")


def judged(evaluator: Evaluator, cases: Iterable[Case]) -> JudgeScore:
    """Let an evaluator judge every case, and compare its verdicts with the truth.

    Every verdict other than accept counts as a rejection: retry, modify and replan. The score of a scripted model measures its
    script, not a model.
    """
    counts = {True: 0, False: 0}
    accepts, rejects, unjudged = [], [], []
    for case in cases:
        counts[case.done] += 1
        try:
            accepted = evaluator.evaluate(case.step, case.result, case.board).verdict == "accept"
        except Exception as error:  # as in a run, an evaluator's error is not a verdict
            unjudged.append((case.name, f"{type(error).__name__}: {error}"))
            continue
        if accepted and not case.done:
            accepts.append(case.name)
        elif case.done and not accepted:
            rejects.append(case.name)
    return JudgeScore(counts[True], counts[False], tuple(accepts), tuple(rejects), tuple(unjudged))
