"""The log of requests and answers: a `Call` for each, and `Calls`, which prints as a table."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from typing import Any, overload

from mock_llm.types import SCRIPT_ERROR, STATUS, Answer, ApiError, Request

COLUMNS = ("#", "system", "scene", "in", "out", "seconds", "reply")
WIDTH = 48
SYSTEM_WIDTH = 20
LOG_SIZE = 5000  # calls, including their requests
MAX_ERRORS = 100
RIGHT = frozenset({"#", "in", "out", "seconds"})
STYLES = ("text-align: left; padding: 2px 8px", "text-align: right; padding: 2px 8px")
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


class Calls(Sequence[Call]):
    """A sequence of calls that prints as a plain table; equal calls give equal text."""

    def __init__(self, calls: Iterable[Call]) -> None:
        self._calls = tuple(calls)

    def __len__(self) -> int:
        return len(self._calls)

    def __iter__(self) -> Iterator[Call]:
        return iter(self._calls)

    @overload
    def __getitem__(self, index: int) -> Call: ...
    @overload
    def __getitem__(self, index: slice) -> Calls: ...
    def __getitem__(self, index: int | slice) -> Call | Calls:
        if isinstance(index, slice):
            return Calls(self._calls[index])
        try:
            return self._calls[index]
        except IndexError:
            count = f"{len(self)} call{'s' * (len(self) != 1)}" if self._calls else "no call"
            raise IndexError(f"there is no call {index}: the log has {count}") from None

    def __repr__(self) -> str:
        rows = [COLUMNS, *(_row(call) for call in self._calls)]
        widths = [max(len(row[n]) for row in rows) for n in range(len(COLUMNS))]

        def cell(name: str, text: str, width: int) -> str:
            return text.rjust(width) if name in RIGHT else text.ljust(width)

        return "\n".join("  ".join(map(cell, COLUMNS, row, widths)).rstrip() for row in rows)

    def _repr_html_(self) -> str:
        """Return the table for a notebook, with inline styles only, so that an untrusted notebook shows it the same
        way.
        """

        def line(tag: str, cells: Sequence[str]) -> str:
            styled = zip(COLUMNS, cells, strict=True)
            inner = (f'<{tag} style="{STYLES[name in RIGHT]}">{escape(text)}</{tag}>' for name, text in styled)
            return f"<tr>{''.join(inner)}</tr>"

        rows = "".join(line("td", _row(call)) for call in self._calls)
        caption = f"{len(self)} call{'s' * (len(self) != 1)}"
        head = f"<caption>{caption}</caption><thead>{line('th', COLUMNS)}</thead>"
        return f'<table style="border-collapse: collapse">{head}<tbody>{rows}</tbody></table>'


def _row(call: Call) -> tuple[str, ...]:
    scene = call.scene if call.error is None else f"{call.error.status} {call.error.code or call.error.type}"
    numbers = (str(call.input_tokens), str(call.output_tokens), f"{call.latency:.2f}")
    return (str(call.index), _line(call.system, SYSTEM_WIDTH) or "-", scene or "-", *numbers, _line(call.text, WIDTH))


def _line(text: str, width: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= width else f"{text[: width - 1]}…"
