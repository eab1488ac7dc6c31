"""The states of a step and the transitions between them: one table, which the fold obeys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

State = Literal["waiting", "running", "judging", "in doubt", "done", "failed", "skipped", "superseded", "undone"]
Transition = Literal[
    "propose",
    "start",
    "retry",
    "requeue",
    "cancel retry",
    "judge",
    "doubt",
    "finish",
    "fail",
    "skip",
    "supersede",
    "undo",
]

TRANSITIONS: Mapping[Transition, Mapping[State | None, State]] = {
    "propose": {None: "waiting", "superseded": "waiting"},
    "start": {"waiting": "running"},
    "retry": {"failed": "running"},
    "requeue": {"running": "waiting", "in doubt": "waiting"},
    "cancel retry": {"running": "failed", "in doubt": "failed"},
    "judge": {"running": "judging", "in doubt": "judging"},
    "doubt": {"running": "in doubt"},
    "finish": {"running": "done", "judging": "done", "in doubt": "done"},
    "fail": {"running": "failed", "judging": "failed"},
    "skip": {"waiting": "skipped"},
    "undo": {"done": "undone"},
    "supersede": {"waiting": "superseded", "failed": "superseded", "skipped": "superseded"},
}
"""By transition, the states that it may be made from (None: there is no such step yet) and the state that it leads to."""


class IllegalTransition(ValueError):
    """An event that can't have happened: its step is in a state that the event's transition does not start from.

    Attributes:
        transition: what was to happen to the step, such as "start".
        step: the step's id.
        state: the state that it is in; None if there is no such step.
        event: the event, where a board was given one. The board is as it was before.
    """

    def __init__(self, transition: str, step: str | None, state: str | None, why: str = "") -> None:
        super().__init__(transition, step, state, why)
        self.transition, self.step, self.state, self.why = transition, step, state, why
        self.event: object = None

    def __str__(self) -> str:
        which = "the plan" if self.step is None else f"step {self.step}"
        stands = self.why or (f"it is {self.state}" if self.state else "there is no such step")
        event = f"{type(self.event).__name__}: " if self.event is not None else ""
        return f"{event}{which} can't {self.transition}: {stands}"
