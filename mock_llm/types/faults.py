"""Faults that a script can order: what goes wrong between the model and the client. Nobody sleeps for them.

A fault belongs to an attempt: the client's k-th silent retry is attempt k of the same call, so `faults`
lists what happens to attempt 0, 1, …, and after them the reply is given.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, get_args

Kind = Literal[
    "rate_limit",
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
STATUS: Final[Mapping[str, int]] = {"rate_limit": 429, "server_error": 500}
STREAM_ONLY: Final = frozenset({"ended_early", "bad_chunk", "error_event", "slow_first_token"})
PLAIN_ONLY: Final = frozenset({"truncated"})
RETRY_AFTER_MS: Final = 1  # a client that is told nothing sleeps half a second and more


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing that goes wrong, instead of the reply or in the middle of it.

    Args:
        kind: "rate_limit" and "server_error" are HTTP errors; "timeout" never answers; "connection_error"
            closes before the first byte; "html" is status 200 with a web page; "truncated" is a JSON body cut
            in half; "dropped" loses the connection in the middle; "ended_early" ends a stream without its
            last chunks; "bad_chunk" has half a chunk in the stream; "error_event" an error in the stream;
            "slow_first_token" a stream that begins later than an impatient client waits.
        status: the HTTP status of an error; by default 429 or 500.
        retry_after: seconds the client is told to wait (`retry-after`).
        retry_after_ms: the same in milliseconds; 1 when nothing is said, so that no lesson waits.
        message: the error's words.
        code: the error's code.
        after: how many events of the stream come before the fault; half of them when not said.
        seconds: how late the first token is said to be ("slow_first_token").

    Raises:
        ValueError: a value that does not go with the kind.
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
            raise ValueError(f"fault {self.kind!r} is none of {', '.join(get_args(Kind))}")
        goes_with = {
            **dict.fromkeys(("status", "retry_after", "retry_after_ms", "code"), tuple(STATUS)),
            "message": (*STATUS, "error_event"),
            "after": ("dropped", "ended_early", "bad_chunk", "error_event"),
            "seconds": ("slow_first_token",),
        }
        for name, kinds in goes_with.items():
            value = getattr(self, name)
            if value is not None and self.kind not in kinds:
                raise ValueError(f"{name} does not go with the fault {self.kind}; it goes with {', '.join(kinds)}")
            if isinstance(value, (int, float)) and not 0 <= value < 1e9:
                raise ValueError(f"{name} is 0 or more, not {value}")
        if self.status is not None and not 400 <= self.status <= 599:
            raise ValueError(f"status is that of an HTTP error, 400 to 599, not {self.status}")

    def mismatch(self, streaming: bool) -> str | None:
        """Why this fault can't happen to a request for a stream, or for a plain answer; None when it can."""
        if streaming and self.kind in PLAIN_ONLY:
            return f"the fault {self.kind!r} is for plain answers, and a stream was asked for; use bad_chunk"
        if not streaming and self.kind in STREAM_ONLY:
            return f"the fault {self.kind!r} is for streams, and no stream was asked for; ask with stream=True"
        return None


def parse_fault(given: str | Mapping[str, object] | Fault) -> Fault:
    """A fault from how scripts write it: "timeout", {"kind": "dropped", "after": 2}, {"status": 503}.

    Raises:
        ValueError: there is no such fault.
    """
    if isinstance(given, Fault):
        return given
    fields = {"kind": given} if isinstance(given, str) else dict(given)
    if "kind" not in fields and "status" in fields:
        fields["kind"] = "rate_limit" if fields["status"] == 429 else "server_error"
    if "kind" not in fields:
        raise ValueError(f"a fault has a kind, one of {', '.join(get_args(Kind))}, or a status")
    return Fault(**fields)
