"""The board: where everything stands. A fold of the events, without I/O and without a clock.

The rules of the fold, all of them in `Board.apply`:

- a plan that is fit replaces what has not been done: done steps stay, unfinished ones are superseded;
- a step is ready when it is waiting and every step that it depends on is done;
- a failed step with attempts left goes to `retry`; without, every waiting step behind it goes to `doomed`;
- the same events always give the same board.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Literal

from planexec_lite import events as e
from planexec_lite.events import Event
from planexec_lite.frontier import Frontier
from planexec_lite.meter import ModelCall
from planexec_lite.plan import Plan, Problem, Step

State = Literal["waiting", "running", "done", "failed", "skipped", "superseded"]


class Board:
    """Everything that is known about a run. Read its attributes; change it through `apply` alone."""

    def __init__(self) -> None:
        self.now = 0.0
        self.goal = ""
        self.has_planner = self.has_reviewer = False
        self.steps: dict[str, Step] = {}
        self.state: dict[str, State] = {}
        self.results: dict[str, object] = {}
        self.errors: dict[str, str] = {}
        self.attempt: dict[str, tuple[int, int]] = {}
        self.in_flight: set[str | None] = set()
        self.retry: deque[str] = deque()
        self.doomed: deque[str] = deque()
        self.failed: dict[str, None] = {}
        self.proposal: Plan | None = None
        self.problems: tuple[Problem, ...] = ()
        self.refused_text = ""
        self.refused_in_a_row = 0
        self.rounds = 0
        self.reviews: list[e.Reviewed] = []
        self.approved: set[str] = set()
        self.opened: set[str] = set()
        self.paused: e.Paused | None = None
        self.ended: e.Ended | None = None
        self.calls: list[ModelCall] = []
        self._frontier = Frontier()
        self._unfinished: dict[str, None] = {}

    @classmethod
    def of(cls, events: Iterable[Event]) -> Board:
        """Return the board that `events` add up to."""
        board = cls()
        for event in events:
            board.apply(event)
        return board

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Board) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]

    @property
    def ready(self) -> str | None:
        """The first step, in plan order, that may start now; None if no step may."""
        return self._frontier.first

    @property
    def done(self) -> tuple[str, ...]:
        """The ids of the done steps, in the order in which they were done."""
        return tuple(self.results)

    @property
    def plan(self) -> Plan:
        """The merged plan: the done steps, and those of the latest plan."""
        steps = tuple(step for id, step in self.steps.items() if self.state[id] != "superseded")
        latest = self.proposal or Plan()
        return latest.changed(goal=latest.goal or self.goal, steps=steps)

    def apply(self, event: Event) -> None:
        """Take in one event."""
        self.now = event.at
        match event:
            case e.StepStarted():
                if event.attempt == 1:
                    self._frontier.take()
                else:
                    self.retry.popleft()
                self.state[event.step] = "running"
                self.attempt[event.step] = (event.attempt, event.attempts)
                self.in_flight.add(event.step)
            case e.StepDone():
                self._settle(event.step, "done", event.calls)
                self.results[event.step] = event.result
                self.errors.pop(event.step, None)
                del self._unfinished[event.step]
                self._frontier.finish(event.step)
            case e.StepFailed():
                self._settle(event.step, "failed", event.calls)
                self.errors[event.step] = event.error
                attempt, attempts = self.attempt[event.step]
                if attempt < attempts:
                    self.retry.append(event.step)
                else:
                    self.failed[event.step] = None
                    self._doom_behind(event.step)
            case e.StepSkipped():
                self.state[event.step] = "skipped"
                self.errors[event.step] = event.reason
                self._doom_behind(event.step)
            case e.PlanStarted():
                self.in_flight.add(None)
                self.rounds += event.reason == "horizon"
            case e.PlanProposed():
                self.in_flight.discard(None)
                self.calls += event.calls
                if event.problems or event.plan is None:
                    self._refuse(event.problems, event.text or (event.plan.to_json(indent=None) if event.plan else ""))
                else:
                    self._adopt(event.plan)
            case e.PlanFailed():
                self.in_flight.discard(None)
                self.calls += event.calls
                self._refuse((Problem("planner_failed", None, event.error, "answer again"),), "")
            case e.Reviewed():
                self.paused = None
                self.reviews.append(event)
                if event.verdict == "change":
                    hint = "change the plan accordingly"
                    text = self.proposal.to_json(indent=None) if self.proposal else ""
                    self._refuse((Problem("change_asked", None, event.comment, hint),), text)
                elif event.verdict == "approve":
                    self.approved.add(event.plan_hash)
                    self.opened |= {event.step} if event.step else set()
            case e.RunStarted():
                self.goal, self.has_planner, self.has_reviewer = event.goal, event.planner, event.reviewer
            case e.Paused():
                self.paused = event
            case e.Ended():
                self.ended = event
            case e.Inside():
                pass

    def _settle(self, step: str, state: State, calls: tuple[ModelCall, ...]) -> None:
        self.in_flight.discard(step)
        self.state[step] = state
        if calls:
            self.calls += calls

    def _refuse(self, problems: tuple[Problem, ...], text: str) -> None:
        self.problems, self.refused_text = problems, text
        self.refused_in_a_row += 1

    def _doom_behind(self, step: str) -> None:
        self.doomed.extend(self._frontier.behind(step))
        while self.doomed and self.state[self.doomed[0]] != "waiting":
            self.doomed.popleft()

    def _adopt(self, plan: Plan) -> None:
        self.proposal, self.problems, self.refused_text, self.refused_in_a_row = plan, (), "", 0
        self.opened.clear()
        for id in self._unfinished:
            self.state[id] = "superseded"
        self._unfinished.clear()
        self.retry.clear()
        self.doomed.clear()
        self.failed.clear()
        for step in plan.steps:
            self.steps.pop(step.id, None)
            self.steps[step.id] = step
            self.state[step.id] = "waiting"
            self._unfinished[step.id] = None
        self._frontier = Frontier(plan.steps, self.results.keys())
