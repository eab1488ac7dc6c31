"""Spans that wait to be handed on, and the thread that hands them on: whoever puts them in never waits for the exporter."""

from __future__ import annotations

import atexit
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from threading import Condition, Thread
from typing import TYPE_CHECKING

from planexec_lite.spans.exporting import BATCH, hand_on
from planexec_lite.spans.span import Span

if TYPE_CHECKING:
    from opentelemetry.sdk.trace.export import SpanExporter

LINGER = 1.0  # seconds for which the thread waits for more, where nobody says that no more comes


class Outbox:
    """Hands spans on in the order in which they were put in, in portions.

    Args:
        most: so many wait at once; what comes beyond that is lost.
        at_exit: seconds for which the end of the process waits for what has not gone yet.

    Attributes:
        sent: how many were handed on.
        lost: how many were not, and will not be.
        problem: why the latest of them was not, in words; "" where none was lost.
    """

    def __init__(self, exporter: SpanExporter, most: int, at_exit: float) -> None:
        self.exporter, self.most, self.at_exit = exporter, most, at_exit
        self.sent, self.lost, self.problem = 0, 0, ""
        self._waiting: deque[Span] = deque()
        self._going = 0  # in the hands of the exporter
        self._portions = self._late = 0  # the number of the latest portion, and of the one that a flush gave up
        self._more = True  # whether more is to come
        self._thread: Thread | None = None
        self._changed = Condition()

    @property
    def left(self) -> int:
        """How many have not gone yet."""
        return len(self._waiting) + self._going

    def put(self, spans: Sequence[Span]) -> None:
        """Take spans to be handed on, as many as there is room for. Returns at once."""
        if not spans:
            return
        with self._changed:
            room = max(self.most - len(self._waiting), 0)
            self._waiting.extend(spans[:room])
            if len(spans) > room:
                self._lose(len(spans) - room, f"{self.most:,} waited for {type(self.exporter).__name__}, the most")
            self._more = True
            alive = self._thread is not None and self._thread.is_alive()  # a fork leaves the thread behind
            threads = alive or self._started()
            self._changed.notify_all()
        if not threads:  # as in a browser's tab
            while self._waiting:
                self._hand_on(self._portion())

    def flush(self, timeout: float, again: bool = True) -> bool:
        """Wait until everything has gone, and say whether it has; it goes on going where the time is over.

        Without `again` it doesn't wait for an exporter that still has the portion for which a flush waited in vain.
        """
        with self._changed:
            self._more = False
            self._changed.notify_all()
            stuck = self._going and self._late == self._portions
            gone = self._changed.wait_for(lambda: not self.left, 0 if stuck and not again else timeout)
            self._late = 0 if gone else self._portions
            return gone

    def _started(self) -> bool:
        thread = Thread(target=self._work, name="spans on their way", daemon=True)
        try:
            thread.start()
        except RuntimeError:
            return False
        self._thread, self._going = thread, 0
        atexit.register(self._leave)
        return True

    def _leave(self) -> None:
        self.flush(self.at_exit)

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or not self._more, LINGER)
                if not self._waiting:
                    self._thread = None  # the next one that comes starts another
                    atexit.unregister(self._leave)
                    return
                batch = self._portion()
                self._going = len(batch)
                self._portions += 1
            self._hand_on(batch)
            with self._changed:
                self._going = 0
                self._changed.notify_all()

    def _portion(self) -> list[Span]:
        return [self._waiting.popleft() for _ in range(min(BATCH, len(self._waiting)))]

    def _hand_on(self, batch: list[Span]) -> None:
        try:
            hand_on(batch, self.exporter)
        except BaseException as problem:  # an exporter is somebody else's, and no matter of the run's
            self._lose(len(batch), _words(problem))
        else:
            self.sent += len(batch)

    def _lose(self, count: int, why: str) -> None:
        self.lost += count
        self.problem = why


def _words(problem: BaseException) -> str:
    """What went wrong, of an error of any kind."""
    with suppress(Exception):  # its text is somebody else's code, too
        return str(problem) or type(problem).__name__
    return type(problem).__name__
