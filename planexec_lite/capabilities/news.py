"""News (lesson 06): a person or a program tells a run something while it runs, and the planner plans the rest again."""

from __future__ import annotations

from planexec_lite.core import HOLD, Board, Capability, Choice, Part, only_with
from planexec_lite.core.events import Event, PlanStarted
from planexec_lite.frozen import frozen
from planexec_lite.plan import Plan


@frozen
class NewsReceived(Event):
    """A person or a program told the run this `text`: the planner plans the rest again."""

    text: str


class News(Part):
    """The news so far.

    Attributes:
        texts: all news.
        unread: there is a planner, and it has not read all of the news.
        unplanned: there is a planner, and no valid plan has come since it read the news.
    """

    texts: list[str] = []
    unread: bool = False
    unplanned: bool = False


def _received(board: Board, event: NewsReceived) -> None:
    mine, board.paused = board[News], None
    mine.texts.append(event.text)
    mine.unread = mine.unplanned = board.has_planner


def _asked(board: Board, _event: PlanStarted) -> None:
    board[News].unread = False


def _before_plan(board: Board, _plan: Plan) -> None:
    board[News].unplanned = board[News].unread


@only_with("planner")
def hear_news_first(board: Board, _policy: object) -> Choice | None:
    """If news arrives while the planner is writing or has to write again, no more steps of that plan start."""
    if not (board[News].unread and board.in_flight):
        return None
    return HOLD if board.planning or board.proposal is None or board.problems else None


CAPABILITY = Capability(
    News, folds={NewsReceived: _received, PlanStarted: _asked}, before_plan=_before_plan
)
