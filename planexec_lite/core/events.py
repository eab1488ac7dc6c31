"""What can happen in every run. A capability adds events of its own, in its own file; `planexec_lite.events` has them all.

`at` is in seconds since the run began, on the clock of the workers: real or simulated.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from planexec_lite.meter import Budget, ModelCall
from planexec_lite.plan import Plan, Problem
from planexec_lite.tools import Effects, Limit, MadeCall

Approval = Literal["approve", "reject", "change"]
PlanReason = Literal["first", "repair", "horizon", "failure", "news", "step", "stall"]
PauseReason = Literal["approval", "gate", "undo", "doubt", "budget"]
Status = Literal["finished", "failed", "stopped", "rolled back"]
PLANNER_FAILED = "planner_failed"  # the code of the problem when the planner raised an error


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened."""

    at: float

    @property
    def id(self) -> str | None:
        """What it is about: the id of a step, or the label of an undo; None: the planner, or the run."""
        return getattr(self, "step", None)


@dataclass(frozen=True, slots=True)
class Job(Event):
    """Work starts. Its outcome is recorded later, with the same `id`."""


@dataclass(frozen=True, slots=True)
class Outcome(Event):
    """A job has ended."""


@dataclass(frozen=True, slots=True)
class RunStarted(Event):
    """A goal was given. Everything that the rules need to know is in this event, so that a replay decides the same.

    It has the roles that exist, the limits, the effects of the tools, the tools that may delete or overwrite something, and
    whether steps may ask models. `pins` are the hashes of the tools by name: an approval is of these tools as they are now.
    """

    goal: str
    planner: bool
    reviewer: bool
    evaluator: bool = False
    limits: tuple[Limit, ...] = ()
    effects: dict[str, Effects] = field(default_factory=dict)
    models_in_steps: bool = False
    pins: dict[str, str] = field(default_factory=dict)
    destructive: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PlanStarted(Job):
    """The planner is asked.

    Why: there is no plan yet ("first"), the last plan was invalid ("repair"), its horizon is reached ("horizon"); or the rest
    is planned again after a "failure", "news", every "step", or a "stall".
    """

    reason: PlanReason


@dataclass(frozen=True, slots=True)
class PlanProposed(Outcome):
    """The planner answered. `plan` is None if the answer, in `text`, was no plan. No problems: the plan is valid.

    A planner that raised an error has one problem with the code "planner_failed". `granted_by` names the reviewer whose grant
    covers the plan; "": it needs an approval of its own. A model chooses the calls of the steps `model_chooses`.
    """

    plan: Plan | None
    problems: tuple[Problem, ...] = ()
    text: str = ""
    seconds: float = 0.0
    calls: tuple[ModelCall, ...] = ()
    granted_by: str = ""
    model_chooses: tuple[str, ...] = field(default=(), repr=False)

    @property
    def error(self) -> str | None:
        """The error that the planner raised; None: it answered."""
        return next((one.message for one in self.problems if one.code == PLANNER_FAILED), None)


@dataclass(frozen=True, slots=True)
class StepStarted(Job):
    """A step runs: attempt number `attempt` of at most `attempts`.

    `key` identifies the call and its occurrence in this run; with the run's id it makes the idempotency key. "": no effects.
    `inside` is the number of the run inside the step, if an agent carries it out; 0: there is none. `reserved` is how many model
    calls the step may make, if the run has a budget of them.
    """

    step: str
    attempt: int = 1
    attempts: int = 1
    key: str = field(default="", repr=False)
    inside: int = field(default=0, repr=False)
    reserved: int = field(default=0, repr=False)


@dataclass(frozen=True, slots=True)
class StepDone(Outcome):
    """The step gave a result (data: what JSON can hold), after `seconds` of work.

    `leaves`: the run inside it has left something that a rollback could undo, or must name.
    """

    step: str
    result: Any
    seconds: float = 0.0
    calls: tuple[ModelCall, ...] = ()
    leaves: bool = field(default=False, repr=False)


@dataclass(frozen=True, slots=True)
class StepFailed(Outcome):
    """The step raised an error or took longer than its timeout.

    In doubt: nobody knows what it did or still does, since it could not be stopped, or an at-most-once call was made before it
    failed. Final: its tool says that the error will not go away by itself. `leaves`: see `StepDone`.
    """

    step: str
    error: str
    seconds: float = 0.0
    calls: tuple[ModelCall, ...] = ()
    in_doubt: bool = False
    final: bool = False
    leaves: bool = field(default=False, repr=False)


@dataclass(frozen=True, slots=True)
class StepPaused(Outcome):
    """The step waits for a person; `reason` says why. It starts again after the decision.

    The run inside the step waits (`inside` says for what, and `short` which budget is used up), or the step's executor chose a
    `call` that needs approval. `made` are the calls with approval that were made before; they are not made again. In doubt: an
    at-most-once call was made in the run inside.
    """

    step: str
    reason: str
    seconds: float = 0.0
    calls: tuple[ModelCall, ...] = ()
    in_doubt: bool = False
    call: str = ""
    made: tuple[MadeCall, ...] = ()
    inside: PauseReason | None = None
    short: dict[str, str] = field(default_factory=dict)
    leaves: bool = field(default=False, repr=False)


@dataclass(frozen=True, slots=True)
class StepBlocked(Event):
    """An attempt of a step failed without a call, because a guard refused it. It counts as an attempt."""

    step: str
    error: str
    attempt: int = 1
    attempts: int = 1
    final: bool = False


@dataclass(frozen=True, slots=True)
class StepSkipped(Event):
    """A step will not run, because a step that it waits for was not done."""

    step: str
    reason: str


@dataclass(frozen=True, slots=True)
class Requeued(Outcome):
    """A job ended without an outcome, and starts again later; this attempt does not count.

    `step` is the id of the job; None: the planner. The workers gave it back before it began ("cancelled"), or nobody carried
    the run on any more ("interrupted").
    """

    step: str | None
    reason: Literal["cancelled", "interrupted"]


@dataclass(frozen=True, slots=True)
class Inside(Event):
    """Something happened inside a step: an event of a nested run, a thought, a call, an observation.

    `run` is the number of the nested run, from 1; 0: it is not part of one.
    """

    step: str
    event: Any
    run: int = 0


@dataclass(frozen=True, slots=True)
class Paused(Event):
    """The run waits for a decision.

    A person is asked for "approval" of the plan, about one `step` before its "gate" or its "undo", what became of a step in
    "doubt", or for more "budget". `step` may also name a call of the plan's rollback, as in `UndoStarted`. `short` says which
    budget is used up, and how much of it.

    At a gate, `why` says why a person is asked, and `about` what: the step, a `call` that its executor chose, a call that would
    be a `repeat`, or the run `inside` the step, which waits for `inside`.
    """

    reason: PauseReason
    step: str | None = None
    short: dict[str, str] = field(default_factory=dict)
    why: str = ""
    about: Literal["step", "call", "repeat", "inside"] = "step"
    inside: PauseReason | None = None

    @property
    def gate(self) -> str | None:
        """What a decision names: the step behind a gate, "undo 3", "doubt 3" or "budget"; None: it is about the plan."""
        if self.reason in ("undo", "doubt"):
            return f"{self.reason} {self.step}"
        return "budget" if self.reason == "budget" else self.step


@dataclass(frozen=True, slots=True)
class Grant:
    """What a reviewer allows to later plans: they may run without another approval while they stay within these bounds.

    A plan stays within them if it has at most `new_steps` new steps, none of them with a gate, and these, their undo and
    a new rollback call only tools that the approved plan calls without a gate. A step is new if it is not in the
    approved plan word for word. A step whose effects are "once", or whose tool is destructive, must not be new, nor any
    step that it depends on, however far back: its inputs would be others.
    """

    new_steps: int = 0

    def __post_init__(self) -> None:
        if type(self.new_steps) is not int or self.new_steps < 0:
            raise ValueError(f"new_steps={self.new_steps!r}: a grant is for zero or more new steps")


@dataclass(frozen=True, slots=True)
class Reviewed(Event):
    """A person or a rule decided about what the run waits for (see `Paused`). The run goes on.

    It is about the plan with this hash; or about `step`: a gate ("3"), an undo ("undo 3"), or a step in doubt, which was "done"
    and gave `result`, or was "not done". `plan` is the plan as the reviewer edited it; the hash is then of the edited plan.
    `grant` and `budget` are what was granted with an approval.
    """

    verdict: Literal[Approval, "done", "not done"]
    plan_hash: str
    by: str
    comment: str = ""
    step: str | None = None
    plan: Plan | None = None
    grant: Grant | None = None
    budget: Budget | None = None
    result: Any = None


@dataclass(frozen=True, slots=True)
class Ended(Event):
    """The run is over. `reason` says why, in words."""

    status: Status
    reason: str


@dataclass(frozen=True, slots=True)
class Thought:
    """Inside a step: what the executor's model said to itself."""

    text: str


@dataclass(frozen=True, slots=True)
class Action:
    """Inside a step: the executor's model called a tool."""

    tool: str
    params: Any


@dataclass(frozen=True, slots=True)
class Observation:
    """Inside a step: what the tool returned to the executor's model, as text; `error` says that it failed."""

    text: str
    error: bool = False


def gate_in_words(gate: str) -> str:
    """What a decision is about: "step 3", "the undo of step 3", "call 1 of the plan's rollback", "step 3, which is in doubt"."""
    if gate == "budget":
        return "the budget"
    if gate.startswith("doubt "):
        return f"step {gate.removeprefix('doubt ')}, which is in doubt"
    return undo_in_words(gate.removeprefix("undo ")) if gate.startswith("undo ") else f"step {gate}"


def undo_in_words(label: str) -> str:
    """What undoes something: "the undo of step 3", "call 1 of the plan's rollback", "call 1 of the rollback inside step 3"."""
    around, _, last = label.rpartition("/")
    listed = last.removeprefix("rollback ")
    if listed == last:
        return f"the undo of step {label}"
    return f"call {listed} of the rollback inside step {around}" if around else f"call {listed} of the plan's rollback"
