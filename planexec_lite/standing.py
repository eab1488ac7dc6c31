"""Where each step stands, and the moves that it can make."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from planexec_lite.frontier import Frontier
from planexec_lite.limits import Limit
from planexec_lite.plan import Plan, Step
from planexec_lite.tools import Effects

_ONLY = (1, 1)  # the first attempt of one
State = Literal["waiting", "running", "judging", "done", "failed", "skipped", "superseded"]
Signature = frozenset[tuple[str, str]]


def signature(steps: Iterable[Step]) -> Signature:
    """What some steps do, whatever their ids: how a plan that has been tried before is recognised."""
    return frozenset((step.description, str(step)) for step in steps)


@dataclass(slots=True, init=False, repr=False, eq=False)
class Standing:
    """The steps of all plans so far, merged: a new plan keeps what is done and supersedes the rest."""

    steps: dict[str, Step] = field(default_factory=dict)
    state: dict[str, State] = field(default_factory=dict)
    results: dict[str, object] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    attempt: dict[str, tuple[int, int]] = field(default_factory=dict)
    retry: deque[str] = field(default_factory=deque)
    doomed: deque[str] = field(default_factory=deque)
    failed: dict[str, None] = field(default_factory=dict)
    to_judge: deque[str] = field(default_factory=deque)
    claims: dict[str, object] = field(default_factory=dict)
    unverified: set[str] = field(default_factory=set)
    wanting: dict[str, str] = field(default_factory=dict)
    tried: set[Signature] = field(default_factory=set)
    in_doubt: Counter[str] = field(default_factory=Counter)
    late: dict[str, object] = field(default_factory=dict)
    arrived: dict[str, None] = field(default_factory=dict)
    begun: list[Step] | None = None  # since a grant, None where there is none
    done_since_plan: int = 0
    limits: tuple[Limit, ...] = ()
    effects: dict[str, Effects] = field(default_factory=dict)
    _frontier: Frontier = field(default_factory=Frontier)

    @property
    def ready(self) -> str | None:
        """The first step, in plan order, that may start now; None if no step may."""
        return self._frontier.first()

    @property
    def done(self) -> tuple[str, ...]:
        """The ids of the done steps, in the order in which they were done."""
        return tuple(self.results)

    @property
    def unfinished(self) -> tuple[str, ...]:
        """The ids of the latest plan's steps that are not done."""
        return tuple(self._left())[::-1]

    @property
    def has_more(self) -> bool:
        """Whether any step of the latest plan is not done."""
        return next(self._left(), None) is not None

    def _left(self) -> Iterator[str]:
        """What is not done, from the end of the plan: the last steps are, as a rule, done last."""
        return (id for id in reversed(self._frontier.ids) if self.state[id] not in ("done", "superseded"))

    @property
    def retry_next(self) -> str | None:
        """The first step that is to be tried again, if it may start now; None if there is none."""
        return next((id for id in self.retry if self._frontier.has_place(id)), None)

    def repeatable(self, id: str) -> bool:
        """Whether carrying out the step twice does no harm."""
        return self.steps[id].effects_with(self.effects) != "once"

    def arrive(self, step: Step) -> None:
        """The planner, still writing, has put down a step: it joins, and what the plan before left undone goes."""
        if not self.arrived:
            self._supersede()
        self.arrived[step.id] = None
        self._join([step])

    def withdraw(self) -> None:
        """The planner's answer came to nothing: what had arrived of it and has not started goes."""
        gone = [id for id in self.arrived if self.state[id] == "waiting"]
        if gone:
            self._frontier.drop(gone)
            self.doomed = deque(id for id in self.doomed if id not in gone)
        for id in gone:
            self.state[id] = "superseded"
        self.arrived.clear()

    def replace(self, plan: Plan) -> None:
        """A fit plan takes the place of what is not done; of its steps, those that arrived before stand already."""
        if not self.arrived:
            self._supersede()
        self._join([step for step in plan.steps if step.id not in self.arrived])
        if self.arrived:
            self._frontier.order([step.id for step in plan.steps])
            for step in plan.steps:
                self.steps[step.id] = self.steps.pop(step.id)
        self.arrived.clear()
        self.done_since_plan = 0

    def _supersede(self) -> None:
        if self.failed:
            self.tried.add(signature(self.steps[id] for id in self.unfinished))
        self.state.update(dict.fromkeys(self.unfinished, "superseded"))
        for queue in (self.retry, self.doomed, self.failed):
            queue.clear()
        self._frontier = Frontier(self.limits)

    def _join(self, steps: Sequence[Step]) -> None:
        ids = [step.id for step in steps]
        again = self.steps.keys() & ids if self.steps else ()
        for id in again:  # a step that is planned again goes to the end, and its error is past
            del self.steps[id]
            self.errors.pop(id, None)
        self.steps.update(zip(ids, steps, strict=True))
        self.state.update(dict.fromkeys(ids, "waiting"))
        self._frontier.add(steps, self.results)
        if self.failed:
            # a step that arrives while the planner is still writing may wait for one that has failed meanwhile
            lost = {*self.failed, *(id for id, state in self.state.items() if state == "skipped")}
            self.doomed += [step.id for step in steps if not lost.isdisjoint(step.depends_on)]

    def start(self, id: str, attempt: int, attempts: int) -> None:
        """A ready step runs, or, at a later attempt, the first that is to be tried again."""
        if attempt == 1:
            if self.begun is not None:
                self.begun.append(self.steps[id])
            self._frontier.take(id)
        else:
            self.retry.remove(id)
            self._frontier.occupy(id)
        self.state[id] = "running"
        self.attempt[id] = _ONLY if attempts == 1 else (attempt, attempts)

    def hand_back(self, id: str) -> None:
        """A step that was started, and had not begun, waits again."""
        attempt, attempts = self.attempt.pop(id)
        self._frontier.release(id)
        self.state[id] = "waiting" if attempt == 1 else "failed"
        if attempt == 1:
            self._frontier.put(id)
        else:
            self.attempt[id] = (attempt - 1, attempts)
            self.retry.appendleft(id)

    def release(self, id: str) -> None:
        """A step's job is over: what it occupied is free."""
        self._frontier.release(id)

    def change(self, step: Step) -> None:
        """A step is to be carried out otherwise from now on."""
        self.steps[step.id] = step
        self._frontier.sort_in(step)

    def claim(self, id: str, result: object) -> None:
        """A step gave a result that has to be judged before it counts."""
        self.state[id] = "judging"
        self.claims[id] = result
        self.to_judge.append(id)

    def finish(self, id: str, result: object) -> None:
        """A step is done; what waited for it alone becomes ready."""
        self.state[id] = "done"
        self.results[id] = result
        if self.errors:
            self.errors.pop(id, None)
        self.done_since_plan += 1
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
