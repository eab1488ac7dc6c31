"""Everything that can happen in a run, as frozen values.

A ``…Started`` event is a job: whoever records it must see to it that its outcome is recorded one day. All other events
are facts. `at` is in seconds since the run began, on the clock of the workers: real, or simulated.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any, Literal

from planexec_lite.frozen import frozen
from planexec_lite.limits import Limit
from planexec_lite.meter import ModelCall
from planexec_lite.plan import Plan, Problem, Step
from planexec_lite.tools import Effects

Approval = Literal["approve", "reject", "change"]
Judgement = Literal["accept", "retry", "modify", "replan"]
Status = Literal["finished", "failed", "stopped", "rolled back"]


@frozen
class Grant:
    """What a reviewer allows to later plans: to go on without asking again while they stay within these bounds.

    A plan stays within them when it calls only tools of the approved plan, has no new step whose effects are "once",
    and at most `new_steps` new steps in all. A step is new that does not stand in the approved plan word for word.
    """

    new_steps: int = 0

    def __post_init__(self) -> None:
        if type(self.new_steps) is not int or self.new_steps < 0:
            raise ValueError(f"new_steps={self.new_steps!r}: a grant is for zero or more new steps")


@frozen
class RunStarted:
    """A goal was given. What the rules need to know is named, so that a replay decides the same: the roles that exist,
    what may be used by how many steps at once, and the tools whose calls change the world.
    """

    at: float
    goal: str
    planner: bool
    reviewer: bool
    evaluator: bool = False
    limits: tuple[Limit, ...] = ()
    effects: dict[str, Effects] = field(default_factory=dict)


@frozen
class PlanStarted:
    """Job: the planner is asked.

    Why: there is no plan yet ("first"), the last was unfit ("repair"), its horizon is reached ("horizon"); or what is
    left is to be planned again, after a "failure", "news" from outside, every "step", or a "stall".
    """

    at: float
    reason: Literal["first", "repair", "horizon", "failure", "news", "step", "stall"]


@frozen
class StepProposed:
    """The planner, still writing, has put down a step that is fit and may start: what it waits for has arrived."""

    at: float
    step: Step


@frozen
class PlanProposed:
    """Outcome: the planner answered. `plan` is None if the answer, in `text`, was no plan. No problems: fit.

    `granted` names the reviewer whose grant covers the plan; "" where it needs an approval of its own.
    """

    at: float
    plan: Plan | None
    problems: tuple[Problem, ...] = ()
    text: str = ""
    seconds: float = 0.0
    calls: tuple[ModelCall, ...] = ()
    granted: str = ""


@frozen
class PlanFailed:
    """Outcome: the planner raised an error and gave no answer."""

    at: float
    error: str
    seconds: float = 0.0
    calls: tuple[ModelCall, ...] = ()


@frozen
class Reviewed:
    """A person or a rule decided about the plan with this hash, or, where `step` is named, about that step's gate.

    `plan` is what the reviewer made of the plan, where it was edited; the hash is then that of the edited plan.
    """

    at: float
    verdict: Approval
    plan_hash: str
    by: str
    comment: str = ""
    step: str | None = None
    plan: Plan | None = None
    grant: Grant | None = None


@frozen
class StepStarted:
    """Job: a step is carried out, attempt number `attempt` of at most `attempts`."""

    at: float
    step: str
    attempt: int = 1
    attempts: int = 1


@frozen
class StepDone:
    """Outcome: the step gave a result (data: what JSON can hold), after `seconds` of work."""

    at: float
    step: str
    result: Any
    seconds: float = 0.0
    calls: tuple[ModelCall, ...] = ()


@frozen
class StepFailed:
    """Outcome: the step raised an error or took longer than its timeout.

    In doubt: it was given up and could not be stopped, so that nobody knows what it still does.
    """

    at: float
    step: str
    error: str
    seconds: float = 0.0
    calls: tuple[ModelCall, ...] = ()
    in_doubt: bool = False


@frozen
class StepLate:
    """A step that had been given up came to its end: its result, or its error. It is recorded, and never counts."""

    at: float
    step: str
    result: Any = None
    error: str | None = None
    seconds: float = 0.0
    calls: tuple[ModelCall, ...] = ()


@frozen
class StepCancelled:
    """A step was handed to the workers and taken back before it had begun. It waits again."""

    at: float
    step: str


@frozen
class JudgeStarted:
    """Job: the evaluator is asked whether the step's result meets its success criterion."""

    at: float
    step: str


@frozen
class Judged:
    """Outcome: the evaluator's verdict about a step, with its reason.

    "modify" gives the `changed` step, which is carried out instead. `wanting` names a done step that turned out to be
    at fault: it stays done, and a new step has to mend it.
    """

    at: float
    step: str
    verdict: Judgement
    reason: str = ""
    changed: Step | None = None
    wanting: str | None = None
    seconds: float = 0.0
    calls: tuple[ModelCall, ...] = ()


@frozen
class JudgeFailed:
    """Outcome: the evaluator raised an error. The step counts as done, and stays unverified."""

    at: float
    step: str
    error: str
    seconds: float = 0.0
    calls: tuple[ModelCall, ...] = ()


@frozen
class News:
    """Somebody outside says something that the planner should know: the rest is planned again."""

    at: float
    text: str


@frozen
class StepSkipped:
    """A step will not be carried out, because a step that it waits for did not get done."""

    at: float
    step: str
    reason: str


@frozen
class Inside:
    """Something that happened inside a step: an event of a nested run, a thought, a call, an observation."""

    at: float
    step: str
    event: Any


@frozen
class Paused:
    """The run waits for a decision from outside: "approval" of the plan, or of one `step` behind its gate."""

    at: float
    reason: Literal["approval", "gate"]
    step: str | None = None


@frozen
class Ended:
    """The run is over. `reason` says in words why."""

    at: float
    status: Status
    reason: str


Job = PlanStarted | StepStarted | JudgeStarted
JOBS = (StepStarted, JudgeStarted, PlanStarted)
Outcome = PlanProposed | PlanFailed | StepDone | StepFailed | StepCancelled | Judged | JudgeFailed
Event = RunStarted | Job | Outcome | StepProposed | StepLate | Reviewed | News | StepSkipped | Inside | Paused | Ended
