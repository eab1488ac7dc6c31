"""What the planner proposed: the latest valid plan, what was wrong with a later answer, and why it was asked."""

from __future__ import annotations

from dataclasses import dataclass, field

from planexec_lite.board.part import Part
from planexec_lite.events import PlanReason
from planexec_lite.plan import Plan, Problem

_ROUNDS = ("horizon", "step")  # why the planner is asked for more
_REPLANS = ("failure", "news", "stall")  # why it is asked to plan the rest again


@dataclass(slots=True)
class Proposals(Part):
    """The planner's answers so far, and what it has not heard yet."""

    latest: Plan | None = None
    latest_hash: str = ""  # where there is a reviewer: of the plan as it came in
    model_chooses: tuple[str, ...] = ()  # the steps of the latest plan whose calls a model chooses
    problems: tuple[Problem, ...] = ()
    invalid_text: str = ""
    invalid_in_a_row: int = 0
    rounds: int = 0
    replans: int = 0
    news: list[str] = field(default_factory=list)
    unread_news: bool = False
    unplanned_news: bool = False  # no valid plan has come since the planner heard it
    asked_for: PlanReason | None = None  # why the planner was asked last
    ask_again: PlanReason | None = None  # why it was asked when it was interrupted

    def ask(self, reason: PlanReason) -> None:
        """The planner is asked, and hears all news."""
        self.rounds += reason in _ROUNDS
        self.replans += reason in _REPLANS
        self.unread_news, self.asked_for, self.ask_again = False, reason, None

    def interrupt(self) -> None:
        """The planner was interrupted: it is asked the same again, and that counts once."""
        self.rounds -= self.asked_for in _ROUNDS
        self.replans -= self.asked_for in _REPLANS
        self.ask_again = self.asked_for

    def accept(self, plan: Plan, hash: str) -> None:
        """A valid plan came."""
        self.latest, self.latest_hash, self.problems, self.invalid_text, self.invalid_in_a_row = plan, hash, (), "", 0
        self.unplanned_news = self.unread_news

    def reject(self, problems: tuple[Problem, ...], text: str) -> None:
        """An answer of the planner is no valid plan."""
        self.problems, self.invalid_text = problems, text
        self.invalid_in_a_row += 1

    def tell(self, news: str) -> None:
        """News came from outside."""
        self.news.append(news)
        self.unread_news = self.unplanned_news = True
