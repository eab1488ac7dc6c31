"""What is counted: calls, for scenes that ask for a named counter; and attempts, for clients that don't say theirs.

Attempts are counted for each request by itself. A named counter alone makes it matter in which order different requests
arrive; scenes that don't name one stay independent of it.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping

Count = Callable[[str], int]


class Counters:
    """Counts calls by counter name; safe to use from any thread."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._drawn: dict[tuple[str, str], int] = {}  # (counter, fingerprint of the call) -> its newest number
        # The numbers whose attempt failed, oldest first: (counter, fingerprint, attempt). Its retry takes one of them.
        self._failed: dict[tuple[str, str, int], deque[int]] = {}
        self._lock = threading.Lock()

    def numbers_for(self, call: str, attempt: int) -> CallNumbers:
        """The numbers of one call; none is drawn before a scene asks for it.

        Args:
            call: fingerprint of the request.
            attempt: above 0 the call is a silent retry, and keeps the number that it had.
        """

        def draw(counter: str) -> int:
            with self._lock:
                # The client retries by itself: for the script's author it is one call, so it keeps its number.
                if attempt and (failed := self._failed.get((counter, call, attempt - 1))):
                    number = failed.popleft()
                    if not failed:
                        del self._failed[counter, call, attempt - 1]
                    return number
                if attempt and (counter, call) in self._drawn:
                    return self._drawn[counter, call]
                number = self._counts[counter] = self._counts.get(counter, 0) + 1
                self._drawn[counter, call] = number
                return number

        return CallNumbers(draw)

    def record_failure(self, call: str, attempt: int, numbers: Mapping[str, int]) -> None:
        """An attempt of a call failed: its retry keeps its numbers, also beside calls that are the same word for word.

        Args:
            call: fingerprint of the request.
            attempt: the attempt that failed.
            numbers: what it drew, by counter.
        """
        with self._lock:
            for counter, number in numbers.items():
                self._failed.setdefault((counter, call, attempt), deque()).append(number)


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

    def record(self, call: str, failed: bool) -> None:
        """Remember how an attempt of a call ended."""
        with self._lock:
            if failed:
                self._failed[call] = self._failed.get(call, 0) + 1
            else:
                self._failed.pop(call, None)


class CallNumbers:
    """The numbers that one call has drawn: one a counter, drawn when a scene first asks for it."""

    def __init__(self, draw: Count, numbers: Mapping[str, int] | None = None) -> None:
        self._draw = draw
        self.numbers: dict[str, int] = dict(numbers or {})

    def __call__(self, counter: str) -> int:
        # Once a call: several scenes that ask for the same counter must see the same number.
        if counter not in self.numbers:
            self.numbers[counter] = self._draw(counter)
        return self.numbers[counter]


def always_first(counter: str) -> int:
    """The count where nobody counts: every call is the first."""
    return 1
