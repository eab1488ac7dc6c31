"""Counters: named counters for scenes that use one, attempt counts for clients that don't send theirs, and the number
of identical requests.

Attempts are counted separately for each request. Only with a named counter does the order of different requests matter;
scenes without one do not depend on it.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping

Count = Callable[[str], int]
KEPT = 5000  # different requests that are counted


class Counters:
    """Counts calls by counter name, attempts and identical requests; safe to use from any thread.

    If a client does not send `x-stainless-retry-count`, the same request after a fault is the next attempt. Only identical requests
    at the same time could be mixed up.
    """

    def __init__(self) -> None:
        self._attempts: dict[str, int] = {}  # by call: its failures since its last success
        self._occurrences: dict[str, int] = {}
        self._counts: dict[str, int] = {}
        self._drawn: dict[tuple[str, str], int] = {}  # (counter, fingerprint of the call) -> latest number
        # The numbers of failed attempts, oldest first: (counter, fingerprint, attempt). A retry takes one of them.
        self._failed: dict[tuple[str, str, int], deque[int]] = {}
        self._lock = threading.Lock()

    def numbers_for(self, call: str, attempt: int) -> CallNumbers:
        """Return the numbers of a call. A number is drawn only when a scene asks for it.

        Args:
            call: the request's fingerprint.
            attempt: above 0, the call is a silent retry and gets its previous numbers.
        """

        def draw(counter: str) -> int:
            with self._lock:
                # A silent retry is the same call for the script's author, so it gets the same number.
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
        """Record a failed attempt, so that its retry gets the same numbers, even if identical calls run at the same
        time.

        Args:
            call: the request's fingerprint.
            attempt: the failed attempt.
            numbers: its numbers by counter name.
        """
        with self._lock:
            for counter, number in numbers.items():
                self._failed.setdefault((counter, call, attempt), deque()).append(number)

    def attempt(self, call: str) -> int:
        """Return the number of this attempt: the failures of the call since its last success."""
        with self._lock:
            return self._attempts.get(call, 0)

    def record_attempt(self, call: str, failed: bool) -> None:
        """Record whether an attempt of a call failed."""
        with self._lock:
            earlier = self._attempts.pop(call, 0)
            if failed:
                self._attempts[call] = earlier + 1

    def occurrence(self, call: str) -> int:
        """Return the number of earlier requests with this fingerprint, among the newest 5,000 different ones. With it, each of
        their answers has its own ids.
        """
        with self._lock:
            number = self._occurrences.pop(call, 0)
            self._occurrences[call] = number + 1
            if len(self._occurrences) > KEPT:
                del self._occurrences[next(iter(self._occurrences))]
            return number


class CallNumbers:
    """The counter numbers of a call; each is drawn when a scene first asks for its counter."""

    def __init__(self, draw: Count, numbers: Mapping[str, int] | None = None) -> None:
        self._draw = draw
        self.numbers: dict[str, int] = dict(numbers or {})

    def __call__(self, counter: str) -> int:
        # Drawn once for each call, so that all scenes with this counter see the same number.
        if counter not in self.numbers:
            self.numbers[counter] = self._draw(counter)
        return self.numbers[counter]


def always_first(counter: str) -> int:
    """Return 1: without counters, every call is the first."""
    return 1
