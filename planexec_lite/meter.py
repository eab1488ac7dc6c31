"""The meter: through it a running job reports time, model calls and inner events, and reads its limits.

A tool calls `charge(seconds=2)` instead of sleeping; a model call reports its tokens. The worker opens a `Meter` around
the job and reads it afterwards. Without a meter, `charge` does nothing, so a tool is a plain function that can be
called anywhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import asdict
from time import perf_counter
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass as pydantic_dataclass

from planexec_lite.frozen import frozen

MakeKey = Callable[[], str]  # the key of a call: a hash, and few tools ask for it
FOREVER = 1e9  # seconds: no job takes longer, and threads can't wait much longer; but a timeout can be any number
current: ContextVar[Meter | None] = ContextVar("meter", default=None)


@frozen
class ModelCall:
    """One model call: the model's name, input and output tokens, and seconds.

    `note` describes unexpected behavior of the endpoint, for example that it rejected a schema.
    """

    model: str
    input_tokens: int
    output_tokens: int
    seconds: float = 0.0
    note: str = ""


@frozen
class Usage:
    """Totals over model calls: their number, input tokens, output tokens and seconds."""

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


Count = Annotated[int, Field(strict=True, ge=0)]
"""A whole number, zero or more."""
Amount = Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)]
"""A finite number, zero or more."""


@pydantic_dataclass(frozen=True, slots=True, config=ConfigDict(defer_build=True, extra="forbid"))
class Budget:
    """The maximum usage of a run, summed over all resumes; or the additional usage that a reviewer grants. None: no
    bound.

    A job does not start if it needs a resource that is used up. Planning and judging need models, and so do steps whose
    executor asks models (see `Executor`). Each step reserves its model calls, so parallel steps never exceed that
    bound. Running jobs continue, so they can exceed the bounds on tokens, dollars and seconds; then no further job
    starts. Reading a model's answer stops when the remaining seconds are over.

    Args:
        steps: steps that are started; retries and interrupted attempts don't count.
        model_calls: model calls of all roles, nested runs included.
        tokens: input plus output tokens of these calls.
        dollars: their cost in US dollars, by `planexec_lite.model.prices`.
        seconds: seconds on the run's clock; pauses don't count.

    Raises `ValueError` for a bound that is negative or not a number, and for a fractional bound on a count, and for a name
    that is no bound.
    """

    steps: Count | None = None
    model_calls: Count | None = None
    tokens: Count | None = None
    dollars: Amount | None = None
    seconds: Amount | None = None

    @property
    def bounds(self) -> dict[str, float]:
        """The bounds that are set, by name."""
        return {name: bound for name, bound in asdict(self).items() if bound is not None}

    def plus(self, more: Mapping[str, float]) -> Budget:
        """Return the budget with `more` added to its bounds. Amounts can be negative, but no bound goes below zero."""
        amounts = {name: max(0, bound + more.get(name, 0)) for name, bound in self.bounds.items()}
        return Budget(**amounts)  # type: ignore[arg-type]

    def tightest(self, other: Budget) -> Budget:
        """Return the budget with the smaller of both bounds for each resource."""
        bounds = self.bounds
        for name, bound in other.bounds.items():
            bounds[name] = min(bound, bounds.get(name, bound))
        return Budget(**bounds)  # type: ignore[arg-type]


class Waits(NamedTuple):
    """What a step waits for: the `question` of its nested run, or the approval of a call of `tool` that its executor
    chose, after the calls in `made`.
    """

    why: str = ""
    tool: str = ""
    params: Mapping[str, Any] = {}
    made: tuple[Any, ...] = ()
    question: Any = None


class OverBudgetError(RuntimeError):
    """A job tried to make a model call, and its budget for model calls was used up."""

    no_retry = True


class JobContext(NamedTuple):
    """The limits and identity of a job, which it receives when it starts. It can be sent to another process.

    Args:
        limit: seconds after which the job times out; None: never.
        key: makes the job's `idempotency_key`; None: it has none.
        budget: the budget of a nested run; None: no bound.
        over_budget: what the nested run does when its budget is used up.
        model_calls: the maximum number of the job's model calls; None: no bound.
        inside: the nested run of the step: see `capabilities.nesting`.
        approved: the tool calls that the step is allowed to make (`tools.approved`); None: all.
    """

    limit: float | None = None
    key: MakeKey | None = None
    budget: Budget | None = None
    over_budget: Literal["pause", "stop"] = "pause"
    model_calls: int | None = None
    inside: Any = None
    approved: Any = None


_NOTHING = JobContext()


class Meter:
    """Collects the reports of one job: declared `seconds`, model `calls`, `events`, and whether it made an at-most-once
    call.

    An event is stored with the declared and the measured seconds at which it happened, unless `hear` handles it at
    once. Most jobs report nothing, so the first report creates the lists. `at` is when the job began on a virtual
    clock. `waits`: why the job waits for a person. `leaves`: its nested run did something that a rollback could undo,
    or must list. `chosen`: the calls with effects that its nested run knows. `called`: the function of a tool was called.
    """

    seconds = 0.0
    calls: Sequence[ModelCall] = ()
    events: Sequence[tuple[float, float, Any]] = ()
    once = False
    waits: Waits | None = None
    leaves = False
    called = False
    chosen: Sequence[Any] = ()
    context: JobContext = _NOTHING
    key: MakeKey | None = None
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
        """Seconds until the job times out, at least zero; None: never."""
        if self.context.limit is None:
            return None
        return max(
            0.0,
            min(self.context.limit, FOREVER)
            - (self.seconds if self.at is not None else perf_counter() - self.began),
        )

    def check_model_call(self) -> None:
        """Raise `OverBudgetError` if the job has no model call left."""
        most = self.context.model_calls
        if most is not None and len(self.calls) >= most:
            raise OverBudgetError(
                f"the budget has no model call left for this step, which made {most}"
            )

    def add(self, name: str, item: Any) -> None:
        """Append to "calls" or "events". Several threads of a job can do this at the same time."""
        vars(self).setdefault(name, []).append(item)


def job_meter() -> Meter:
    """Return the meter of the current job; outside of jobs, one that nobody reads."""
    return current.get() or Meter()


def charge(seconds: float = 0.0, call: ModelCall | None = None) -> None:
    """Report `seconds` of work by the current job (declared, not slept), and a model `call` if it made one.

    Raises `ValueError` if `seconds` is negative or not a number, if the job would take more than `FOREVER` seconds in all, and for
    a `call` whose counts or seconds are no numbers from zero. Raises `OverBudgetError` if the job has no model call left.
    """
    meter = job_meter()
    in_all = meter.seconds + seconds
    if not (seconds >= 0 and in_all <= FOREVER):
        raise ValueError(
            f"a job can't take {in_all} seconds; charge zero or more, and at most {FOREVER:g} in all"
        )
    if call is not None:
        tokens = (call.input_tokens, call.output_tokens)
        is_whole = all(type(count) is int for count in tokens)
        if not is_whole or min(tokens) < 0 or not 0 <= call.seconds <= FOREVER:
            raise ValueError(
                f"a model call has whole numbers of tokens, and at most {FOREVER:g} seconds, all zero or more; not {call}"
            )
        meter.check_model_call()
        meter.add("calls", call)
    meter.seconds += seconds


def now() -> float | None:
    """Return the current time of the job on the run's virtual clock, in seconds: its start plus what it has charged.

    None without a virtual clock. Worlds use it, for example to refuse a call that comes before a resource is ready.
    """
    meter = job_meter()
    return None if meter.at is None else round(meter.at + meter.seconds, 9)


def made_once() -> None:
    """Report that the current job has made an at-most-once call. If the job fails later, the call still counts as
    made.
    """
    job_meter().once = True


def emit(event: Any, ago: float = 0.0) -> None:
    """Report an event inside the current job, now or `ago` seconds earlier: an event of a nested run, a thought, a
    streamed step, or progress.

    Raises `ValueError` if `ago` is not a finite number.
    """
    if not math.isfinite(ago):
        raise ValueError(
            f"an event can't have happened {ago} seconds ago; give a finite number of seconds"
        )
    meter = job_meter()
    if meter.hear is None or not meter.hear(event):
        meter.add("events", (meter.seconds - ago, perf_counter() - meter.began - ago, event))


def idempotency_key() -> str | None:
    """Return the idempotency key of the current call: 32 characters, the same in every attempt, even after a crash.

    A service that stores keys does the work once, even if it receives the call several times. The key depends on the
    run, the tool, its arguments and the occurrence (see `capabilities.once_calls`), not on the step's id or
    description. None outside of steps, and in steps without effects.
    """
    key = job_meter().key
    return None if key is None else key()


def in_context(context: JobContext, work: Callable[..., Any], *args: Any) -> Any:
    """Give the context to the job's meter, and call `work`. A `partial` of this function can be sent to another process."""
    meter = job_meter()
    meter.context, meter.key = context, context.key
    if context.approved is not None:
        meter.calls_log = context.approved.log()
    return work(*args)
