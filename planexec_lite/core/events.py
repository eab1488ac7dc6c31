"""The events of every run. Capabilities define further events in their own files, and `planexec_lite.run.events` lists them
all.

`at` is in seconds since the run began, on the workers' clock, real or simulated.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any, Literal

from planexec_lite.core.questions import Grant, Question, Verb
from planexec_lite.frozen import frozen
from planexec_lite.meter import Budget, ModelCall
from planexec_lite.plan import Plan, Problem
from planexec_lite.tools import Effects, KnownCall, Limit, MadeCall

PlanReason = Literal["first", "repair", "horizon", "failure", "news", "step", "stall"]
Status = Literal["finished", "failed", "stopped", "rolled back", "partly rolled back"]
PLANNER_FAILED = "planner_failed"  # the problem code for an error raised by the planner


@frozen
class Event:
    """Something that happened in a run."""

    at: float

    @property
    def id(self) -> str | None:
        """The id of the step, or the label of the undo, that the event is about; None for the planner or the whole
        run.
        """
        return getattr(self, "step", None)


@frozen
class Job(Event):
    """Work starts. A later event with the same `id` records its outcome."""


@frozen
class Outcome(Event):
    """A job has ended."""


@frozen
class RunStarted(Event):
    """A run began. The event contains what the rules read besides the policy, so that a replay makes the same decisions.

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


@frozen
class PlanStarted(Job):
    """The planner starts work on a plan.

    `reason`: the run needs its "first" plan, a "repair" of an invalid one, or more steps because the "horizon" is
    reached; or it replans after a "failure", "news", every "step", or a "stall".
    """

    reason: PlanReason


@frozen
class PlanProposed(Outcome):
    """The planner answered. The plan is valid if it has no problems.

    An answer that is not a plan is kept as `text`; `plan` is then None. If the planner raised an error, there is one
    problem with the code "planner_failed". `granted_by` names the reviewer whose grant covers the plan; "" if
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


@frozen
class StepStarted(Job):
    """A step starts: attempt number `attempt` of at most `attempts`.

    `call` identifies the call, and `number` is its occurrence in this run; together with the run's id they give the
    idempotency key. `call` is "" for a step without effects. `lane` keeps the calls apart that two steps choose at the
    same time (see `capabilities.once_calls`); 0: the step chooses none. `inside` is the number of the step's nested
    run, or 0 without one. `reserved` is the number of model calls that the step may make, if the run has a budget for
    them.
    """

    step: str
    attempt: int = 1
    attempts: int = 1
    call: str = field(default="", repr=False)
    number: int = field(default=0, repr=False)
    lane: int = field(default=0, repr=False)
    inside: int = field(default=0, repr=False)
    reserved: int = field(default=0, repr=False)

    @property
    def key(self) -> str:
        """The call and its occurrence in one text; "" for a step without effects."""
        return f"{self.call}-{self.number}" if self.call else ""


@frozen
class StepDone(Outcome):
    """The step returned a result that JSON can represent, after `seconds` of work.

    `leaves`: its nested run did something that a rollback could undo, or must list. `chosen`: the calls with effects
    that a model or a nested run chose inside the step.
    """

    step: str
    result: Any
    seconds: float = 0.0
    calls: tuple[ModelCall, ...] = ()
    leaves: bool = field(default=False, repr=False)
    chosen: tuple[KnownCall, ...] = field(default=(), repr=False)


@frozen
class StepFailed(Outcome):
    """The step raised an error or exceeded its timeout.

    `in_doubt`: its effect is unknown, because the step could not be stopped, or because an at-most-once call began
    before it failed. `final`: a retry can't help, or could run beside the attempt that could not be stopped. `leaves`,
    `chosen`: see `StepDone`; None: it is still at work, and has not said what it chose.
    """

    step: str
    error: str
    seconds: float = 0.0
    calls: tuple[ModelCall, ...] = ()
    in_doubt: bool = False
    final: bool = False
    leaves: bool = field(default=False, repr=False)
    chosen: tuple[KnownCall, ...] | None = field(default=(), repr=False)


@frozen
class StepPaused(Outcome):
    """The step waits for a person, and starts again after the decision.

    Its executor chose a call that needs approval, or its nested run asks the `question`, whose path then begins with
    this step. `made` are the approved calls that the step has already made; they are not repeated. `in_doubt`: an
    at-most-once call was made. `leaves`, `chosen`: see `StepDone`.
    """

    step: str
    question: Question
    seconds: float = 0.0
    calls: tuple[ModelCall, ...] = ()
    in_doubt: bool = False
    made: tuple[MadeCall, ...] = ()
    leaves: bool = field(default=False, repr=False)
    chosen: tuple[KnownCall, ...] = field(default=(), repr=False)


@frozen
class StepBlocked(Event):
    """A guard refused an attempt, so the step failed without a call. It counts as an attempt."""

    step: str
    error: str
    attempt: int = 1
    attempts: int = 1
    final: bool = False


@frozen
class StepSkipped(Event):
    """A step will not run, because a step that it depends on was not done."""

    step: str
    reason: str


@frozen
class Requeued(Outcome):
    """A job ended without an outcome and will start again. This attempt does not count.

    `step` is the job's id; None for the planner. The job was "cancelled" before it began, or the run was "interrupted".
    `chosen`: the calls with effects of its nested run, as far as the journal has them; see `StepDone`.
    """

    step: str | None
    reason: Literal["cancelled", "interrupted"]
    chosen: tuple[KnownCall, ...] = field(default=(), repr=False)


@frozen
class Inside(Event):
    """Something happened inside a step: an event of a nested run, a thought, a call or an observation.

    `run` is the number of the nested run, from 1; 0 if the event is not part of a nested run.
    """

    step: str
    event: Any
    run: int = 0


@frozen
class Paused(Event):
    """The run asks a person a `question`, and waits for the decision."""

    question: Question

    @property
    def reason(self) -> str:
        """What the run waits for: the kind of the question."""
        return self.question.kind

    @property
    def step(self) -> str | None:
        """The step of this run that the question is about, or the label of an undo; None for the plan or the budget."""
        return self.question.own_step


@frozen
class Reviewed(Event):
    """A person or a rule answered the question of `Paused`, and the run continues.

    `plan_hash` is the hash of the plan that the run carries out from now on, and `plan` the reviewer's edited plan.
    `step` is `Paused.step`. `grant` and `budget` were given with the approval, `result` with "done". `of` is the digest
    of the question, and `about` its subject as a phrase.
    """

    verdict: Verb
    plan_hash: str
    by: str
    comment: str = ""
    step: str | None = None
    plan: Plan | None = None
    grant: Grant | None = None
    budget: Budget | None = None
    result: Any = None
    of: str = ""
    about: str = "the plan"


@frozen
class Ended(Event):
    """The run is over; `reason` says why."""

    status: Status
    reason: str


@frozen
class Thought:
    """A thought of the executor's model, inside a step."""

    text: str


@frozen
class Action:
    """A tool call of the executor's model, inside a step."""

    tool: str
    params: Any


@frozen
class Observation:
    """Inside a step: the text that the executor's model received from a tool; `error` says that the call failed."""

    text: str
    error: bool = False
