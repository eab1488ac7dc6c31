"""From the events of a run to spans.

A job is a span from the event that asked for it to the one that it came to: planning, each try of a step, judging, backoff,
undo. Below it stand what it did: the call of a tool, calls of models, a run inside. All other events (a pause, a decision, a
step that is skipped) are span events of the run's own span.

Ids come from the events: the same run has the same ids, in every process. Times are those of the run's clock. An event says
how long its calls of models took and not when each began, so they stand one behind the other from when the work began, and
after the tools that they called.
"""

from __future__ import annotations

import re

from planexec_lab.spans.jobs import Told
from planexec_lab.spans.outcome import event_text
from planexec_lab.spans.run_spans import Placed, RunSpans, Trace, digest
from planexec_lab.spans.span import Span, nanoseconds
from planexec_lite.run import Run

EPOCH = 946_684_800.0  # the year 2000: collectors take a time of zero for none


def of(run: Run, *, epoch: float = EPOCH, trace_id: str | None = None, content: bool = True) -> list[Span]:
    """Return a run as spans, each behind the one around it: pure, and linear in the number of events.

    Args:
        run: finished, paused, or under way; what is in flight ends now.
        epoch: when the run began, in seconds since 1970. A run knows its own clock alone, so by default it is the year 2000,
            and the same run gives the same spans; `send` and `live` take the date from this machine's clock.
        trace_id: 32 hexadecimal digits; by default made from all events so far. Give one, such as `run.uid`, where a run that
            was paused is to be the same trace after it has gone on, or where it was handed on by `live`.
        content: with what was said: goal, plans, arguments, results, errors. The conventions leave that out where nobody asked
            for it, since it may be private; without it a trace still tells names, times, tokens and costs.

    Raises `ValueError` for an epoch before 1970, and for a trace id that is none.
    """
    begin = checked_epoch(epoch)
    if trace_id is not None and not re.fullmatch("(?!0{32})[0-9a-f]{32}", trace_id):
        raise ValueError(f"trace_id={trace_id!r}: 32 hexadecimal digits are wanted, not all of them zero")
    id = trace_id or digest("".join(event_text(event) for event in run.events))[:32]
    drawn = outermost(Trace(id, begin, content))
    placed: list[Placed] = []
    for number, event in enumerate(run.events):
        placed += drawn.take(Told(str(number), event.at, event))
    placed += drawn.rest(run.makespan)
    return [span for _, span in sorted(placed, key=lambda one: one[0])]


def outermost(trace: Trace) -> RunSpans:
    """The spans of the run that a trace is of."""
    return RunSpans(trace, "run", None, numbered=True)


def checked_epoch(epoch: float) -> int:
    """When a run began, in nanoseconds since 1970. Raises `ValueError` where it is no time since then."""
    if not isinstance(epoch, int | float) or not 0 <= epoch < 2**33:
        raise ValueError(f"epoch={epoch!r}: seconds since 1970 are wanted, as time.time() gives them")
    return nanoseconds(epoch)
