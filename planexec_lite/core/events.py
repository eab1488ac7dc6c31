"""The events of every run. Capabilities define further events in their own files, and `planexec_lite.events` lists them
all.

`at` is in seconds since the run began, on the workers' clock, real or simulated.
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
PLANNER_FAILED = "planner_failed"  # the problem code for an error raised by the planner


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened in a run."""

    at: float

    @property
    def id(self) -> str | None:
        """The id of the step, or the label of the undo, that the event is about; None for the planner or the whole
        run.
        """
        return getattr(self, "step", None)


@dataclass(frozen=True, slots=True)
class Job(Event):
    """Work starts. A later event with the same `id` records its outcome."""


@dataclass(frozen=True, slots=True)
class Outcome(Event):
    """A job has ended."""


@dataclass(frozen=True, slots=True)
class RunStarted(Event):
    """A run began. The event contains everything that the rules read, so that a replay makes the same decisions.

    It records the roles, the limits, the effects of the tools, the destructive tools (those that can delete or
    overwrite data), and whether steps can ask models. `pins` are the hashes of the tools by name: an approval covers
    exactly these tools.
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
    """The planner starts work on a plan.

    `reason`: the run needs its "first" plan, a "repair" of an invalid one, or more steps because the "horizon" is
    reached; or it replans after a "failure", "news", every "step", or a "stall".
    """

    reason: PlanReason


@dataclass(frozen=True, slots=True)
class PlanProposed(Outcome):
    """The planner answered. The plan is valid if it has no problems.

    `plan` is None if the planner's answer, `text`, could not be read as a plan. If the planner raised an error, there
    is one problem with the code "planner_failed". `granted_by` names the reviewer whose grant covers the plan; "" if
    the plan needs a new approval. `model_chooses` are the ids of the steps whose calls a model chooses.
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
        """The error that the planner raised, or None."""
        return next((one.message for one in self.problems if one.code == PLANNER_FAILED), None)


@dataclass(frozen=True, slots=True)
class StepStarted(Job):
    """A step starts: attempt number `attempt` of at most `attempts`.

    `key` identifies the call and its occurrence in this run; together with the run's id it gives the idempotency key.
    It is "" for a step without effects. `inside` is the number of the step's nested run, or 0 without one. `reserved`
    is the number of model calls that the step may make, if the run has a budget for them.
    """

    step: str
    attempt: int = 1
    attempts: int = 1
    key: str = field(default="", repr=False)
    inside: int = field(default=0, repr=False)
    reserved: int = field(default=0, repr=False)


@dataclass(frozen=True, slots=True)
class StepDone(Outcome):
    """The step returned a result that JSON can represent, after `seconds` of work.

    `leaves`: its nested run did something that a rollback could undo, or must list.
    """

    step: str
    result: Any
    seconds: float = 0.0
    calls: tuple[ModelCall, ...] = ()
    leaves: bool = field(default=False, repr=False)


@dataclass(frozen=True, slots=True)
class StepFailed(Outcome):
    """The step raised an error or exceeded its timeout.

    `in_doubt`: its effect is unknown, because the step could not be stopped, or because it made an at-most-once call
    before it failed. `final`: its tool declares that a retry can't help. `leaves`: see `StepDone`.
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

    Either its nested run waits for the decision `inside` (`short` lists the budgets that are used up), or its executor
    chose a `call` that needs approval. `made` are the approved calls that the step has already made; they are not
    repeated. `in_doubt`: the nested run made an at-most-once call.
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
    """A guard refused an attempt, so the step failed without a call. It counts as an attempt."""

    step: str
    error: str
    attempt: int = 1
    attempts: int = 1
    final: bool = False


@dataclass(frozen=True, slots=True)
class StepSkipped(Event):
    """A step will not run, because a step that it depends on was not done."""

    step: str
    reason: str


@dataclass(frozen=True, slots=True)
class Requeued(Outcome):
    """A job ended without an outcome and will start again. This attempt does not count.

    `step` is the job's id; None for the planner. The job was "cancelled" before it began, or the run was "interrupted".
    """

    step: str | None
    reason: Literal["cancelled", "interrupted"]


@dataclass(frozen=True, slots=True)
class Inside(Event):
    """Something happened inside a step: an event of a nested run, a thought, a call or an observation.

    `run` is the number of the nested run, from 1; 0 if the event is not part of a nested run.
    """

    step: str
    event: Any
    run: int = 0


@dataclass(frozen=True, slots=True)
class Paused(Event):
    """The run waits for a decision.

    A person is asked for "approval" of the plan, about a `step` before its "gate" or its "undo", whether a step in
    "doubt" was done, or for more "budget". `step` can also name a call of the plan's rollback, as in `UndoStarted`.
    `short` says which budgets are used up, and how much was used.

    At a gate, `why` is the reason for the question. `about` is its subject: the step, a `call` that its executor chose,
    a call that would be a `repeat`, or the nested run, which waits for `inside`.
    """

    reason: PauseReason
    step: str | None = None
    short: dict[str, str] = field(default_factory=dict)
    why: str = ""
    about: Literal["step", "call", "repeat", "inside"] = "step"
    inside: PauseReason | None = None

    @property
    def gate(self) -> str | None:
        """The value that `Decision.gate` must have: the step behind a gate, "undo 3", "doubt 3" or "budget"; None
        for the plan.
        """
        if self.reason in ("undo", "doubt"):
            return f"{self.reason} {self.step}"
        return "budget" if self.reason == "budget" else self.step


@dataclass(frozen=True, slots=True)
class Grant:
    """Bounds within which later plans can run without another approval.

    A plan is within the bounds if it has at most `new_steps` new steps, and none of them has a gate. A step is new if
    it differs from all steps of the approved plan. New steps, their undos and new rollback calls can use only tools
    that the approved plan calls without a gate. A step with effects "once", or with a destructive tool, has to be
    unchanged, and so do all its direct and indirect dependencies, because otherwise its inputs would differ.
    """

    new_steps: int = 0

    def __post_init__(self) -> None:
        if type(self.new_steps) is not int or self.new_steps < 0:
            raise ValueError(f"new_steps={self.new_steps!r}: a grant is for zero or more new steps")


@dataclass(frozen=True, slots=True)
class Reviewed(Event):
    """A person or a rule answered the question of `Paused`, and the run continues.

    The decision is about the plan with this hash; or about `step`: a gate ("3"), an undo ("undo 3"), or a step in
    doubt, which was "done" with `result`, or "not done". `plan` is the reviewer's edited plan, and the hash is then
    that of the edited plan. `grant` and `budget` were given with the approval.
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
    """The run is over; `reason` says why."""

    status: Status
    reason: str


@dataclass(frozen=True, slots=True)
class Thought:
    """A thought of the executor's model, inside a step."""

    text: str


@dataclass(frozen=True, slots=True)
class Action:
    """A tool call of the executor's model, inside a step."""

    tool: str
    params: Any


@dataclass(frozen=True, slots=True)
class Observation:
    """Inside a step: the text that the executor's model received from a tool; `error` says that the call failed."""

    text: str
    error: bool = False


def gate_in_words(gate: str) -> str:
    """Return the subject of a decision: "step 3", "the undo of step 3", "call 1 of the plan's rollback", "step 3,
    which is in doubt".
    """
    if gate == "budget":
        return "the budget"
    if gate.startswith("doubt "):
        return f"step {gate.removeprefix('doubt ')}, which is in doubt"
    return undo_in_words(gate.removeprefix("undo ")) if gate.startswith("undo ") else f"step {gate}"


def undo_in_words(label: str) -> str:
    """Return the name of an undo: "the undo of step 3", "call 1 of the plan's rollback", "call 1 of the rollback
    inside step 3".
    """
    around, _, last = label.rpartition("/")
    listed = last.removeprefix("rollback ")
    if listed == last:
        return f"the undo of step {label}"
    return f"call {listed} of the rollback inside step {around}" if around else f"call {listed} of the plan's rollback"
