"""Everything that can happen in a run, as frozen values.

A ``…Started`` event, but for `RunStarted`, is a job: whoever records it must see to it that its outcome is recorded one
day. All other events are facts. `at` is in seconds since the run began, on the clock of the workers: real, or simulated.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from planexec_lite.budget import Budget
from planexec_lite.events.answers import BudgetDenied, BudgetGranted, DoubtResolved
from planexec_lite.events.rollback import RollbackBegun, UndoDone, UndoFailed, UndoStarted
from planexec_lite.events.setbacks import (
    BackoffEnded,
    BackoffStarted,
    Interrupted,
    StepBlocked,
    StepCancelled,
    StepHeld,
    StepLate,
    StepPaused,
    StepSkipped,
)
from planexec_lite.meter import ModelCall
from planexec_lite.plan import Plan, Problem, Step
from planexec_lite.tools import Effects
from planexec_lite.tools.limits import Limit

Approval = Literal["approve", "reject", "change"]
Judgement = Literal["accept", "retry", "modify", "replan"]
PlanReason = Literal["first", "repair", "horizon", "failure", "news", "step", "stall"]
PauseReason = Literal["approval", "gate", "undo", "doubt", "budget"]
Status = Literal["finished", "failed", "stopped", "rolled back"]


@dataclass(frozen=True, slots=True)
class Grant:
    """What a reviewer allows to later plans: to go on without asking again while they stay within these bounds.

    A plan stays within them when it has at most `new_steps` new steps, none of them with a gate, and these, their undo and
    a new rollback call only tools that the approved plan calls without a gate. A step is new that does not stand in the
    approved plan word for word. A step whose effects are "once", or whose tool is destructive, must not be new, nor any
    step that it depends on, however far back: its inputs would be others.
    """

    new_steps: int = 0

    def __post_init__(self) -> None:
        if type(self.new_steps) is not int or self.new_steps < 0:
            raise ValueError(f"new_steps={self.new_steps!r}: a grant is for zero or more new steps")


@dataclass(frozen=True, slots=True)
class RunStarted:
    """A goal was given. What the rules need to know is named, so that a replay decides the same: the roles that exist,
    what may be used by how many steps at once, the tools whose calls change the world, those that may delete or overwrite
    something, and whether steps may ask models.
    `pins` are the hashes of the tools by name: an approval is of these tools as they are now.
    """

    at: float
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
class PlanStarted:
    """Job: the planner is asked.

    Why: there is no plan yet ("first"), the last was invalid ("repair"), its horizon is reached ("horizon"); or what is
    left is to be planned again, after a "failure", "news" from outside, every "step", or a "stall".
    """

    at: float
    reason: PlanReason


@dataclass(frozen=True, slots=True)
class StepProposed:
    """The planner, still writing, has put down a step that is valid and may start: what it waits for has arrived."""

    at: float
    step: Step


@dataclass(frozen=True, slots=True)
class PlanProposed:
    """Outcome: the planner answered. `plan` is None if the answer, in `text`, was no plan. No problems: it is valid.

    `granted_by` names the reviewer whose grant covers the plan; "" where it needs an approval of its own. `model_chooses` are
    the steps whose calls a model chooses, whatever they name.
    """

    at: float
    plan: Plan | None
    problems: tuple[Problem, ...] = ()
    text: str = ""
    seconds: float = 0.0
    calls: tuple[ModelCall, ...] = ()
    granted_by: str = ""
    model_chooses: tuple[str, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class PlanFailed:
    """Outcome: the planner raised an error and gave no answer."""

    at: float
    error: str
    seconds: float = 0.0
    calls: tuple[ModelCall, ...] = ()


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A person or a rule decided about the plan with this hash, or, where `step` is named, about that step's gate ("3") or
    its undo ("undo 3").

    `plan` is what the reviewer made of the plan, where it was edited; the hash is then that of the edited plan. `budget` is
    granted to the run inside the step, which waits for it, and to the runs around it.
    """

    at: float
    verdict: Approval
    plan_hash: str
    by: str
    comment: str = ""
    step: str | None = None
    plan: Plan | None = None
    grant: Grant | None = None
    budget: Budget | None = None


@dataclass(frozen=True, slots=True)
class StepStarted:
    """Job: a step runs, attempt number `attempt` of at most `attempts`.

    `key` identifies the call and its occurrence in this run; with the run's id it makes the idempotency key. "": no effects.
    """

    at: float
    step: str
    attempt: int = 1
    attempts: int = 1
    key: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class StepDone:
    """Outcome: the step gave a result (data: what JSON can hold), after `seconds` of work."""

    at: float
    step: str
    result: Any
    seconds: float = 0.0
    calls: tuple[ModelCall, ...] = ()


@dataclass(frozen=True, slots=True)
class StepFailed:
    """Outcome: the step raised an error or took longer than its timeout.

    In doubt: it was given up and could not be stopped, so that nobody knows what it still does; or a call that may be
    made once was made in it before it failed. Final: its tool says that the error will not go away by itself.
    """

    at: float
    step: str
    error: str
    seconds: float = 0.0
    calls: tuple[ModelCall, ...] = ()
    in_doubt: bool = False
    final: bool = False


@dataclass(frozen=True, slots=True)
class JudgeStarted:
    """Job: the evaluator is asked whether the step's result meets its success criterion."""

    at: float
    step: str


@dataclass(frozen=True, slots=True)
class Judged:
    """Outcome: the evaluator's verdict about a step, with its reason.

    "modify" gives the `changed` step, which is carried out instead. `rejects` names a done step that turned out to be
    at fault: it stays done, and a new step has to mend it.
    """

    at: float
    step: str
    verdict: Judgement
    reason: str = ""
    changed: Step | None = None
    rejects: str | None = None
    seconds: float = 0.0
    calls: tuple[ModelCall, ...] = ()


@dataclass(frozen=True, slots=True)
class JudgeFailed:
    """Outcome: the evaluator raised an error. The step counts as done, and stays unverified."""

    at: float
    step: str
    error: str
    seconds: float = 0.0
    calls: tuple[ModelCall, ...] = ()


@dataclass(frozen=True, slots=True)
class News:
    """Somebody outside says something that the planner should know: the rest is planned again."""

    at: float
    text: str


@dataclass(frozen=True, slots=True)
class Inside:
    """Something that happened inside a step: an event of a nested run, a thought, a call, an observation."""

    at: float
    step: str
    event: Any


@dataclass(frozen=True, slots=True)
class Paused:
    """The run waits for a decision from outside.

    It is asked for "approval" of the plan, or of one `step` behind its "gate", or of its "undo"; for what became of a step in
    "doubt"; or for more "budget". `step` may also name a call of the plan's rollback, as in `UndoStarted`. `short` says of what
    the budget is used up, and how much of it, in words.
    """

    at: float
    reason: PauseReason
    step: str | None = None
    short: dict[str, str] = field(default_factory=dict)

    @property
    def gate(self) -> str | None:
        """What a decision names: the step behind a gate, "undo 3", "doubt 3", or "budget"; None: it is about the plan."""
        if self.reason in ("undo", "doubt"):
            return f"{self.reason} {self.step}"
        return "budget" if self.reason == "budget" else self.step


def gate_in_words(gate: str) -> str:
    """What a decision is about: "step 3", "the undo of step 3", "call 1 of the plan's rollback", "step 3, which is in doubt"."""
    if gate == "budget":
        return "the budget"
    if gate.startswith("doubt "):
        return f"step {gate.removeprefix('doubt ')}, which is in doubt"
    if not gate.startswith("undo "):
        return f"step {gate}"
    return undo_in_words(gate.removeprefix("undo "))


def undo_in_words(label: str) -> str:
    """What takes something back: "the undo of step 3", "call 1 of the plan's rollback", "call 1 of the rollback inside step 3"."""
    around, _, last = label.rpartition("/")
    listed = last.removeprefix("rollback ")
    if listed == last:
        return f"the undo of step {label}"
    return f"call {listed} of the rollback inside step {around}" if around else f"call {listed} of the plan's rollback"


@dataclass(frozen=True, slots=True)
class Ended:
    """The run is over. `reason` says in words why."""

    at: float
    status: Status
    reason: str


Job = PlanStarted | StepStarted | JudgeStarted | BackoffStarted | UndoStarted
JOBS = (StepStarted, JudgeStarted, PlanStarted, BackoffStarted, UndoStarted)
Outcome = (
    PlanProposed
    | PlanFailed
    | StepDone
    | StepFailed
    | StepCancelled
    | Judged
    | JudgeFailed
    | BackoffEnded
    | UndoDone
    | UndoFailed
)
# A new event is exported in `events`, gets a case in `Board._fold` and in `views.narration.sentence`, and a sample in the
# tests of the events; the type checker asks for the two cases.
Event = (
    RunStarted
    | Job
    | Outcome
    | StepProposed
    | StepHeld
    | StepBlocked
    | StepPaused
    | Interrupted
    | StepLate
    | Reviewed
    | DoubtResolved
    | BudgetGranted
    | BudgetDenied
    | News
    | StepSkipped
    | RollbackBegun
    | Inside
    | Paused
    | Ended
)
