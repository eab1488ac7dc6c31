"""Calls that need approval: the rule that `Tool.call` applies where the step's executor chooses the calls.

An approval covers the call that the step names. Every other call that must run at most once, or that can delete or overwrite
something, waits for a person: `Tool.call` raises `CallWaits`, the step pauses, and a yes allows exactly that call.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, NamedTuple

from pydantic_core import to_jsonable_python

from planexec_lite.tools.signature import ToolError

NOT_MADE = object()
REPEATABLE = ("none", "idempotent")


class CallWaits(Exception):
    """A call needs the approval of a person. An executor does not catch this error, so that the step can pause."""


class MadeCall(NamedTuple):
    """A call that a step has made: its text (see `Tool.call_text`), and its result as data."""

    text: str
    result: Any


@dataclass(frozen=True, slots=True)
class ApprovedCalls:
    """The calls that are approved for one step. The value can be sent to another process.

    Args:
        tool: the tool that the step names; None if the step names no call.
        text: the call that the step names (see `Tool.call_text`).
        asks: whether a person approves plans, in this run or in the outer one.
        allowed: the calls that a person has approved since the step paused for them.
        made: the calls that the step made before it paused; they are not repeated.
    """

    tool: str | None = None
    text: str = ""
    asks: bool = False
    allowed: tuple[str, ...] = ()
    made: tuple[MadeCall, ...] = ()

    def log(self) -> CallLog:
        """Return the empty log of a job that is allowed these calls."""
        return CallLog(self)


@dataclass(slots=True)
class CallLog:
    """The calls that a job has made so far, checked against the approved calls."""

    approved: ApprovedCalls
    texts: list[str] = field(default_factory=list)  # of the calls that returned
    made: list[MadeCall] = field(default_factory=list)  # the calls that a restart of the step does not repeat
    waits: str = ""  # the call that waits for a person

    def note(self, text: str, result: Any, *, effects: str, destructive: bool) -> Any:
        """Record that the call returned, and return its result: as data if a restart of the step must not repeat the
        call.
        """
        self.texts.append(text)
        if not self.approved.asks or (effects in REPEATABLE and not destructive):
            return result
        self.made.append(MadeCall(text, plain(result)))
        return self.made[-1].result

    def key(self, text: str, step_key: str | None) -> str | None:
        """Return the idempotency key of this call: the step's key for the call that the step names, else a separate key."""
        number = self.texts.count(text)
        if step_key is None or (text == self.approved.text and not number):
            return step_key
        return sha256(f"{step_key} {number} {text}".encode(errors="replace")).hexdigest()[:32]

    def earlier(self, text: str) -> Any:
        """Return the result of this call if the step made it before it paused; else `NOT_MADE`."""
        before = [one.result for one in self.approved.made if one.text == text]
        number = sum(one.text == text for one in self.made)
        return before[number] if number < len(before) else NOT_MADE

    def check(self, tool: str, text: str, *, effects: str, destructive: bool) -> None:
        """Raise `CallWaits` if a person must approve the call first, and `ToolError` if the step is not allowed to make it."""
        approved, permitted = self.approved, [*self.approved.allowed, *(one.text for one in self.approved.made)]
        if text == approved.text:
            if (effects not in REPEATABLE or destructive) and text in self.texts:
                raise ToolError(f"{tool} has already run in this step with these arguments; it can't run again")
            return
        if approved.asks and tool == approved.tool and effects != "none":
            fixed = approved.text or "the plan names a call that can't be made"
            raise ToolError(f"the plan fixes the arguments of {tool}: {fixed}. Call it with those")
        if not approved.asks or not (effects == "once" or destructive):
            return
        if sum(one.text == text for one in self.made) < permitted.count(text):
            return
        self.waits = text
        raise CallWaits(f"{text} needs the approval of a person")


def plain(value: Any) -> Any:
    """Return `value` as data for JSON. Sets are sorted, 3.0 becomes 3, and values that JSON has no form for become text."""
    if isinstance(value, str):
        return value.encode(errors="backslashreplace").decode()
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() else value if value - value == 0 else repr(value)
    if isinstance(value, dict):
        return {plain(str(name)): plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, set | frozenset):
        return sorted((plain(part) for part in value), key=text_of)
    try:
        return plain(to_jsonable_python(value))
    except Exception:  # the methods of an object of any class can raise any error
        return f"a {type(value).__name__}"


def text_of(value: Any) -> str:
    """Return `value` as JSON text in one line, with names in alphabetical order."""
    return json.dumps(plain(value), sort_keys=True)
