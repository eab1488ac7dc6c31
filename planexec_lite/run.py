"""A run: the events so far, the board that they add up to, and what can be read off it."""

from __future__ import annotations

from typing import Any, Literal

from planexec_lite import references
from planexec_lite.board import Board
from planexec_lite.events import Event, Status
from planexec_lite.meter import Usage
from planexec_lite.plan import Plan


class Run:
    """What has happened and where it stands: the events, and the board that they add up to."""

    def __init__(self, events: list[Event] | None = None) -> None:
        self.events: list[Event] = list(events or [])
        self.board = Board.of(self.events)

    def record(self, event: Event) -> None:
        """Append an event and show it on the board."""
        self.events.append(event)
        self.board.apply(event)

    @property
    def status(self) -> Status | Literal["paused", "running"]:
        """How the run stands: "finished", "failed", "stopped", "rolled back", "paused" or, inside a run, "running"."""
        if self.board.ended:
            return self.board.ended.status
        return "paused" if self.board.paused else "running"

    @property
    def reason(self) -> str:
        """Why the run ended or paused, in words."""
        if self.board.ended:
            return self.board.ended.reason
        if paused := self.board.paused:
            return f"waits for {paused.reason}" + (f" of step {paused.step}" if paused.step else "")
        return ""

    @property
    def plan(self) -> Plan:
        """The merged plan: done steps, and those of the latest plan."""
        return self.board.plan

    @property
    def results(self) -> dict[str, Any]:
        """The results, by step id, in the order in which the steps were done."""
        return dict(self.board.results)

    @property
    def answer(self) -> Any:
        """The plan's answer with its references resolved; without one, the result of the only step nothing depends on.

        None while the run has not finished, and where several steps are last.
        """
        if self.status != "finished":
            return None
        plan = self.plan
        if plan.answer is not None:
            return references.resolve(plan.answer, self.board.results)
        waited_for = {id for step in plan.steps for id in step.depends_on}
        last = [step.id for step in plan.steps if step.id not in waited_for]
        return self.board.results[last[0]] if len(last) == 1 else None

    @property
    def makespan(self) -> float:
        """Seconds from the start to the latest event, on the workers' clock."""
        return self.board.now

    @property
    def usage(self) -> Usage:
        """What the models of this run used."""
        return Usage.of(self.board.calls)

    def __repr__(self) -> str:
        steps = [state for state in self.board.state.values() if state != "superseded"]
        return f"Run({self.status}: {steps.count('done')} of {len(steps)} steps done)"
