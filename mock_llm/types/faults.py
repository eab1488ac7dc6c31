"""Faults that a script can inject between the model and the client. They never sleep.

A fault belongs to an attempt: the client's k-th silent retry is attempt k of the same call. `faults` lists the faults
of attempts 0, 1, …; after them comes the reply.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from .errors import suggestion

Kind = Literal[
    "rate_limit",
    "insufficient_quota",
    "server_error",
    "timeout",
    "connection_error",
    "html",
    "truncated",
    "dropped",
    "ended_early",
    "bad_chunk",
    "error_event",
    "slow_first_token",
]
STATUS: Mapping[str, int] = {"rate_limit": 429, "insufficient_quota": 429, "server_error": 500}
STREAM_ONLY = frozenset({"ended_early", "bad_chunk", "error_event", "slow_first_token"})
PLAIN_ONLY = frozenset({"truncated"})
RETRY_AFTER_MS = 1  # without this header, a client sleeps for at least half a second


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A fault that replaces the reply or interrupts it.

    Args:
        kind: "rate_limit", "insufficient_quota" and "server_error" are HTTP errors; "timeout" never answers;
            "connection_error" closes the connection before the first byte; "html" is status 200 with a web page;
            "truncated" is a JSON body cut in half; "dropped" loses the connection in the middle; "ended_early" ends a
            stream without its last chunks; "bad_chunk" has half a chunk in the stream; "error_event" has an error in
            the stream; "slow_first_token" is a stream that begins later than an impatient client waits.
        status: the HTTP status of an error; by default 429 or 500.
        retry_after: the header `retry-after`, in seconds.
        retry_after_ms: the same in milliseconds; by default 1, so that no lesson waits.
        message: the error message.
        code: the error code.
        after: the number of stream events before the fault; by default half of them.
        seconds: the reported delay of the first token ("slow_first_token").

    Raises:
        ValueError: a value does not fit the kind.
    """

    kind: Kind
    status: int | None = None
    retry_after: float | None = None
    retry_after_ms: float | None = None
    message: str | None = None
    code: str | None = None
    after: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise ValueError(f"unknown fault {self.kind!r}; {suggestion(self.kind, get_args(Kind))}")
        goes_with = {
            **dict.fromkeys(("status", "retry_after", "retry_after_ms"), tuple(STATUS)),
            **dict.fromkeys(("message", "code"), (*STATUS, "error_event")),
            "after": ("dropped", "ended_early", "bad_chunk", "error_event"),
            "seconds": ("slow_first_token",),
        }
        for name, kinds in goes_with.items():
            value = getattr(self, name)
            if value is not None and self.kind not in kinds:
                raise ValueError(f"the fault {self.kind} has no field {name}; only {', '.join(kinds)} have it")
            if isinstance(value, (int, float)) and not 0 <= value < 1e9:
                raise ValueError(f"{name} is 0 or more, not {value}")
        if self.status is not None and not 400 <= self.status <= 599:
            raise ValueError(f"status is that of an HTTP error, 400 to 599, not {self.status}")

    def mismatch(self, streaming: bool) -> str | None:
        """Return why this fault can't happen to a streamed or plain request; None if it can."""
        if streaming and self.kind in PLAIN_ONLY:
            return f"the fault {self.kind!r} is for plain answers, but the request is for a stream; use bad_chunk"
        if not streaming and self.kind in STREAM_ONLY:
            return f"the fault {self.kind!r} is for streams, but the request is for a plain answer; use stream=True"
        return None


def parse_fault(given: str | Mapping[str, object] | Fault) -> Fault:
    """Return a fault from its form in scripts: "timeout", {"kind": "dropped", "after": 2}, {"status": 503}.

    Raises:
        ValueError: the fault is unknown.
    """
    if isinstance(given, Fault):
        return given
    fields = {"kind": given} if isinstance(given, str) else dict(given)
    if "kind" not in fields and "status" in fields:
        fields["kind"] = "rate_limit" if fields["status"] == 429 else "server_error"
    if "kind" not in fields:
        raise ValueError(f"a fault has a kind, one of {', '.join(get_args(Kind))}, or a status")
    return Fault(**fields)
