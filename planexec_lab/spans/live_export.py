"""Live export: each span of a running run is sent soon after it has ended."""

from __future__ import annotations

import atexit
import time
import warnings
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock, Thread
from typing import TYPE_CHECKING

from planexec_lab.spans.exporting import as_sdk, imported, on_a_thread
from planexec_lab.spans.from_events import checked_epoch, outermost
from planexec_lab.spans.jobs import Told
from planexec_lab.spans.run_spans import Placed, RunSpans, Trace
from planexec_lab.spans.span import Span
from planexec_lite.run import Run
from planexec_lite.run.events import Event

if TYPE_CHECKING:
    from opentelemetry.sdk.trace.export import SpanExporter

MOST_WAITING = 20_000  # spans that wait for the exporter; the SDK logs that it drops the oldest
PATIENCE = 5.0  # seconds for which a run that has stopped waits for its last spans to go
MOST_RUNS = 100  # the most runs that are remembered, because they can continue
_EVERY = 200  # milliseconds between two portions


@dataclass(slots=True)
class _Followed:
    """A run so far: the first `seen` of these events are drawn, and the spans with these ids and ends have been handed on."""

    trace: Trace
    drawn: RunSpans
    events: Sequence[Event] = ()
    seen: int = 0
    sent: set[tuple[str, int]] = field(default_factory=set)


class Live:
    """Sends the spans of running runs: given to a run as its `watch`. It serves several runs on several threads."""

    def __init__(self, exporter: SpanExporter, epoch: float | None, content: bool) -> None:
        self._epoch, self._content = None if epoch is None else checked_epoch(epoch), content
        processor = imported("sdk.trace.export", "BatchSpanProcessor")
        self._processor = processor(exporter, max_queue_size=MOST_WAITING, schedule_delay_millis=_EVERY)
        self._runs: dict[str, _Followed | None] = {}  # None: its spans can't be made
        self._late: Thread | None = None  # the latest flush
        self._lock = Lock()
        atexit.register(self.flush)

    def flush(self, timeout: float | None = None) -> bool:
        """Wait at most `timeout` seconds, or `PATIENCE`, for the spans that have not gone yet; return whether they have.

        It does not wait at all for an exporter that is still busy with an earlier flush.
        """
        if self._late is not None and self._late.is_alive():
            return False
        self._late = on_a_thread(self._processor.force_flush, PATIENCE if timeout is None else timeout)
        return not self._late.is_alive()

    def __call__(self, run: Run) -> None:
        """Hand on what is new in `run`. It raises nothing, and waits for nothing before the run has stopped."""
        with self._lock:
            try:
                spans = self._new(run)
            except Exception as problem:
                self._runs[run.uid], spans = None, []
                _warn(f"its spans can't be made: {type(problem).__name__}: {problem}")
        for span in as_sdk(spans):
            self._processor.on_end(span)
        if run.status != "running" and not self.flush():
            _warn("spans have not gone yet, and may still go")

    def _new(self, run: Run) -> list[Span]:
        """The spans that have ended since the last call."""
        if run.uid not in self._runs:
            epoch = checked_epoch(time.time() - run.makespan) if self._epoch is None else self._epoch
            trace = Trace(run.uid, epoch, self._content)
            while len(self._runs) >= MOST_RUNS:
                del self._runs[next(iter(self._runs))]
            self._runs[run.uid] = _Followed(trace, outermost(trace))
        followed = self._runs[run.uid]
        if followed is None:
            return []
        if followed.events is not run.events:  # another process, or an earlier decision about a pause, continued it
            followed.events, followed.seen, followed.drawn = run.events, 0, outermost(followed.trace)
        placed: list[Placed] = []
        for number in range(followed.seen, len(run.events)):
            event = run.events[number]
            placed += followed.drawn.take(Told(str(number), event.at, event))
        followed.seen = len(run.events)
        if run.board.ended is not None:
            placed += followed.drawn.rest(run.makespan)
            followed.events = ()  # where it is rolled back, it is drawn again
        new = [span for _, span in placed if span.parent_id is None or (span.span_id, span.end) not in followed.sent]
        followed.sent.update((span.span_id, span.end) for span in new)
        return new


def live(exporter: SpanExporter, *, epoch: float | None = None, content: bool = True) -> Live:
    """Return a `watch` for runs that sends each span soon after it has ended.

    Give it only to the outermost agent; nested runs are included. The SDK's thread sends the spans, so a slow or failing exporter
    does not disturb the run; the SDK logs its errors. The trace id is `run.uid`, so the spans are those of `of` with
    ``trace_id=run.uid``. The run's span is sent when the run has ended, and again with the same id after a rollback. For a run that
    another process began, all spans are sent again with the same ids.

    Args:
        exporter: an exporter of OpenTelemetry's SDK, such as `otlp`; it is not shut down.
        epoch: the run's start in seconds since 1970. None: the time when this process first saw it, by this machine's clock, minus
            the seconds on the run's clock. Give all processes of a run the same number.
        content: as in `of`.

    Raises `ImportError` without the extra ``otel``, and `ValueError` for an epoch before 1970.
    """
    return Live(exporter, epoch, content)


def _warn(words: str) -> None:
    with suppress(RuntimeWarning):  # where warnings are errors, the run must still continue
        warnings.warn(f"live export of a run: {words}", RuntimeWarning, stacklevel=4)
