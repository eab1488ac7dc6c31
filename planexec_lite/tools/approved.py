"""Calls that need approval: the rule that `Tool.call` applies where the step's executor chooses the calls.

An approval covers the call that the step names. Every other call that must run at most once, or that can delete or
overwrite something, waits for a person: `Tool.call` raises `CallWaits`, the step pauses, and a yes allows exactly that
call. A call that must run at most once is never repeated unseen, wherever in the run it was made.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Container
from dataclasses import dataclass, field
from functools import cached_property, partial
from hashlib import sha256
from itertools import count, filterfalse
from typing import Any, Literal, NamedTuple

from pydantic_core import to_json, to_jsonable_python

from planexec_lite.meter import MakeKey, Waits
from planexec_lite.tools.signature import Params, ToolError

NOT_MADE = object()
sorted_json = json.JSONEncoder(sort_keys=True).encode
"""Returns data as JSON text in one line, with names in alphabetical order."""
REPEATABLE = ("none", "idempotent")
CallState = Literal["running", "open", "doubt", "done"]
"""The state of one occurrence of a call. "open": an attempt ended, and the call was not made."""
TRIED = ("open", "doubt")
"""The states in which the next attempt of the call belongs to the same occurrence."""


class CallWaits(Exception):
    """A call needs the approval of a person. An executor does not catch this error, so that the step can pause."""


class MadeCall(NamedTuple):
    """A call that a step has made: its text (see `Tool.call_text`), and its result as data."""

    text: str
    result: Any


class KnownCall(NamedTuple):
    """One occurrence of a call with effects, as far as a run knows it.

    `call` is the call's `Tool.identity`, `number` its occurrence in the outermost run. `once`: it must run at most
    once. `by` names who made it, such as "step 3".
    """

    call: str
    number: int
    state: CallState
    once: bool = False
    by: str = ""


@dataclass(frozen=True)
class Request:
    """A call that is about to be made: the tool, its arguments, its text, and what the tool declares.

    `identify` computes its identity. That takes longer than many calls, so it is computed only when needed.
    """

    tool: str
    params: Params
    text: str
    identify: Callable[[], str]
    effects: str
    destructive: bool

    @cached_property
    def identity(self) -> str:
        """The call's `Tool.identity`."""
        return self.identify()

    @property
    def changes(self) -> bool:
        """Whether a repeat could do harm, as far as the tool declares it."""
        return self.effects not in REPEATABLE or self.destructive

    @property
    def needs_person(self) -> bool:
        """Whether a person approves this call, if a model chose it."""
        return self.effects == "once" or self.destructive


def digest_of(*parts: Any) -> str:
    """Return 32 characters that depend on `parts`, which JSON can hold, and on nothing else."""
    return sha256(to_json(parts)).hexdigest()[:32]


def next_number(known: Container[int], tried: Collection[int], first: int) -> int:
    """Return the occurrence that the next attempt of a call belongs to.

    It is the lowest of those that were `tried` and are not known to be done, and otherwise the lowest from `first` that
    is not `known`.
    """
    return min(tried) if tried else next(filterfalse(known.__contains__, count(first)))


@dataclass(frozen=True, slots=True)
class ApprovedCalls:
    """The calls that are approved for one step. The value can be sent to another process.

    Args:
        tool: the tool that the step names; None if the step names no call.
        text: the call that the step names (see `Tool.call_text`).
        asks: whether a person approves plans, in this run or in the outer one.
        allowed: the calls that a person has approved since the step paused for them.
        made: the calls that the step made before it paused; they are not repeated.
        planned: the only tools with effects that a model can choose, because a plan names them; None: all tools.
        known: the calls with effects that the run knows.
        base: what the idempotency keys of chosen calls are made from.
        first: the lowest occurrence of a new call.
    """

    tool: str | None = None
    text: str = ""
    asks: bool = False
    allowed: tuple[str, ...] = ()
    made: tuple[MadeCall, ...] = ()
    planned: frozenset[str] | None = None
    known: tuple[KnownCall, ...] = ()
    base: str = ""
    first: int = 0

    def log(self) -> CallLog:
        """Return the empty log of a job that is allowed these calls."""
        return CallLog(self)


@dataclass(slots=True)
class CallLog:
    """The calls that a job has made so far, checked against the approved calls."""

    approved: ApprovedCalls
    named: CallState | None = (
        None  # the state of the call that the step names; None: it has not begun
    )
    made: list[MadeCall] = field(
        default_factory=list
    )  # the calls that a restart of the step does not repeat
    chosen: dict[tuple[str, int], KnownCall] = field(
        default_factory=dict
    )  # the other calls with effects
    waits: Waits | None = None  # what the job waits for

    def check(self, call: Request) -> None:
        """Raise `CallWaits` if a person must approve the call first, and `ToolError` if the step is not allowed to make it."""
        approved = self.approved
        if call.text == approved.text:
            if self.named is not None and self.named != "open" and call.changes:
                before = "has already run" if self.named == "done" else "might have run"
                raise ToolError(
                    f"{call.tool} {before} in this step with these arguments; it can't run again"
                )
            return
        if approved.asks and call.tool == approved.tool and call.effects != "none":
            fixed = approved.text or "the plan names a call that can't be made"
            raise ToolError(
                f"the plan fixes the arguments of {call.tool}: {fixed}. Call it with those"
            )
        why = self._why_not(call)
        if why == "" or self._is_permitted(call):
            return
        if not approved.asks:
            raise ToolError(f"{call.text} is not called: {why}")
        self.waits = Waits(why, call.tool, call.params)
        raise CallWaits(f"{call.text} needs the approval of a person")

    def begin(self, call: Request, step_key: MakeKey | None) -> tuple[int, MakeKey | None]:
        """Record that the call begins. Return its occurrence and what makes its idempotency key.

        The call that the step names has the step's key, and here the number -1.
        """
        if call.text == self.approved.text and self.named is None:
            self.named = "running"
            return -1, step_key
        if call.effects == "none":
            return -1, None
        known = self._known(call.identity)
        tried = [number for number, one in known.items() if one.state in TRIED]
        number = next_number(known, tried, self.approved.first)
        self._set(call, number, "running")
        return number, partial(digest_of, self.approved.base, call.identity, number)

    def end(self, call: Request, number: int, state: CallState) -> None:
        """Record how the call ended."""
        if number >= 0:
            self._set(call, number, state)
        elif call.text == self.approved.text:
            self.named = state

    def note(self, call: Request, result: Any) -> Any:
        """Return the result of the call: as data if a restart of the step must not repeat the call."""
        if not self.approved.asks or not call.changes:
            return result
        self.made.append(MadeCall(call.text, plain(result)))
        return self.made[-1].result

    def earlier(self, text: str) -> Any:
        """Return the result of this call if the step made it before it paused; else `NOT_MADE`."""
        before = [one.result for one in self.approved.made if one.text == text]
        number = sum(one.text == text for one in self.made)
        return before[number] if number < len(before) else NOT_MADE

    def _is_permitted(self, call: Request) -> bool:
        """Whether a person has approved exactly this call, and the step has not made it since."""
        permitted = [*self.approved.allowed, *(one.text for one in self.approved.made)]
        used = sum(one.text == call.text for one in self.made)
        for known in self.chosen.values():
            if known.call == call.identity and known.state == "doubt":
                used += 1
        return used < permitted.count(call.text)

    def _why_not(self, call: Request) -> str:
        """Return why the model is not free to make this call; "" if it is."""
        if call.effects == "once" and (earlier := self._earlier(call)):
            made = "made" if any(one.state == "done" for one in earlier) else "might have made"
            by = earlier[-1].by or "this step"
            return f"{by} already {made} {call.text}, which runs at most once"
        if self.approved.asks:
            return f"a model chose {call.text}" if call.needs_person else ""
        planned = self.approved.planned
        if planned is None or (call.effects == "none" and not call.destructive):
            return ""
        if call.needs_person or call.tool not in planned:
            return (
                f"a model chose it, and no plan of this run calls {call.tool} so (no_new_effects)"
            )
        return ""

    def _earlier(self, call: Request) -> list[KnownCall]:
        """Return the occurrences of a call that were made, or might have been."""
        known = self._known(call.identity)
        return [one for one in known.values() if one.state in ("done", "doubt")]

    def _known(self, identity: str) -> dict[int, KnownCall]:
        known = {}
        for call in [*self.approved.known, *self.chosen.values()]:
            if call.call == identity:
                known[call.number] = call
        return known

    def _set(self, call: Request, number: int, state: CallState) -> None:
        once = call.effects == "once"
        self.chosen[call.identity, number] = KnownCall(call.identity, number, state, once)


def plain(value: Any) -> Any:
    """Return `value` as data for JSON. Sets are sorted, 3.0 becomes 3, and values that JSON has no form for become text."""
    if isinstance(value, str):
        return value.encode(errors="backslashreplace").decode()
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
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
    return sorted_json(plain(value))
