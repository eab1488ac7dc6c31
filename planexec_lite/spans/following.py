"""Live export: the spans of a run handed on while it goes on, each as soon as it has ended."""

from __future__ import annotations

import time
import warnings
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Literal

from planexec_lite.events import Ended, Event
from planexec_lite.loop.run import Run
from planexec_lite.spans.exporting import check_installed
from planexec_lite.spans.from_events import AGENT, checked_epoch, outermost
from planexec_lite.spans.jobs import Told
from planexec_lite.spans.outbox import Outbox
from planexec_lite.spans.run_spans import Placed, RunSpans, Trace
from planexec_lite.spans.span import Span

if TYPE_CHECKING:
    from opentelemetry.sdk.trace.export import SpanExporter

MOST_ENDED = 16  # runs that have ended and are remembered, since they may be rolled back


@dataclass(slots=True)
class _Followed:
    """A run as far as it was told: the first `seen` of these events. `drawn` is None where it has to be drawn again to go on."""

    trace: Trace
    events: Sequence[Event] = ()
    seen: int = 0
    drawn: RunSpans | None = None
    given_up: bool = False


class Live:
    """Hands on the spans of runs while they go on: given to a run as its `watch`. It serves several runs, on several threads.

    The trace of a run has `run.uid` as its id, so what was sent is what `of` gives with ``trace_id=run.uid``. The run's own
    span comes last, when it has ended; a run that is paused has none yet. One that is gone on with here goes on in its trace.

    Attributes:
        sent: how many spans were handed on.
        lost: how many were not, and will not be.
        problem: why the latest of them was not, in words; "" where none was lost.
    """

    def __init__(
        self,
        exporter: SpanExporter,
        epoch: float | Literal["now"],
        agent: str,
        content: bool,
        buffer: int,
        patience: float,
    ) -> None:
        check_installed()
        if type(buffer) is not int or buffer < 1:
            raise ValueError(f"buffer={buffer!r}: how many spans may wait is wanted, one at least")
        if not isinstance(patience, int | float) or not patience >= 0:
            raise ValueError(f"patience={patience!r}: seconds are wanted, zero or more")
        self._epoch = None if epoch == "now" else checked_epoch(epoch)
        self._agent, self._content, self._patience = agent, content, patience
        self._outbox = Outbox(exporter, buffer, patience)
        self._runs: dict[str, _Followed] = {}
        self._ended: deque[str] = deque()
        self._said = 0  # how many of those that were lost were spoken of
        self._undrawn: list[str] = []  # why spans could not even be made, as long as nobody was told
        self._lock = Lock()

    @property
    def sent(self) -> int:
        """How many spans were handed on."""
        return self._outbox.sent

    @property
    def lost(self) -> int:
        """How many spans were not handed on, and will not be."""
        return self._outbox.lost

    @property
    def problem(self) -> str:
        """Why the latest of them was not handed on; "" where none was lost."""
        return self._outbox.problem

    def flush(self, timeout: float = 5.0) -> bool:
        """Wait for what has not gone yet, as after a pause, at most `timeout` seconds; return whether everything has gone."""
        return self._outbox.flush(timeout)

    def __call__(self, run: Run) -> None:
        """Take what is new in `run`. It raises nothing, and waits for nothing before the run has ended."""
        with self._lock:
            try:
                spans = self._new(run)
            except Exception as problem:
                self._runs.setdefault(run.uid, _Followed(self._trace(run))).given_up = True
                self._undrawn, spans = [f"its spans can't be made: {type(problem).__name__}: {problem}"], []
        self._outbox.put(spans)
        if run.board.ended is not None:
            self._outbox.flush(self._patience, again=False)
            self._say()

    def _new(self, run: Run) -> list[Span]:
        """The spans that have ended since the last time."""
        if run.uid not in self._runs:
            self._runs[run.uid] = _Followed(self._trace(run))
        followed = self._runs[run.uid]
        if followed.given_up:
            return []
        if followed.events is not run.events:  # it was gone on with, perhaps from an earlier place
            same = _same(followed.events[: followed.seen], run.events)
            if same < followed.seen:
                followed.seen, followed.drawn = same, None
            followed.events = run.events
        new: list[Placed] = []
        if followed.drawn is None:
            followed.drawn = outermost(followed.trace)
            for number in range(followed.seen):
                for _ in followed.drawn.take(_told(run, number)):  # it is out already
                    pass
        for number in range(followed.seen, len(run.events)):
            new += followed.drawn.take(_told(run, number))
        if len(run.events) > followed.seen and isinstance(run.events[-1], Ended):
            new += followed.drawn.rest(run.makespan)
            followed.drawn = None
            self._forget(run.uid)
        followed.seen = len(run.events)
        return [span for _, span in new]

    def _trace(self, run: Run) -> Trace:
        epoch = checked_epoch(time.time() - run.makespan) if self._epoch is None else self._epoch
        return Trace(run.uid, epoch, self._agent, self._content)

    def _forget(self, ended: str) -> None:
        with suppress(ValueError):
            self._ended.remove(ended)
        self._ended.append(ended)
        while len(self._ended) > MOST_ENDED:
            self._runs.pop(self._ended.popleft(), None)

    def _say(self) -> None:
        """Say once what was not handed on."""
        lost, left = self.lost - self._said, self._outbox.left
        words = [f"{lost:,} spans were not handed on ({self._outbox.problem})"] if lost else []
        words += [f"{left:,} spans have not gone yet, and may still go"] if left else []
        words += self._undrawn
        self._said, self._undrawn = self.lost, []
        if words:
            with suppress(RuntimeWarning):  # where warnings are errors: the run is none
                warnings.warn(f"live export of a run: {'; '.join(words)}", RuntimeWarning, stacklevel=3)


def live(
    exporter: SpanExporter,
    *,
    epoch: float | Literal["now"] = "now",
    agent: str = AGENT,
    content: bool = True,
    buffer: int = 20_000,
    patience: float = 5.0,
) -> Live:
    """Return what hands the spans of a run on while it goes on, each as soon as it has ended; give it to the run as `watch`.

    Give it to the outermost agent alone: runs inside steps come with it. A thread of its own hands the spans on, so an exporter
    that is slow or fails does not disturb the run: what could not be handed on is told in a `RuntimeWarning` when the run has
    ended. Of a run that another process began, all spans are handed on, since nobody knows which of them arrived: they have
    the same ids as there. One that is rolled back after it had ended has its own span sent again, with the same id.

    Args:
        exporter: of OpenTelemetry's SDK, as `otlp` gives one; it is not shut down.
        epoch: when the run began, in seconds since 1970; "now": when this process first saw it, by this machine's clock, less
            the seconds on the run's own clock. Give all processes of a run the same number, so that spans that are sent twice
            have the same date.
        agent: as in `of`, and so is `content`.
        buffer: so many spans wait for the exporter at most; those that come beyond that are lost.
        patience: seconds for which a run that has ended waits for its last spans to go, and so does the end of the process.
            The next runs don't wait for an exporter that is still busy with the same spans.

    Raises `ImportError` where the extra ``otel`` is missing, and `ValueError` for an `epoch`, `buffer` or `patience` that is none.
    """
    return Live(exporter, epoch, agent, content, buffer, patience)


def _told(run: Run, number: int) -> Told:
    return Told(str(number), run.events[number].at, run.events[number])


def _same(some: Sequence[Event], others: Sequence[Event]) -> int:
    """How many events both begin with."""
    for number, (one, other) in enumerate(zip(some, others, strict=False)):
        if one is not other and not _equal(one, other):
            return number
    return min(len(some), len(others))


def _equal(one: Event, other: Event) -> bool:
    try:
        return bool(one == other)
    except Exception:  # what was told inside a step may not let itself be compared
        return False
