"""Policy: the settings that tell one variation of the pattern from another, and the bounds that make every loop end."""

from __future__ import annotations

import math
from dataclasses import dataclass
from random import Random
from typing import Literal

from planexec_lite.budget import Budget, OverBudget
from planexec_lite.plan import MAX_RETRIES


@dataclass(frozen=True, slots=True)
class Backoff:
    """How long a failed step waits before it is tried again: longer each time, up to a bound.

    Args:
        first: seconds before the second attempt.
        factor: each further wait is so many times as long.
        longest: the longest wait, in seconds.
        jitter: the share of each wait that is left to chance, from 0 to 1, so that steps that failed together do not come
            back together.
        seed: chance is drawn from this, the step's id and the attempt: a replay waits just as long.

    Raises `ValueError` for a wait below zero, a factor below one or a share that is none.
    """

    first: float = 1.0
    factor: float = 2.0
    longest: float = 60.0
    jitter: float = 0.5
    seed: int = 0

    def __post_init__(self) -> None:
        if not (0 <= self.first < math.inf and 0 <= self.longest < math.inf):
            raise ValueError(f"first={self.first}, longest={self.longest}: a wait is zero seconds or more")
        if not 1 <= self.factor < math.inf:
            raise ValueError(f"factor={self.factor}: a wait is never shorter than the one before; give 1 or more")
        if not 0 <= self.jitter <= 1:
            raise ValueError(f"jitter={self.jitter}: a share from 0 to 1")

    def seconds(self, step: str, attempt: int) -> float:
        """The wait before attempt number `attempt` (2 or more) of a step, in seconds."""
        whole = min(self.longest, self.first * self.factor ** (attempt - 2))
        return round(whole * (1 - self.jitter * Random(f"{self.seed} {step} {attempt}").random()), 6)


@dataclass(frozen=True, slots=True)
class Breaker:
    """A circuit breaker for each tool: one that keeps failing is left alone for a while.

    Once so many calls of a tool have failed in a row, its breaker is open: for so many seconds on the run's clock each
    attempt of a step that calls it fails without a call. It counts as an attempt, and is tried again as any other. After that one
    call at a time is let through: a result closes the breaker, a failure opens it again.

    Args:
        failures: how many in a row open it. A timeout is a failure; an error that the tool calls final is none.
        seconds: how long it stays open after the latest failure.

    Raises `ValueError` for less than one failure, or a time below zero.
    """

    failures: int = 3
    seconds: float = 30.0

    def __post_init__(self) -> None:
        if type(self.failures) is not int or self.failures < 1:
            raise ValueError(f"failures={self.failures!r}: at least one failure opens a breaker")
        if not 0 <= self.seconds < math.inf:
            raise ValueError(f"seconds={self.seconds}: a breaker stays open for zero seconds or more")


@dataclass(frozen=True, slots=True)
class Policy:
    """What `decide` may do.

    Args:
        failure: what a failed step means: "skip" its dependents, but for those that run anyway, and go on elsewhere; or
            "stop" the run: nothing starts any more, and what is under way is heard out.
        retries: how often a failed step is tried again, where it does not say so itself and a repeat does no harm; at
            most ten times.
        max_steps: the most steps that a planner may write into one plan.
        max_repairs: how often in a row an invalid plan may go back to the planner.
        max_changes: how often a reviewer may ask for a changed plan.
        max_rounds: how often the planner may be asked for more, because its horizon was reached or a step was done.
        replan: what makes the planner plan the rest again: "never", a "failure", every "step", or a "stall", when
            nothing else can be done. News from outside always does.
        max_replans: how often the rest may be planned again after a failure, a stall or news.
        rollback: when what was done is taken back (see `Step.undo` and `Plan.rollback`): "never" by itself; when the run
            would end "failed", all retries and replans being used up; or whenever it would end "unfinished", after a
            plan was rejected or a bound was reached, too. What the runs inside steps have done is taken back with the rest.
        require_undo: a plan is invalid while a step of it changes the world and nothing takes that back, unless its gate
            asks a person (see `Plan.without_undo`). A step that is a run of its own needs no undo where the policy of that run
            has this too: what is done inside is taken back step by step. A later plan must keep the calls of the rollback
            that take back what is done. A plan that a reviewer edits is the reviewer's own.
        no_new_effects: once a step has returned something, a later plan is invalid while it uses a tool with effects that no
            earlier plan used: what the planner reads must not widen what the run does. Sending a mail is such an effect, too.
            A step that an evaluator changed counts as a later plan. A step that a plan leaves to a model, or to another
            agent, leaves the choice of its calls to them; there each call that is `once` or destructive asks a person.
            Where there is a reviewer, the person decides about the plan, and it is not invalid.
        backoff: how long a failed step waits before it is tried again, holding no slot; None: it does not wait.
        breaker: when a tool that keeps failing is left alone; None: it never is.
        deadline: seconds on the run's clock after which nothing starts any more, and the run is "stopped" unless all is
            done. A step that is under way then is given up, as with its own timeout; a run inside it stops too. A model that
            plans or judges has the seconds that are left (at least ten real ones on a virtual clock); then its answer is not
            read to its end, and the job fails. A rollback runs to its end. The time that a paused run lies does not count, but
            that of a reviewer who is asked in between does. None: there is none.
        budget: how much the run may use, over all the times that it is resumed. A run inside a step gets what is left of the
            model calls, tokens, dollars and seconds when the step starts; so do others beside it (see `Budget`). None: there
            is no bound.
        over_budget: when something more is needed than the budget has: the run may "pause" and ask for more, or "stop".

    Raises `ValueError` for a bound below zero, too many retries, or a word that is not among these.
    """

    failure: Literal["skip", "stop"] = "skip"
    retries: int = 0
    max_steps: int = 50
    max_repairs: int = 2
    max_changes: int = 3
    max_rounds: int = 25
    replan: Literal["never", "failure", "step", "stall"] = "never"
    max_replans: int = 3
    rollback: Literal["never", "failed", "unfinished"] = "never"
    require_undo: bool = False
    no_new_effects: bool = False
    backoff: Backoff | None = None
    breaker: Breaker | None = None
    deadline: float | None = None
    budget: Budget | None = None
    over_budget: OverBudget = "pause"

    def __post_init__(self) -> None:
        if self.failure not in ("skip", "stop"):
            raise ValueError(f"failure={self.failure!r}: a failed step means 'skip' or 'stop'")
        if self.replan not in ("never", "failure", "step", "stall"):
            raise ValueError(f"replan={self.replan!r}: plan again 'never', after a 'failure', a 'step' or a 'stall'")
        if self.rollback not in ("never", "failed", "unfinished"):
            raise ValueError(
                f"rollback={self.rollback!r}: take back 'never', what has 'failed', or what is 'unfinished'"
            )
        if self.over_budget not in ("pause", "stop"):
            raise ValueError(f"over_budget={self.over_budget!r}: 'pause' and ask for more, or 'stop'")
        if not isinstance(self.budget, Budget | None):
            raise ValueError(f"budget={self.budget!r}: a Budget, or None for no bound")
        if self.replan == "stall" and self.failure == "stop":
            raise ValueError('replan="stall" needs failure="skip": a run that stops at a failure never stalls')
        if self.retries > MAX_RETRIES:
            raise ValueError(
                f"retries={self.retries}: at most {MAX_RETRIES}; a step that fails so often needs another plan"
            )
        if self.deadline is not None and not 0 <= self.deadline < math.inf:
            raise ValueError(f"deadline={self.deadline}: zero seconds or more, or None for no deadline")
        for name in ("retries", "max_steps", "max_repairs", "max_changes", "max_rounds", "max_replans"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name}={getattr(self, name)}: a bound is zero or more")
