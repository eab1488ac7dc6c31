"""What is counted: calls, for scenes that ask for a named counter; and attempts, for clients that don't say theirs.

A named counter is the one thing that makes the order of arrival matter. Scenes that don't name one stay independent
of it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

Count = Callable[[str], int]


class Counters:
    """Counts calls by counter name; safe to use from any thread."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._given: dict[tuple[str, str], int] = {}  # (counter, fingerprint of the call) -> its newest number
        self._lock = threading.Lock()

    def ticket(self, call: str, attempt: int) -> Ticket:
        """What one call needs to be counted.

        Args:
            call: fingerprint of the request.
            attempt: above 0 the call is a silent retry, and keeps the number that it had.
        """

        def draw(counter: str) -> int:
            with self._lock:
                if attempt and (counter, call) in self._given:
                    return self._given[counter, call]
                number = self._counts[counter] = self._counts.get(counter, 0) + 1
                self._given[counter, call] = number
                return number

        return Ticket(draw)


class Attempts:
    """Which attempt of a call it is, for clients that send no `x-stainless-retry-count`.

    The same request again after a fault is its next attempt. Only identical requests at the same time could take
    each other's turn. Safe to use from any thread.
    """

    def __init__(self) -> None:
        self._failed: dict[str, int] = {}
        self._lock = threading.Lock()

    def number(self, call: str) -> int:
        """The attempt that this is: how often the call has failed since it last succeeded."""
        with self._lock:
            return self._failed.get(call, 0)

    def note(self, call: str, failed: bool) -> None:
        """Remember how an attempt of a call ended."""
        with self._lock:
            if failed:
                self._failed[call] = self._failed.get(call, 0) + 1
            else:
                self._failed.pop(call, None)


class Ticket:
    """The numbers that one call has drawn: one a counter, drawn when a scene first asks for it."""

    def __init__(self, draw: Count, numbers: Mapping[str, int] | None = None) -> None:
        self._draw = draw
        self.numbers: dict[str, int] = dict(numbers or {})

    def __call__(self, counter: str) -> int:
        if counter not in self.numbers:
            self.numbers[counter] = self._draw(counter)
        return self.numbers[counter]


def always_first(counter: str) -> int:
    """The count where nobody counts: every call is the first."""
    return 1
