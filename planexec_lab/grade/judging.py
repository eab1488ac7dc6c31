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
    """What came of judging some cases.

    Args:
        done: how many cases were really done.
        not_done: how many were not.
        false_accepts: the names of those that were accepted and not done.
        false_rejects: the names of those that were done and not accepted.
        unjudged: the names of those about which the evaluator raised an error, with its words. They count as neither, as
            in a run, where the step stays done and unverified.
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
    """Let an evaluator judge every case, one after another, and hold its verdicts against the truth.

    What is not accepted is rejected, be the verdict retry, modify or replan. Of a scripted model the score is its
    script's: it says how the script was written, and nothing about a model.
    """
    counts = {True: 0, False: 0}
    accepts, rejects, unjudged = [], [], []
    for case in cases:
        counts[case.done] += 1
        try:
            accepted = evaluator.evaluate(case.step, case.result, case.board).verdict == "accept"
        except Exception as error:  # as in a run: whatever an evaluator raises is no verdict
            unjudged.append((case.name, f"{type(error).__name__}: {error}"))
            continue
        if accepted and not case.done:
            accepts.append(case.name)
        elif case.done and not accepted:
            rejects.append(case.name)
    return JudgeScore(counts[True], counts[False], tuple(accepts), tuple(rejects), tuple(unjudged))
