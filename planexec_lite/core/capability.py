"""A capability: one value with all that retries, approval or another ability adds to a run.

`planexec_lite.assembly` lists the capabilities, and puts their rules and guards in order. The tables by type of
event or job are collected from this list.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

from pydantic import ConfigDict

from planexec_lite.core.events import Event, Job, Outcome, StepFailed
from planexec_lite.core.tasks import Work
from planexec_lite.plan import Plan, Problem

if TYPE_CHECKING:
    from planexec_lite.core.board import Board

State = Literal[
    "waiting",
    "running",
    "judging",
    "in doubt",
    "done",
    "failed",
    "skipped",
    "superseded",
    "undone",
]
SETTINGS = ConfigDict(strict=True, allow_inf_nan=False, defer_build=True, extra="forbid")
"""How dataclasses of settings check their values: by the types and bounds of their fields. Nothing is converted,
and an unknown name is an error.
"""
Handler = Callable[["Board", Any], None]
"""Checks an event, or updates the board with it."""
PlanCheck = Callable[[Plan, "Board", Any, Any], Iterable[Problem]]
"""Yields what makes a planner's plan invalid in this run, given the plan, the board, the policy and the executor."""


class Moves(NamedTuple):
    """How an event changes the state of its step: a verb for error messages, and a table from old state to new
    state.
    """

    verb: str
    states: Mapping[State | None, State]


class Capability(NamedTuple):
    """What one capability adds.

    Its part of the board, and how events change it:

    Args:
        part: a dataclass with its part of the state, available as ``board[Part]``.
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


class Part:
    """The base of a capability's part of the board, and of its ready queue: named values with their defaults.

    Each part has its own copies of the containers among the defaults. A name that begins with "_" is a cache: it is no state,
    so it does not count when boards are compared.
    """

    def __init__(self) -> None:
        for name in type(self).__annotations__:
            setattr(self, name, copied_containers(getattr(self, name)))

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and _state(self) == _state(other)

    def copy(self) -> Self:
        """Return a copy that shares no container with this part. Events and other frozen values are shared."""
        other = type(self)()
        vars(other).update(copied_containers(vars(self)))
        return other


def _state(part: Part) -> dict[str, Any]:
    return {name: value for name, value in vars(part).items() if not name.startswith("_")}


_CONTAINERS = frozenset({dict, list, set, deque, Counter, defaultdict})


def copied_containers(value: Any) -> Any:
    """Return a copy of a container with all containers inside; other values are returned as they are."""
    if type(value) not in _CONTAINERS:
        return value
    copy = value.copy()
    by_place = copy if isinstance(copy, dict) else dict(enumerate(copy))
    if not _CONTAINERS.isdisjoint(
        map(type, by_place.values())
    ):  # most containers have no others inside
        for place, inner in by_place.items():
            copy[place] = copied_containers(inner)
    return copy
