"""The board: a run's state, computed from its events. The same events always give the same board, without I/O or a
clock.

- A valid plan replaces the unfinished steps: done steps stay, the others are superseded.
- A step is ready when it is waiting and all its dependencies are done. A step with `run_anyway` is also ready when they
  have failed or were skipped.
- A failed step with attempts left is queued for a retry. When a step fails for good, the waiting steps that depend on
  it are unreachable.
- A step that the planner streams while it is still writing joins the plan at once. It is withdrawn if the finished
  answer is not a valid plan.
- An event that does not fit the state of its step is refused and changes nothing.

A capability adds its own part of the state and its own reactions to events: see `Capability`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, NoReturn, Self, TypeVar
from weakref import ref

from planexec_lite.core.events import (
    Ended,
    Event,
    Inside,
    Job,
    Outcome,
    Paused,
    Reviewed,
    RunStarted,
    StepBlocked,
    StepFailed,
    StepStarted,
)
from planexec_lite.core.part import State
from planexec_lite.core.questions import Question
from planexec_lite.core.ready_queue import ReadyQueue
from planexec_lite.core.tasks import Work
from planexec_lite.meter import ModelCall
from planexec_lite.plan import Plan, Problem, Step
from planexec_lite.tools import REPEATABLE, Effects

P = TypeVar("P")
R = TypeVar("R")


class Moves(NamedTuple):
    """How an event changes the state of its step: a verb for error messages, and a table from old state to new
    state.
    """

    verb: str
    states: Mapping[State | None, State]


class IllegalTransition(ValueError):
    """An event was impossible in the current state. The board is unchanged.

    Attributes:
        transition: the intended change, such as "start".
        step: the step's id; None if the event is about the plan.
        state: the step's current state; None if the step does not exist.
        event: the refused event.
    """

    def __init__(
        self, transition: str, step: str | None, state: str | None, why: str = ""
    ) -> None:
        super().__init__(transition, step, state, why)
        self.transition, self.step, self.state, self.why = transition, step, state, why
        self.event: object = None

    def __str__(self) -> str:
        which = "the plan" if self.step is None else f"step {self.step}"
        stands = self.why or (f"it is {self.state}" if self.state else "the step does not exist")
        event = f"{type(self.event).__name__}: " if self.event is not None else ""
        return f"{event}{which} can't {self.transition}: {stands}"


Handler = Callable[["Board", Any], None]
"""Checks an event, or updates the board with it."""
PlanCheck = Callable[[Plan, "Board", Any, Any], Iterable[Problem]]
"""Yields what makes a planner's plan invalid in this run, given the plan, the board, the policy and the executor."""


class Capability(NamedTuple):
    """What one capability adds.

    Its part of the board, and how events change it:

    Args:
        part: a subclass of `Part` with its part of the state, available as ``board[Part]``. Each board has its own copies of
            the containers among its defaults.
        moves: by event type, how the state of the event's step changes.
        checks: by event type or base type, a function that raises `IllegalTransition` if the event is impossible.
        folds: by event type or base type, a function that updates the board.
        takes_result: is called with each step result. It returns True if the capability handles the result; if all
            return False, the step is done.
        takes_failure: is called with each `StepFailed`. It returns True if the capability handles the failure; if all
            return False, the attempt has failed.
        before_plan: is called with each valid plan, before it replaces the unfinished steps.

    What its jobs do, and what it says about plans:

        work: by type of job, how the job is carried out, and what follows from its outcome.
        context: by type of job, a function of agent, run and job that returns fields of the job's `JobContext`.
        emits: by type of a value that a running job emits, a function of time and value that returns its event.
            Other values become `Inside` events.
        plan_checks: the checks of a planner's plan.
    """

    part: type | None = None
    moves: Mapping[type[Event], Moves] = {}
    checks: Mapping[type[Event], Handler] = {}
    folds: Mapping[type[Event], Handler] = {}
    takes_result: Callable[[Board, str, object], bool] | None = None
    takes_failure: Callable[[Board, StepFailed], bool] | None = None
    before_plan: Callable[[Board, Plan], None] | None = None
    work: Mapping[type[Job], Work] = {}
    context: Mapping[type[Job], Callable[[Any, Any, Any], dict[str, Any]]] = {}
    emits: Mapping[type, Callable[[float, Any], Event]] = {}
    plan_checks: Sequence[PlanCheck] = ()

    @property
    def events(self) -> set[type[Event]]:
        """The event types that it reacts to or that start its jobs, without base types."""
        return {*self.moves, *self.checks, *self.folds, *self.work} - {Event, Job, Outcome}


class Handlers(NamedTuple):
    """The handlers of an event type, collected from all capabilities."""

    moves: Moves | None
    checks: tuple[Handler, ...]
    folds: tuple[Handler, ...]


class Board:
    """A run's complete state. Read it freely, but change it only through `apply`.

    The states and results of steps are written in this file only: folds call methods such as `give`, `fail` and `hold`.

    Attributes:
        started: the `RunStarted` event, with the goal, roles, limits and tools; `is_begun` says whether it has
            happened.
        now: seconds since the run began.
        in_flight: the running jobs by id: a step's id, the label of an undo, or None for the planner. The folds of an
            outcome still find its job here.
        calls: the model calls so far, in the order in which they were reported.
        reviews: the decisions so far.
        paused, ended: the event that paused or ended the run, or None. `questions` counts the pauses.
        proposal: the planner's latest valid plan, with the reviewer's edits; `plans` is the number of plans.
        model_chooses: the ids of the latest plan's steps whose calls a model chooses.
        problems: the problems of the planner's latest answer; `invalid_text` is that answer.
        steps: the steps of all plans so far by id, in plan order.
        state, results, errors, attempt, effects: by step id. An attempt is a pair: its number, and the maximum. The
            effects are the declared ones of the step or its tool, the stronger of both.
        brought_by: by step id, the number, from 1, of the plan that contained this version of the step first.
        failed: the steps that failed for good. `retry`: the steps queued for a retry.
        queue: which steps can start, and which can't be reached any more.
        arrived: the streamed steps of a plan that the planner is still writing.
        steps_started: the number of steps that were started; retries don't count.
    """

    capabilities: ClassVar[Sequence[Capability]] = ()
    moves: ClassVar[dict[type, Moves]]
    """By event type, how the state of its step changes. Folds change it further by the methods of the board, such as `hold`."""
    _handlers: ClassVar[dict[type, Handlers]]
    _hooks: ClassVar[dict[str, list[Callable[..., Any]]]]

    def __init_subclass__(cls) -> None:
        cls.moves, cls._handlers = {}, {}
        for one in cls.capabilities:
            if twice := cls.moves.keys() & one.moves.keys():
                raise TypeError(f"two capabilities move {[kind.__name__ for kind in twice]}")
            cls.moves |= one.moves
        cls._hooks = {
            name: [*filter(None, (getattr(one, name) for one in cls.capabilities))]
            for name in ("takes_result", "takes_failure", "before_plan")
        }

    @classmethod
    def _handlers_of(cls, kind: type[Event]) -> Handlers:
        """Collect the handlers of an event type when its first event arrives. Handlers of base types run first."""
        bases, known = kind.__mro__[::-1], cls.capabilities
        checks = tuple(one.checks[base] for one in known for base in bases if base in one.checks)
        folds = tuple(one.folds[base] for one in known for base in bases if base in one.folds)
        handlers = cls._handlers[kind] = Handlers(cls.moves.get(kind), checks, folds)
        return handlers

    def __init__(self) -> None:
        self.started = RunStarted(0.0, "", planner=False, reviewer=False)
        self.is_begun = False
        self.now = 0.0
        self.in_flight: dict[str | None, Job] = {}
        self.calls: list[ModelCall] = []
        self.reviews: list[Reviewed] = []
        self.paused: Paused | None = None
        self.questions = 0
        self.ended: Ended | None = None
        self.proposal: Plan | None = None
        self.plans = 0
        self.model_chooses: tuple[str, ...] = ()
        self.problems: tuple[Problem, ...] = ()
        self.invalid_text = ""
        self.invalid_in_a_row = 0
        self.steps: dict[str, Step] = {}
        self.state: dict[str, State] = {}
        self.results: dict[str, Any] = {}
        self.errors: dict[str, str] = {}
        self.attempt: dict[str, tuple[int, int]] = {}
        self.failed: dict[str, None] = {}
        self.retry: deque[str] = deque()
        self.arrived: dict[str, None] = {}
        self.steps_started = 0
        self.queue = ReadyQueue()
        self.brought_by: dict[str, int] = {}
        self.effects: dict[str, Effects] = {}
        self._parts: dict[type, Any] = {
            one.part: one.part() for one in self.capabilities if one.part is not None
        }

    @classmethod
    def of(cls, events: Iterable[Event]) -> Self:
        """Return the board after these events. Raises `IllegalTransition` if one of them is impossible."""
        board = cls()
        for event in events:
            board.apply(event)
        return board

    def __getitem__(self, part: type[P]) -> P:
        part_of: P = self._parts[part]
        return part_of

    if not TYPE_CHECKING:  # the type checker reports unknown names

        def __getattr__(self, name: str) -> Any:
            """Copy a value when it is read for the first time, on a copy that `show` passed on."""
            original = vars(self).get("_original")
            if original is None or name not in vars(original):
                raise AttributeError(f"a Board has no attribute {name!r}")
            value = vars(original)[name]
            if name == "_parts":
                value = {kind: part.copy() for kind, part in value.items()}
            elif isinstance(value, (dict, list, deque, ReadyQueue)):
                value = value.copy()
            setattr(self, name, value)
            return value

    def _values(self) -> dict[str, Any]:
        """Return all values of the board, and copy those that nobody has read yet."""
        if original := vars(self).get("_original"):
            for name in vars(original):
                getattr(self, name)
            del vars(self)["_original"]
        return vars(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Board) and self._values() == other._values()

    def copy(self) -> Self:
        """Return an independent copy."""
        return self.show(lambda board: board)

    def show(self, role: Callable[[Self], R]) -> R:
        """Return what `role` returns for a copy of the board. Only what `role` reads is copied, or all if it keeps the copy."""
        other = type(self).__new__(type(self))
        self._values()
        vars(other)["_original"] = self
        try:
            return role(other)
        finally:
            kept = ref(other)
            del other
            if (board := kept()) is not None:
                board._values()

    def __repr__(self) -> str:
        states = [state for state in self.state.values() if state != "superseded"]
        return f"Board({states.count('done')} of {len(states)} steps done)"

    def apply(self, event: Event) -> None:
        """Apply one event. Raises `IllegalTransition` if it is impossible; the board is then unchanged."""
        kind = type(event)
        moves, checks, folds = self._handlers.get(kind) or self._handlers_of(kind)
        try:
            if moves is not None:
                step_id: str = event.step  # type: ignore[attr-defined]
                state = moves.states.get(self.state.get(step_id))
                if state is None:
                    self.refuse(moves.verb, step_id)
            for check in checks:
                check(self, event)
        except IllegalTransition as problem:
            problem.event = event
            raise
        if moves is not None and state is not None:
            self.state[step_id] = state
        for fold in folds:
            fold(self, event)
        if kind is Reviewed:
            self.paused = None
        elif isinstance(event, Outcome):
            self.in_flight.pop(event.id, None)
        if kind is not Inside:  # it is reported when its step has ended, with an earlier time
            self.now = event.at

    def refuse(self, transition: str, step_id: str | None, why: str = "") -> NoReturn:
        """Raise `IllegalTransition` about this step in its current state, or, without a step, about the plan."""
        raise IllegalTransition(transition, step_id, self.state.get(step_id or ""), why)

    # Plans

    def adopt(self, plan: Plan) -> None:
        """Replace the unfinished steps with those of a valid plan. Steps of this plan that were already streamed
        stay.
        """
        for before_plan in self._hooks["before_plan"]:
            before_plan(self, plan)
        self._join([step for step in plan.steps if step.id not in self.arrived])
        if self.arrived:  # in the order of writing; now that of the finished plan applies
            for step in plan.steps:
                self.steps[step.id] = self.steps.pop(step.id)
            self._index()
        self.arrived.clear()
        self.proposal, self.problems, self.invalid_text, self.invalid_in_a_row = plan, (), "", 0

    def arrive(self, step: Step) -> None:
        """Add a streamed step while the planner is still writing. The first one supersedes the previous plan."""
        self._join([step])
        self.arrived[step.id] = None

    def reject(self, problems: tuple[Problem, ...], text: str) -> None:
        """Record an invalid answer of the planner. Its streamed steps that have not started are withdrawn."""
        self.withdraw()
        self.problems, self.invalid_text = problems, text
        self.invalid_in_a_row += 1

    def withdraw(self) -> None:
        """Supersede the streamed steps of an unfinished plan that have not started."""
        gone = [step_id for step_id in self.arrived if self.state[step_id] == "waiting"]
        if gone:
            self.state.update(dict.fromkeys(gone, "superseded"))
            self._index()
        self.arrived.clear()

    def check_new(self, ids: Iterable[str]) -> None:
        """Raise `IllegalTransition` if a plan would replace a step that is running or done."""
        replaced = () if self.arrived else self.unfinished
        for verb, checked in (("propose", ids), ("supersede", replaced)):
            for step_id in checked:
                state = self.state.get(step_id, "waiting")
                if state not in ("waiting", "failed", "skipped", "superseded"):
                    self.refuse(verb, step_id)

    def _supersede(self) -> None:
        self.plans += 1
        self.state.update(dict.fromkeys(self.unfinished, "superseded"))
        self.retry.clear()
        self.failed.clear()
        self.queue = ReadyQueue(self.started.limits)

    def _join(self, steps: Sequence[Step]) -> None:
        if not self.arrived:
            self._supersede()
        for step in steps:  # a step that is planned again moves to the end, without its old error
            if self.steps.pop(step.id, None) != step:
                self.brought_by[step.id] = self.plans
            self.errors.pop(step.id, None)
            self.steps[step.id] = step
            self.state[step.id] = "waiting"
            self.effects[step.id] = self.effects_of(step)
        self.queue.add(steps, self.state)

    def _index(self) -> None:
        """Rebuild the ready queue from the steps and their states."""
        self.queue = ReadyQueue(self.started.limits, self.queue.lost)
        self.queue.add([self.steps[step_id] for step_id in self.unfinished], self.state)

    # Steps

    def begin(self, event: StepStarted | StepBlocked) -> None:
        """Start an attempt, which takes the step's slots."""
        step_id = event.step
        if event.attempt == 1:
            self.queue.take(step_id)
            self.steps_started += 1
        else:
            self.retry.remove(step_id)
        self.queue.acquire(step_id)
        self.attempt[step_id] = event.attempt, event.attempts

    def give(self, step_id: str, result: object) -> None:
        """Release the slots of a step that returned `result`. The step is done, unless a capability handles the
        result.
        """
        self.queue.release(step_id)
        for take_result in self._hooks["takes_result"]:
            if take_result(self, step_id, result):
                return
        self.finish(step_id, result)

    def hold(self, step_id: str, state: Literal["judging", "in doubt"]) -> None:
        """A started step is neither done nor failed yet: its result is judged, or it might have been done."""
        self.state[step_id] = state

    def take_back(self, step_id: str) -> None:
        """A done step is undone; its result no longer counts."""
        self.state[step_id] = "undone"
        del self.results[step_id]

    def finish(self, step_id: str, result: object) -> None:
        """Mark a step as done. Steps that were waiting only for it become ready."""
        self.state[step_id], self.results[step_id] = "done", result
        if self.errors:
            self.errors.pop(step_id, None)
        self.queue.finish(step_id)

    def break_off(self, event: StepFailed) -> None:
        """Release the slots of a step that failed. The attempt has failed, unless a capability handles the failure."""
        for take_failure in self._hooks["takes_failure"]:
            if take_failure(self, event):
                return
        self.queue.release(event.step)
        self.fail(event.step, event.error, final=event.final)

    def fail(self, step_id: str, error: str, *, final: bool = False) -> None:
        """Record a failed attempt. If attempts are left and the failure is not `final`, the step is queued for a
        retry.
        """
        self.state[step_id], self.errors[step_id] = "failed", error
        attempt, attempts = self.attempt[step_id]
        if attempt < attempts and not final:
            self.retry.append(step_id)
        else:
            self.failed[step_id] = None
            self.queue.lose(step_id)

    def requeue(self, step_id: str) -> None:
        """Return a started step to the state before its latest attempt, which does not count."""
        attempt, attempts = self.attempt.pop(step_id)
        self.queue.release(step_id)
        if attempt == 1:
            self.state[step_id] = "waiting"
            self.steps_started -= 1
            self.queue.put(step_id)
        else:
            self.state[step_id], self.attempt[step_id] = "failed", (attempt - 1, attempts)
            self.retry.appendleft(step_id)

    def retries(self) -> Iterator[StepStarted]:
        """Yield the next attempt of each failed step that has a free slot."""
        for step_id in self.retry:
            if self.queue.has_slot(step_id):
                attempt, attempts = self.attempt[step_id]
                yield StepStarted(self.now, step_id, attempt + 1, attempts)

    # Values to read

    @property
    def goal(self) -> str:
        """The goal of the run."""
        return self.started.goal

    @property
    def has_planner(self) -> bool:
        """Whether there is a planner to ask."""
        return self.started.planner

    @property
    def has_reviewer(self) -> bool:
        """Whether a reviewer approves plans."""
        return self.started.reviewer

    @property
    def asked(self) -> Question:
        """The question that a paused run asks."""
        assert self.paused is not None
        return self.paused.question

    @property
    def planning(self) -> bool:
        """Whether the planner is working. Meanwhile only steps that it has already streamed can start."""
        return None in self.in_flight

    @property
    def plan(self) -> Plan:
        """The merged plan: the done steps and the steps of the latest plan."""
        steps = tuple(
            step for step_id, step in self.steps.items() if self.state[step_id] != "superseded"
        )
        latest = self.proposal or Plan()
        return latest.changed(goal=latest.goal or self.goal, steps=steps)

    @property
    def done(self) -> tuple[str, ...]:
        """The ids of the done steps, in order of completion."""
        return tuple(self.results)

    @property
    def unfinished(self) -> tuple[str, ...]:
        """The ids of the latest plan's steps that are not done."""
        return tuple(
            step_id
            for step_id in self.steps
            if self.state[step_id] not in ("done", "superseded", "undone")
        )

    def kept_by(self, plan: Plan) -> set[str]:
        """Return the ids of the steps that `plan` contains unchanged."""
        return {step.id for step in plan.steps if self.steps.get(step.id) == step}

    def effects_of(self, step: Step) -> Effects:
        """Return a step's declared effects: its own declaration or its tool's, the stronger of both."""
        return step.effects_with(self.started.effects)

    def repeatable(self, step: Step) -> bool:
        """Return whether the step is declared safe to repeat."""
        return self.effects_of(step) in REPEATABLE
