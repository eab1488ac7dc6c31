"""From the events of a run to spans.

A job is a span from its …Started event to its outcome: planning, each attempt of a step, judging, backoff, undo. Its children are
the tool call, model calls and a nested run. Each event is also noted, as JSON with its number, as a span event: in the span of its
job, or in the run's span (a pause, a decision, a skipped step). From these the events are read back.

Ids are derived from the events: the same run has the same ids in every process. Times are those of the run's clock. An event has
the durations of its model calls but not their starts, so they are placed in sequence from the start of the work, after the tools
that they called.
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
    """Return a run as spans, parents first; pure, and linear in the number of events.

    Args:
        run: a finished, paused or running run; jobs in flight end now.
        epoch: the run's start in seconds since 1970. A run only knows its own clock, so the default is the year 2000, and the
            same run gives the same spans; `send` and `live` use this machine's clock.
        trace_id: 32 hexadecimal digits; by default derived from all events so far. Pass an id such as `run.uid` to keep the trace
            of a paused run after it continues, or to match `live`.
        content: include goal, plans, arguments, results and errors. The conventions leave them out by default, because they can
            be private; without them a trace still has names, times, tokens and costs.

    Raises `ValueError` for an epoch before 1970, and for an invalid trace id.
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
