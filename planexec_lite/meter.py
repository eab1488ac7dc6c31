"""The meter: the one door through which a running job reports time, model calls and inner events.

A tool says `charge(seconds=2)` and does not sleep; a model call says how many tokens it used. Whoever carries out the
job opens a `Meter` around it and reads it afterwards. Without a meter, a charge is ignored, so a tool stays a plain
function that can be called anywhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from planexec_lite.budget import Allowance

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


class Meter:
    """Collects what one job reports: declared `seconds`, model `calls`, `events`, and whether it did what is done `once`.

    `limit`: after so many seconds the job is given up; None: never. `key`: see `idempotency_key`. `allowance`: what a run inside
    the job may use of models and time; None: no bound. `store`: where a run inside the job is written down; None: nowhere.
    `calls_log`: what checks each call of a tool against what is approved (`tools.approved`); None: nothing does.

    An event is kept with the seconds declared and those really gone by when it happened; or `hear` is told at once.
    Most jobs report nothing, so the lists are made by the first report. `at` is when the job began on a virtual clock.
    """

    seconds = 0.0
    calls: Sequence[ModelCall] = ()
    events: Sequence[tuple[float, float, Any]] = ()
    once = False
    limit: float | None = None
    key: str | None = None
    allowance: Allowance | None = None
    store: Any = None
    calls_log: Any = None

    def __init__(self, hear: Callable[[Any], None] | None = None, at: float | None = None) -> None:
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
        if self.limit is None:
            return None
        return max(0.0, self.limit - (self.seconds if self.at is not None else perf_counter() - self.began))

    def add(self, name: str, item: Any) -> None:
        """Append to "calls" or "events"; threads of one job may do so side by side."""
        vars(self).setdefault(name, []).append(item)


def charge(seconds: float = 0.0, call: ModelCall | None = None) -> None:
    """Report that the current job took `seconds` (declared, not slept), and the model `call` that it made, if any."""
    if not 0 <= seconds < math.inf:
        raise ValueError(f"a job can't take {seconds} seconds; charge zero or more")
    meter = current.get()
    if meter is not None:
        meter.seconds += seconds
        if call is not None:
            meter.add("calls", call)


def now() -> float | None:
    """The run's time, in seconds on its virtual clock, where the current job stands: when it began, and what it charged.

    None without a virtual clock. A world asks, to know when a thing is ready, and refuses what comes too early.
    """
    meter = current.get()
    return None if meter is None or meter.at is None else round(meter.at + meter.seconds, 9)


def made_once() -> None:
    """Report that the current job has made a call that may be made once: if the job fails now, it was made all the same."""
    meter = current.get()
    if meter is not None:
        meter.once = True


def emit(event: Any, ago: float = 0.0) -> None:
    """Report something that happened inside the current job, now or some seconds `ago`: an event of a nested run, a thought,
    a streamed step.
    """
    meter = current.get()
    if meter is None:
        return
    if meter.hear is not None:
        meter.hear(event)
    else:
        meter.add("events", (meter.seconds - ago, perf_counter() - meter.began - ago, event))


def idempotency_key() -> str | None:
    """The key of the current call: 32 characters, the same for each attempt of this call, also after a crash.

    A service that remembers keys does the same work once, however often it is asked. The key depends on the run, the tool, its
    arguments and the occurrence (see `loop.jobs.key_of`), and not on the id or the words of the step. None outside a step, and
    in a step without effects.
    """
    meter = current.get()
    return None if meter is None else meter.key


@dataclass(frozen=True, slots=True)
class Knowing:
    """Does what `work` does, and lets it know what a `Meter` says of a job: limit, key, allowance, store, approved calls.

    It can be sent to another process.
    """

    work: Callable[..., Any]
    limit: float | None
    key: str | None
    allowance: Allowance | None = None
    store: Any = None
    approved: Any = None

    def __call__(self, *args: Any) -> Any:
        meter = current.get()
        if meter is not None:
            meter.limit, meter.key, meter.allowance, meter.store = self.limit, self.key, self.allowance, self.store
            meter.calls_log = self.approved.log() if self.approved is not None else None
        return self.work(*args)
