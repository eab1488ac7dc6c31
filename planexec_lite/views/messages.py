"""Who said what to whom in a run: its events as messages between the planner, the board, the executor and the evaluator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from planexec_lite import events as e
from planexec_lite.board import Board
from planexec_lite.plan import Plan
from planexec_lite.run import Run
from planexec_lite.views.words import clean, count, listed, name_of, value

ROLES = ("outside", "planner", "board", "executor", "evaluator")
ASKED = {
    "horizon": "what next?", "failure": "plan the rest again: {failed} failed", "news": "plan the rest again: news",
    "step": "plan the rest again: a step is done", "stall": "plan the rest again: {failed} failed, nothing else to do",
}  # fmt: skip


class Message(NamedTuple):
    """What one role said to another. `answer` says that it was asked for, `bad` that it is a failure or a refusal."""

    at: float
    sender: str
    receiver: str
    words: str
    answer: bool = False
    bad: bool = False


def messages(run: Run) -> list[Message]:
    """Return what was said, in order. A plan that nobody was asked for comes from outside."""
    board, found = Board(), []
    for event in run.events:
        if (message := _message(event, board)) is not None:
            found.append(message)
        board.apply(event)
    return found


def abridged(said: Sequence[Message], most: int) -> tuple[Sequence[Message], int, Sequence[Message]]:
    """Return the first messages, how many are left out, and the last ones; `most` counts a line for what is left out."""
    if len(said) <= most:
        return said, 0, ()
    first = most // 2
    last = most - 1 - first
    return said[:first], len(said) - first - last, said[-last:]


def _message(event: e.Event, board: Board) -> Message | None:
    at = event.at
    match event:
        case e.PlanStarted():
            return Message(at, "board", "planner", _asked(event, board))
        case e.PlanProposed():
            sender = "planner" if None in board.in_flight else "outside"
            bad = bool(event.problems) or event.plan is None
            return Message(at, sender, "board", _proposed(event), sender == "planner", bad)
        case e.PlanFailed():
            return Message(at, "planner", "board", f"✗ no answer: {clean(event.error)}", True, True)
        case e.StepStarted():
            again = f", try {event.attempt}" if event.attempt > 1 else ""
            return Message(at, "board", "executor", f"do {event.step}{again}: {name_of(board.steps[event.step])}")
        case e.StepDone():
            return Message(at, "executor", "board", f"{event.step} done: {value(event.result)}", True)
        case e.StepFailed():
            return Message(at, "executor", "board", f"✗ {event.step} failed: {clean(event.error)}", True, True)
        case e.JudgeStarted():
            criterion = clean(board.steps[event.step].success_criteria or "")
            return Message(at, "board", "evaluator", f"judge {event.step}: {criterion}")
        case e.Judged():
            return Message(at, "evaluator", "board", _verdict(event), True, event.verdict != "accept")
        case e.JudgeFailed():
            words = f"✗ no verdict on {event.step}: {clean(event.error)}"
            return Message(at, "evaluator", "board", words, True, True)
        case e.News():
            return Message(at, "outside", "board", f"news: {clean(event.text)}")
        case e.Reviewed():
            about = f"step {event.step}" if event.step is not None else "the plan"
            comment = f": {clean(event.comment)}" if event.comment else ""
            words = f"{event.verdict} {about}, by {clean(event.by)}{comment}"
            return Message(at, "outside", "board", words, bad=event.verdict == "reject")
        case _:
            return None


def _asked(event: e.PlanStarted, board: Board) -> str:
    if event.reason == "first":
        return f"plan: {clean(board.goal)}"
    if event.reason == "repair":
        return f"mend the plan: {'; '.join(clean(problem) for problem in board.problems)}"
    return ASKED[event.reason].format(failed=listed(board.failed))


def _proposed(event: e.PlanProposed) -> str:
    if event.problems or event.plan is None:
        return f"✗ refused: {'; '.join(clean(problem) for problem in event.problems) or 'no plan'}"
    return _steps(event.plan)


def _steps(plan: Plan) -> str:
    if not plan.steps:
        return "nothing more to do" if plan.complete else "a plan without steps"
    return f"a plan of {count(len(plan.steps), 'step')}: {', '.join(step.id for step in plan.steps)}"


def _verdict(event: e.Judged) -> str:
    reason = f": {clean(event.reason)}" if event.reason else ""
    wanting = f", {event.wanting} found wanting" if event.wanting is not None else ""
    return f"{'✓' if event.verdict == 'accept' else '✗'} {event.step} {event.verdict}{wanting}{reason}"
