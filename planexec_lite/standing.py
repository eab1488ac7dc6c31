"""Where each step stands, and the moves that it can make."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Literal

from planexec_lite.frontier import Frontier
from planexec_lite.plan import Plan, Step

State = Literal["waiting", "running", "judging", "done", "failed", "skipped", "superseded"]
Signature = frozenset[tuple[str, str]]


def signature(steps: Iterable[Step]) -> Signature:
    """What some steps do, whatever their ids: how a plan that has been tried before is recognised."""
    return frozenset((step.description, str(step)) for step in steps)


class Standing:
    """The steps of all plans so far, merged: a new plan keeps what is done and supersedes the rest."""

    def __init__(self) -> None:
        self.steps: dict[str, Step] = {}
        self.state: dict[str, State] = {}
        self.results: dict[str, object] = {}
        self.errors: dict[str, str] = {}
        self.attempt: dict[str, tuple[int, int]] = {}
        self.retry: deque[str] = deque()
        self.doomed: deque[str] = deque()
        self.failed: dict[str, None] = {}
        self.to_judge: deque[str] = deque()
        self.claims: dict[str, object] = {}
        self.unverified: set[str] = set()
        self.wanting: dict[str, str] = {}
        self.tried: set[Signature] = set()
        self.done_since_plan = 0
        self._frontier = Frontier()
        self._unfinished: dict[str, None] = {}

    @property
    def ready(self) -> str | None:
        """The first step, in plan order, that may start now; None if no step may."""
        return self._frontier.first

    @property
    def done(self) -> tuple[str, ...]:
        """The ids of the done steps, in the order in which they were done."""
        return tuple(self.results)

    @property
    def unfinished(self) -> tuple[str, ...]:
        """The ids of the latest plan's steps that are not done."""
        return tuple(self._unfinished)

    def replace(self, plan: Plan) -> None:
        """A fit plan takes the place of what is not done."""
        if self.failed:
            self.tried.add(signature(self.steps[id] for id in self._unfinished))
        self.state.update(dict.fromkeys(self._unfinished, "superseded"))
        for queue in (self._unfinished, self.retry, self.doomed, self.failed):
            queue.clear()
        for step in plan.steps:
            self.steps.pop(step.id, None)
            self.errors.pop(step.id, None)
            self.steps[step.id] = step
            self.state[step.id] = "waiting"
            self._unfinished[step.id] = None
        self.done_since_plan = 0
        self._frontier = Frontier(plan.steps, self.results.keys())

    def start(self, id: str, attempt: int, attempts: int) -> None:
        """The first ready step runs, or, at a later attempt, the first that is to be tried again."""
        if attempt == 1:
            self._frontier.take()
        else:
            self.retry.popleft()
        self.state[id] = "running"
        self.attempt[id] = (attempt, attempts)

    def claim(self, id: str, result: object) -> None:
        """A step gave a result that has to be judged before it counts."""
        self.state[id] = "judging"
        self.claims[id] = result
        self.to_judge.append(id)

    def finish(self, id: str, result: object) -> None:
        """A step is done; what waited for it alone becomes ready."""
        self.state[id] = "done"
        self.results[id] = result
        self.errors.pop(id, None)
        self.done_since_plan += 1
        del self._unfinished[id]
        self._frontier.finish(id)

    def fail(self, id: str, error: str, *, final: bool = False) -> None:
        """A step failed: with attempts left it is tried again, unless `final`; else what waits for it is doomed."""
        self.state[id] = "failed"
        self.errors[id] = error
        attempt, attempts = self.attempt[id]
        if attempt < attempts and not final:
            self.retry.append(id)
        else:
            self.failed[id] = None
            self._doom_behind(id)

    def skip(self, id: str, reason: str) -> None:
        """A doomed step is skipped, and what waits for it is doomed in turn."""
        self.state[id] = "skipped"
        self.errors[id] = reason
        self._doom_behind(id)

    def _doom_behind(self, id: str) -> None:
        self.doomed.extend(self._frontier.behind(id))
        while self.doomed and self.state[self.doomed[0]] != "waiting":
            self.doomed.popleft()
