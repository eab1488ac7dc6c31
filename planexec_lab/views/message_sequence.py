"""The sequence diagram of a run: its events as messages between the roles; time runs downwards.

Planner and executor never talk to each other: each message goes to the board or comes from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from planexec_lab.views.drawing import theme
from planexec_lab.views.drawing.figure import Figure
from planexec_lab.views.drawing.svg_canvas import Box, Canvas
from planexec_lab.views.drawing.text_fitting import aligned, clean, fit, fit_columns, width
from planexec_lab.views.drawing.theme import MARGIN, SMALL
from planexec_lab.views.drawing.wording import count, listed, name_of, seconds, value
from planexec_lite import events as e
from planexec_lite.assembly import Board
from planexec_lite.capabilities.budget import in_words
from planexec_lite.capabilities.judging import Judging
from planexec_lite.meter import Budget
from planexec_lite.plan import Plan
from planexec_lite.run import Run

ROLES = ("outside", "planner", "board", "executor", "evaluator")
ASKED = {
    "horizon": "what next?", "failure": "plan the rest again: {failed} failed", "news": "plan the rest again: news",
    "step": "plan the rest again: a step is done", "stall": "plan the rest again: {failed} failed, nothing else to do",
}  # fmt: skip
MOST = 40  # messages that are drawn
ROW, HEAD = 26.0, 24.0
HEAD_EVERY = 14  # messages after which the roles' names are repeated
BOX, BESIDE = 76.0, 96.0  # the width of a name; the distance of two roles that don't talk to each other
TIMES = ("never", "once", "twice")


def sequence(run: Run) -> Figure:
    """Draw what planner, executor, evaluator and people outside said to the board, and it to them.

    All talk goes through the board, as structured messages. Of a long run the first 40 are drawn.

    Args:
        run: a run, ended or not.
    """
    return draw(run)[0]


def draw(run: Run) -> tuple[Figure, Canvas]:
    """Return the figure, and the canvas that it was drawn on."""
    exchange = messages(run)
    title = _finding(exchange)
    shown, left_out = exchange[:MOST], len(exchange[MOST:])
    rows = [_row(message, run.makespan) for message in shown]
    lines = aligned(rows) if rows else []
    caption = (
        "Solid: asked or told. Dashed: answered; ✗ marks what failed, was invalid or rejected." if exchange else ""
    )
    caption += f" Not drawn: {left_out:,} more messages." if left_out else ""
    caption += f" {run.status.capitalize()}: {fit_columns(clean(run.reason), 160)}." if run.reason else ""
    text = "\n".join([title, *lines, *([caption.strip()] if caption else [])])
    alt = f"Sequence of messages: {title}. " + "; ".join(
        f"{message.sender} to {message.receiver}: {fit_columns(message.words, 60)}" for message in shown[:8]
    )
    canvas, wide, high = _sketch(title, shown, run.makespan)
    return Figure(title, text, alt, caption.strip(), wide, svg=canvas.svg(wide, high)), canvas


def _row(message: Message, longest: float) -> list[str]:
    way = f"{message.sender} → {message.receiver}"
    return [f"  {seconds(message.at, longest)}", way, fit_columns(message.words, 90)]


def _finding(exchange: Sequence[Message]) -> str:
    asked = {role: sum(message.receiver == role for message in exchange) for role in ROLES if role != "board"}
    times = [f"the {role} {TIMES[n] if n < 3 else f'{n} times'}" for role, n in asked.items() if n]
    came = sum(message.sender == "outside" and message.words.startswith("news") for message in exchange)
    news = f"; news came {TIMES[came] if came < 3 else f'{came} times'}" if came else ""
    return f"The board asked {listed(times)}{news}" if times else "There are no messages yet"


def _sketch(title: str, exchange: Sequence[Message], longest: float) -> tuple[Canvas, int, int]:
    canvas = Canvas()
    top, right = canvas.heading(title)
    across = max(440.0, right + MARGIN)
    taking_part = {role for message in exchange for role in (message.sender, message.receiver)}
    roles = [role for role in ROLES if role in taking_part]
    times = [seconds(message.at, longest) for message in exchange]
    begin = MARGIN + max((width(time, SMALL) for time in times), default=0.0) + 12 + BOX / 2
    at = _places(roles, begin)
    heads = len(range(HEAD_EVERY, len(exchange), HEAD_EVERY))
    bottom = top + HEAD + ROW * len(exchange) + (HEAD + 8) * heads + 8
    for x in at.values():
        canvas.line(f"M{x:g} {top + HEAD:g}V{bottom:g}", ink=theme.LINE, thick=1, dashed=True)
    _heads(canvas, at, top)
    previous, y = "", top + HEAD + 4
    for number, message in enumerate(exchange):
        if number and number % HEAD_EVERY == 0:
            _heads(canvas, at, y + 8)
            y += HEAD + 8
        y += ROW
        time = seconds(message.at, longest)
        if time != previous:  # messages at the same time share a time label
            canvas.text(MARGIN, y + 4, time, ink=theme.MUTED)
        _arrow(canvas, message, at[message.sender], at[message.receiver], y)
        previous = time
    across = max([across, *(x + BOX / 2 + MARGIN for x in at.values())])
    return canvas, min(int(across), theme.WIDEST), int(bottom + (14 if exchange else -14))


def _heads(canvas: Canvas, at: dict[str, float], top: float) -> None:
    """Draw the name of each role in a box on its lifeline."""
    for role, x in at.items():
        canvas.box(Box(x - BOX / 2, top, BOX, HEAD, role), fill=theme.WHITE, ink=theme.LINE)
        canvas.text(x, top + 16, role, bold=role, anchor="middle")


def _places(roles: Sequence[str], begin: float) -> dict[str, float]:
    """The positions of the lifelines: the board's neighbours get the free room, the others are close together."""
    room = theme.WIDEST - MARGIN - BOX / 2 - begin
    talk = [("board" in pair) for pair in pairwise(roles)]
    wide = min((room - BESIDE * talk.count(False)) / max(talk.count(True), 1), 300.0)
    ways = accumulate((wide if talks else BESIDE for talks in talk), initial=begin)
    return {role: round(x, 1) for role, x in zip(roles, ways, strict=False)}


def _arrow(canvas: Canvas, message: Message, start: float, end: float, y: float) -> None:
    ink = theme.ALARM if message.bad else theme.TEXT
    back = end < start
    tip = end + 6 if back else end - 6
    canvas.line(f"M{start:g} {y:g}H{tip:g}", ink=ink, thick=1.25, dashed=message.answer)
    canvas.head(end, y, ink=ink, left=back)
    words = fit(message.words, abs(end - start) - 16, SMALL)
    canvas.text(min(start, end) + 8, y - 6, words, ink=ink, halo=True)


class Message(NamedTuple):
    """A message from one role to another. `answer`: the other role asked for it; `bad`: it failed, was invalid or rejected."""

    at: float
    sender: str
    receiver: str
    words: str
    answer: bool = False
    bad: bool = False


def messages(run: Run) -> list[Message]:
    """Return the messages in order. A plan without a request to the planner comes from outside."""
    board, exchange = Board(), []
    for event in run.events:
        if (message := _message(event, board)) is not None:
            exchange.append(message)
        board.apply(event)
    return exchange


def _message(event: e.Event, board: Board) -> Message | None:
    at = event.at
    match event:
        case e.PlanStarted():
            return Message(at, "board", "planner", _asked(event, board))
        case e.PlanProposed():
            if event.error is not None:
                return Message(at, "planner", "board", f"✗ no answer: {clean(event.error)}", True, True)
            sender = "planner" if None in board.in_flight else "outside"
            bad = bool(event.problems) or event.plan is None
            return Message(at, sender, "board", _proposed(event), sender == "planner", bad)
        case e.StepStarted():
            again = f", try {event.attempt}" if event.attempt > 1 else ""
            return Message(at, "board", "executor", f"do {event.step}{again}: {name_of(board.steps[event.step])}")
        case e.StepDone():
            return Message(at, "executor", "board", f"{event.step} done: {value(event.result)}", True)
        case e.StepFailed():
            return Message(at, "executor", "board", f"✗ {event.step} failed: {clean(event.error)}", True, True)
        case e.Requeued(reason="interrupted") | e.StepInDoubt():
            judged = event.step in board[Judging].results
            sender = "planner" if event.step is None else "evaluator" if judged else "executor"
            about = "" if event.step is None else f" at {event.step}"
            return Message(at, sender, "board", f"✗ interrupted{about}", True, True)
        case e.UndoStarted():
            what = clean(event.call) if event.call else "what was done inside"
            return Message(at, "board", "executor", f"undo {event.step}: {what}")
        case e.UndoDone():
            return Message(at, "executor", "board", f"{event.step} undone: {value(event.result)}", True)
        case e.UndoFailed():
            return Message(at, "executor", "board", f"✗ {event.step} not undone: {clean(event.error)}", True, True)
        case e.JudgeStarted():
            criterion = clean(board.steps[event.step].success_criteria or "")
            return Message(at, "board", "evaluator", f"judge {event.step}: {criterion}")
        case e.Judged():
            if event.error is not None:
                words = f"✗ no verdict on {event.step}: {clean(event.error)}"
                return Message(at, "evaluator", "board", words, True, True)
            return Message(at, "evaluator", "board", _verdict(event), True, event.verdict != "accept")
        case e.NewsReceived():
            return Message(at, "outside", "board", f"news: {clean(event.text)}")
        case e.Reviewed(verdict="done" | "not done"):
            return Message(at, "outside", "board", f"{event.step} was {event.verdict}, by {clean(event.by)}")
        case e.Reviewed(budget=Budget() as more_budget):
            more = ", ".join(in_words(name, amount) for name, amount in more_budget.bounds.items())
            return Message(at, "outside", "board", f"{more} more, by {clean(event.by)}")
        case e.Reviewed() if board.paused is not None and board.paused.reason == "budget":
            return Message(at, "outside", "board", f"no more budget, by {clean(event.by)}", bad=True)
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
        return f"repair the plan: {'; '.join(clean(problem) for problem in board.problems)}"
    return ASKED[event.reason].format(failed=listed(board.failed))


def _proposed(event: e.PlanProposed) -> str:
    if event.problems or event.plan is None:
        return f"✗ invalid: {'; '.join(clean(problem) for problem in event.problems) or 'no plan'}"
    return _steps(event.plan)


def _steps(plan: Plan) -> str:
    if not plan.steps:
        return "nothing more to do" if plan.complete else "a plan without steps"
    return f"a plan of {count(len(plan.steps), 'step')}: {', '.join(step.id for step in plan.steps)}"


def _verdict(event: e.Judged) -> str:
    reason = f": {clean(event.reason)}" if event.reason else ""
    rejected = f", {event.rejects} rejected" if event.rejects is not None else ""
    return f"{'✓' if event.verdict == 'accept' else '✗'} {event.step} {event.verdict}{rejected}{reason}"
