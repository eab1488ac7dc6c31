"""The meter: the one door through which a running job reports time, model calls and inner events, and learns what it may do.

A tool says `charge(seconds=2)` and does not sleep; a model call says how many tokens it used. Whoever carries out the
job opens a `Meter` around it and reads it afterwards. Without a meter, a charge is ignored, so a tool stays a plain
function that can be called anywhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, fields
from time import perf_counter
from typing import Any, Literal, NamedTuple

current: ContextVar[Meter | None] = ContextVar("meter", default=None)


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One call of a model: its name, the tokens that went in and came out, and the seconds that it took.

    `note` tells the run's reader how the endpoint behaved otherwise than asked, such as that it refuses a schema.
    """

    model: str
    input_tokens: int
    output_tokens: int
    seconds: float = 0.0
    note: str = ""


@dataclass(frozen=True, slots=True)
class Usage:
    """The sum of some model calls: how many, tokens in, tokens out, seconds."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0

    @classmethod
    def of(cls, calls: Iterable[ModelCall]) -> Usage:
        """Add up `calls`."""
        calls = list(calls)
        return cls(
            len(calls),
            sum(call.input_tokens for call in calls),
            sum(call.output_tokens for call in calls),
            math.fsum(call.seconds for call in calls),
        )

    def __str__(self) -> str:
        calls = "1 model call" if self.calls == 1 else f"{self.calls} model calls"
        return f"{calls}, {self.input_tokens} tokens in, {self.output_tokens} tokens out"


@dataclass(frozen=True, slots=True)
class Budget:
    """How much a run may use in all, however often it is resumed; or how much more, where it is granted. None: no bound.

    A job that needs something of which nothing is left does not start: planning and judging need models, and so do steps whose
    executor asks them (see `Executor`). A step reserves the model calls that it may make, so steps side by side never exceed
    this bound. Work under way goes on, so tokens, dollars and seconds may exceed theirs; then nothing starts any more. No model's
    answer is read for longer than the seconds that are left.

    Args:
        steps: how many steps may be started; a further attempt is no further step, nor is one that was interrupted.
        model_calls: calls of models, by whatever role, and inside steps.
        tokens: their tokens, read and written.
        dollars: what they cost by `planexec_lite.model.prices`, in US dollars.
        seconds: on the run's clock; the time that a paused run waits does not count.
        replans: how often the rest may be planned again after a failure, a stall or news.
        repairs: how often an invalid plan may go back to the planner.

    Raises `ValueError` for a bound that is no number, is below zero, or is no whole number where things are counted.
    """

    steps: int | None = None
    model_calls: int | None = None
    tokens: int | None = None
    dollars: float | None = None
    seconds: float | None = None
    replans: int | None = None
    repairs: int | None = None

    def __post_init__(self) -> None:
        for name, bound in self.bounds.items():
            whole = name not in ("dollars", "seconds")
            if type(bound) not in ((int,) if whole else (int, float)) or not 0 <= bound < math.inf:
                raise ValueError(
                    f"{name}={bound!r}: {'a whole number' if whole else 'a number'}, zero or more, or None"
                )

    @property
    def bounds(self) -> dict[str, float]:
        """What is bounded, and how."""
        return {one.name: bound for one in fields(self) if (bound := getattr(self, one.name)) is not None}

    def plus(self, more: Mapping[str, float]) -> Budget:
        """Return the budget with `more` of what it bounds; where `more` is below zero, less, but never below zero."""
        return Budget(**{name: max(0, bound + more.get(name, 0)) for name, bound in self.bounds.items()})  # type: ignore[arg-type]

    def tightest(self, other: Budget) -> Budget:
        """Return the budget that keeps within both."""
        both = (self.bounds, other.bounds)
        names = both[0].keys() | both[1].keys()
        return Budget(**{name: min(one[name] for one in both if name in one) for name in names})  # type: ignore[arg-type]


class Waits(NamedTuple):
    """Why a step waits for a person: for a `call` after `made` ones, or for what the run inside it asks. See `StepPaused`."""

    reason: str
    call: str = ""
    made: tuple[Any, ...] = ()
    inside: Any = None
    short: Mapping[str, str] = {}


class OverBudgetError(RuntimeError):
    """A model call was to be made, and the job has none left."""

    no_retry = True


@dataclass(frozen=True, slots=True)
class JobContext:
    """What a job is told when it starts. It can be sent to another process.

    Args:
        limit: seconds after which the job is given up; None: never.
        key: see `idempotency_key`.
        budget: what a run inside the job may use; None: no bound.
        over_budget: what that run does if it needs more.
        model_calls: how many model calls the job may make; None: no bound.
        inside: the run inside the step: see `capabilities.nesting`.
        approved: the calls of tools that the step may make (`tools.approved`); None: all.
    """

    limit: float | None = None
    key: str | None = None
    budget: Budget | None = None
    over_budget: Literal["pause", "stop"] = "pause"
    model_calls: int | None = None
    inside: Any = None
    approved: Any = None


_NOTHING = JobContext()


class Meter:
    """Collects what one job reports: declared `seconds`, model `calls`, `events`, and whether it made an at-most-once call.

    An event is kept with the seconds declared and those really gone by when it happened; or `hear` is told at once.
    Most jobs report nothing, so the lists are made by the first report. `at` is when the job began on a virtual clock.
    `waits` says that the job waits for a person, `leaves` that a run inside it has left something for a rollback.
    """

    seconds = 0.0
    calls: Sequence[ModelCall] = ()
    events: Sequence[tuple[float, float, Any]] = ()
    once = False
    waits: Waits | None = None
    leaves = False
    context: JobContext = _NOTHING
    key: str | None = None
    calls_log: Any = None

    def __init__(self, hear: Callable[[Any], bool] | None = None, at: float | None = None) -> None:
        self.hear = hear
        self.at = at
        self.began = perf_counter()

    def __enter__(self) -> Meter:
        self._token = current.set(self)
        return self

    def __exit__(self, *exc: object) -> None:
        current.reset(self._token)

    @property
    def left(self) -> float | None:
        """Seconds until the job is given up, on its own clock, at least zero; None: it never is."""
        if self.context.limit is None:
            return None
        return max(0.0, self.context.limit - (self.seconds if self.at is not None else perf_counter() - self.began))

    def check_model_call(self) -> None:
        """Raise `OverBudgetError` if the job may make no further model call."""
        most = self.context.model_calls
        if most is not None and len(self.calls) >= most:
            raise OverBudgetError(f"the budget has no model call left for this step, which made {most}")

    def add(self, name: str, item: Any) -> None:
        """Append to "calls" or "events"; threads of one job may do so side by side."""
        vars(self).setdefault(name, []).append(item)


def charge(seconds: float = 0.0, call: ModelCall | None = None) -> None:
    """Report that the current job took `seconds` (declared, not slept), and the model `call` that it made, if any.

    Raises `ValueError` for a time below zero, and `OverBudgetError` for a model call that the job may not make.
    """
    if not 0 <= seconds < math.inf:
        raise ValueError(f"a job can't take {seconds} seconds; charge zero or more")
    meter = current.get()
    if meter is not None:
        if call is not None:
            meter.check_model_call()
            meter.add("calls", call)
        meter.seconds += seconds


def now() -> float | None:
    """The run's time, in seconds on its virtual clock, where the current job stands: when it began, and what it charged.

    None without a virtual clock. A world asks, to know when a thing is ready, and refuses what comes too early.
    """
    meter = current.get()
    return None if meter is None or meter.at is None else round(meter.at + meter.seconds, 9)


def made_once() -> None:
    """Report that the current job has made an at-most-once call: if the job fails now, the call was made all the same."""
    meter = current.get()
    if meter is not None:
        meter.once = True


def emit(event: Any, ago: float = 0.0) -> None:
    """Report something that happened inside the current job, now or some seconds `ago`: an event of a nested run, a thought,
    a streamed step, a percentage.
    """
    meter = current.get()
    if meter is None:
        return
    if meter.hear is not None and meter.hear(event):
        return
    meter.add("events", (meter.seconds - ago, perf_counter() - meter.began - ago, event))


def idempotency_key() -> str | None:
    """The key of the current call: 32 characters, the same for each attempt of this call, also after a crash.

    A service that remembers keys does the same work once, however often it is asked. The key depends on the run, the tool, its
    arguments and the occurrence (see `capabilities.once_calls`), and not on the id or the words of the step. None outside a
    step, and in a step without effects.
    """
    meter = current.get()
    return None if meter is None else meter.key


@dataclass(frozen=True, slots=True)
class InContext:
    """Does what `work` does, after telling its meter the context of the job. It can be sent to another process."""

    work: Callable[..., Any]
    context: JobContext

    def __call__(self, *args: Any) -> Any:
        meter = current.get()
        if meter is not None:
            meter.context, meter.key = self.context, self.context.key
            meter.calls_log = self.context.approved.log() if self.context.approved is not None else None
        return self.work(*args)
