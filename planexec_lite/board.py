"""The board: where everything stands. A fold of the events, without I/O and without a clock.

The rules of the fold, all of them in `Board.apply`:

- a plan that is fit replaces what has not been done: done steps stay, unfinished ones are superseded;
- a step is ready when it is waiting and every step that it depends on is done;
- where there is an evaluator, a result whose step has a criterion is a claim until it is judged;
- a failed step with attempts left is tried again; without, every waiting step behind it is doomed;
- a step that was given up is in doubt: it is tried again only if a repeat does no harm, and a late result never counts;
- a step that arrives while the planner is still writing stands at once, and goes again if the answer comes to nothing;
- an approval belongs to the hash of a plan, and a reviewer's edited plan is a plan like any other;
- the same events always give the same board.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from planexec_lite import events as e
from planexec_lite.events import Event, Inside, StepDone, StepStarted
from planexec_lite.meter import ModelCall
from planexec_lite.plan import Problem
from planexec_lite.proposals import Proposals


@dataclass(slots=True, repr=False)
class Board(Proposals):
    """Everything that is known about a run. Read its attributes; change it through `apply` alone."""

    now: float = 0.0
    has_planner: bool = False
    has_reviewer: bool = False
    has_evaluator: bool = False
    in_flight: set[str | None] = field(default_factory=set)
    rounds: int = 0
    replans: int = 0
    news: list[str] = field(default_factory=list)
    unheard: bool = False
    paused: e.Paused | None = None
    ended: e.Ended | None = None
    calls: list[ModelCall] = field(default_factory=list)

    @classmethod
    def of(cls, events: Iterable[Event]) -> Board:
        """Return the board that `events` add up to."""
        board = cls()
        for event in events:
            board.apply(event)
        return board

    @property
    def planning(self) -> bool:
        """Whether the planner is at work: nothing is started meanwhile."""
        return None in self.in_flight

    def apply(self, event: Event) -> None:
        """Take in one event."""
        if not isinstance(event, Inside):  # told when its step has ended, and dated back
            self.now = event.at
        match event:
            case StepStarted():
                self.in_flight.add(event.step)
                self.start(event.step, event.attempt, event.attempts)
            case StepDone():
                id = event.step
                self._settle(id, event.calls)
                if self.limits:
                    self.release(id)
                if self.steps[id].success_criteria is None:
                    self.finish(id, event.result)
                elif self.has_evaluator:
                    self.claim(id, event.result)
                else:
                    self.unverified.add(id)
                    self.finish(id, event.result)
            case e.StepFailed():
                self._settle(event.step, event.calls)
                self.release(event.step)
                if event.in_doubt:
                    self.in_doubt[event.step] += 1
                self.fail(event.step, event.error, final=event.in_doubt and not self.repeatable(event.step))
            case e.StepCancelled():
                self._settle(event.step, ())
                self.hand_back(event.step)
            case e.StepLate():
                self.calls += event.calls
                self.in_doubt -= Counter([event.step])  # one of the attempts that were given up
                self.late[event.step] = event.error or event.result
            case e.StepSkipped():
                self.skip(event.step, event.reason)
            case e.JudgeStarted():
                self.in_flight.add(self.to_judge.popleft())
            case e.Judged():
                self._settle(event.step, event.calls)
                self._take_verdict(event)
            case e.JudgeFailed():
                self._settle(event.step, event.calls)
                self.unverified.add(event.step)
                self.finish(event.step, self.claims.pop(event.step))
            case e.PlanStarted():
                self.in_flight.add(None)
                self.rounds += event.reason in ("horizon", "step")
                self.replans += event.reason in ("failure", "news", "stall")
                self.unheard = False
            case e.StepProposed():
                self.arrive(event.step)
            case e.PlanProposed():
                self._settle(None, event.calls)
                if event.problems or event.plan is None:
                    self.refuse(event.problems, event.text or (event.plan.to_json(indent=None) if event.plan else ""))
                else:
                    self.accept(event.plan)
                    if event.granted:
                        self.approved.add(event.plan.hash)
            case e.PlanFailed():
                self._settle(None, event.calls)
                self.refuse((Problem("planner_failed", None, event.error, "answer again"),), "")
            case e.Reviewed():
                self.paused = None
                self.review(event)
            case e.News():
                self.paused = None
                self.news.append(event.text)
                self.unheard = True
            case e.RunStarted():
                self.goal = event.goal
                self.has_planner, self.has_reviewer, self.has_evaluator = event.planner, event.reviewer, event.evaluator
                self.limits, self.effects = event.limits, event.effects
            case e.Paused():
                self.paused = event
            case e.Ended():
                self.ended = event
            case Inside():
                pass

    def _settle(self, job: str | None, calls: tuple[ModelCall, ...]) -> None:
        """A job has come to its end. A step's job was started; a plan may also be there from the first."""
        if job is None:
            self.in_flight.discard(None)
        else:
            self.in_flight.remove(job)
        if calls:
            self.calls += calls

    def _take_verdict(self, event: e.Judged) -> None:
        claim = self.claims.pop(event.step)
        if event.verdict == "accept":
            self.finish(event.step, claim)
            return
        if event.changed is not None:
            self.change(event.changed)
        if event.wanting is not None:
            self.wanting[event.wanting] = event.reason
        self.fail(event.step, f"judged: {event.reason}", final=event.verdict == "replan")
