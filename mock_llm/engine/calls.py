"""The log of requests and answers: a `Call` for each, and `Calls`, which prints as a table."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, SupportsIndex, overload

from mock_llm.types import SCRIPT_ERROR, STATUS, Answer, ApiError, Request

COLUMNS = ("#", "system", "scene", "in", "out", "seconds", "reply")
WIDTH = 48
SYSTEM_WIDTH = 20
LOG_SIZE = 5000  # calls, including their requests
MAX_ERRORS = 100
RIGHT = frozenset({"#", "in", "out", "seconds"})
# Faults without any text from the model: such a call has no tokens and takes no time.
WITHOUT_ANSWER = frozenset({*STATUS, "timeout", "connection_error", "html"})


@dataclass(frozen=True)
class Call:
    """A request and its outcome.

    Args:
        index: its number in order of arrival, from 0; its index in `llm.calls` until the log is full.
        request: the JSON that the client sent; None if it was not a JSON object.
        outcome: the model's answer, or the client's error.
        attempt: 0 for the first attempt, k for the client's k-th silent retry.
        digest: a fingerprint of the request's content; "refused" if validation failed.
        parsed: the request in the engine's form; None if validation failed.
        numbers: the call's numbers from named counters.
    """

    index: int
    request: Mapping[str, Any] | None
    outcome: Answer | ApiError
    attempt: int
    digest: str
    parsed: Request | None = field(default=None, repr=False)
    numbers: Mapping[str, int] = field(default_factory=dict)

    @property
    def system(self) -> str:
        """The instructions; empty without any, and if validation failed."""
        return self.parsed.system if self.parsed else ""

    @property
    def scene(self) -> str | None:
        """The name of the scene that answered, or None."""
        return self.outcome.scene if isinstance(self.outcome, Answer) else None

    @property
    def error(self) -> ApiError | None:
        """The client's error, or None. `print(call.error)` shows the reason."""
        return self.outcome if isinstance(self.outcome, ApiError) else None

    @property
    def text(self) -> str:
        """The text that the client received: text and tool calls, the fault, or the error message."""
        if isinstance(self.outcome, ApiError):
            return self.outcome.message
        fault = self.outcome.fault
        return f"fault: {fault.kind}" if fault else self.outcome.choices[0].words

    @property
    def latency(self) -> float:
        """The scripted latency in seconds."""
        return 0.0 if self._delivered is None else self._delivered.latency

    @property
    def input_tokens(self) -> int:
        """Input tokens; 0 for an error."""
        return 0 if self._delivered is None else self._delivered.input_tokens

    @property
    def output_tokens(self) -> int:
        """Output tokens; 0 for an error."""
        return 0 if self._delivered is None else self._delivered.output_tokens

    @property
    def _delivered(self) -> Answer | None:
        """The answer, if any part of it reached the client."""
        if isinstance(self.outcome, ApiError) or (self.outcome.fault and self.outcome.fault.kind in WITHOUT_ANSWER):
            return None
        return self.outcome


class CallLog:
    """The newest calls in order of arrival, and totals over all calls; safe to use from any thread."""

    def __init__(self, size: int = LOG_SIZE) -> None:
        self._calls: deque[Call] = deque(maxlen=size)
        self._count = 0
        self._used: set[str] = set()
        self._errors: dict[str, None] = {}  # in order, without repetitions
        self._lock = threading.Lock()

    def append(self, call: Call) -> None:
        """Add a call, numbered in order of arrival. If the log is full, the oldest call is dropped."""
        with self._lock:
            self._calls.append(replace(call, index=self._count))
            self._count += 1
            if call.scene is not None:
                self._used.add(call.scene)
        if call.error and call.error.type == SCRIPT_ERROR:
            self.add_error(call.error.message)

    def add_error(self, message: str) -> None:
        """Note an error that the real API would not give."""
        with self._lock:
            if len(self._errors) < MAX_ERRORS:
                self._errors[message] = None

    @property
    def calls(self) -> Calls:
        """The logged calls (a snapshot)."""
        with self._lock:
            return Calls(self._calls)

    @property
    def errors(self) -> tuple[str, ...]:
        """The first errors that the real API would not give, each once."""
        with self._lock:
            return tuple(self._errors)

    @property
    def used(self) -> frozenset[str]:
        """The names of all scenes that have answered a call, dropped calls included."""
        with self._lock:
            return frozenset(self._used)


class Calls(tuple[Call, ...]):
    """The calls of a log; prints as a plain table, and equal calls give equal text."""

    @overload
    def __getitem__(self, index: SupportsIndex) -> Call: ...
    @overload
    def __getitem__(self, index: slice) -> Calls: ...
    def __getitem__(self, index: SupportsIndex | slice) -> Call | Calls:
        if isinstance(index, slice):
            return Calls(super().__getitem__(index))
        try:
            return super().__getitem__(index)
        except IndexError:
            count = f"{len(self)} call{'s' * (len(self) != 1)}" if self else "no call"
            raise IndexError(f"there is no call {index}: the log has {count}") from None

    def __repr__(self) -> str:
        rows = [COLUMNS, *(_row(call) for call in self)]
        widths = [max(len(row[n]) for row in rows) for n in range(len(COLUMNS))]

        def cell(name: str, text: str, width: int) -> str:
            return text.rjust(width) if name in RIGHT else text.ljust(width)

        return "\n".join("  ".join(map(cell, COLUMNS, row, widths)).rstrip() for row in rows)


def _row(call: Call) -> tuple[str, ...]:
    scene = call.scene if call.error is None else f"{call.error.status} {call.error.code or call.error.type}"
    numbers = (str(call.input_tokens), str(call.output_tokens), f"{call.latency:.2f}")
    return (str(call.index), _line(call.system, SYSTEM_WIDTH) or "-", scene or "-", *numbers, _line(call.text, WIDTH))


def _line(text: str, width: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= width else f"{text[: width - 1]}…"
