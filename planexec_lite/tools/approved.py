"""Calls that need approval: the rule that `Tool.call` applies where the step's executor chooses the calls.

An approval covers the call that the step names. Every other call that must run at most once, or that can delete or
overwrite something, waits for a person: `Tool.call` raises `CallWaits`, the step pauses, and a yes allows exactly that
call. A call that must run at most once is never repeated unseen, wherever in the run it was made.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Container
from dataclasses import dataclass, field
from functools import cached_property, partial
from hashlib import sha256
from itertools import count, filterfalse
from typing import Any, Literal, NamedTuple

from pydantic_core import to_json, to_jsonable_python

from planexec_lite.frozen import frozen
from planexec_lite.meter import Meter, Waits
from planexec_lite.tools.signature import Params, ToolError

sorted_json = json.JSONEncoder(sort_keys=True).encode
"""Returns data as JSON text in one line, with names in alphabetical order."""
REPEATABLE = ("none", "idempotent")
CallState = Literal["running", "open", "doubt", "done"]
"""The state of one occurrence of a call. "open": an attempt ended, and the call was not made."""
TRIED = ("open", "doubt")
"""The states in which the next attempt of the call belongs to the same occurrence."""
LANE = 1_000_000
"""How many occurrences of a call belong to one step that chooses calls: more than any run makes."""
ANY = ""
"""Stands for the identity of a call that a step might have made, if it has not said which calls it chose."""


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
    """A call that is about to be made: the `Tool`, its arguments as given, and as the function receives them.

    Its module imports this one. Computing the identity takes longer than many calls, so that waits until it is needed.
    """

    tool: Any
    given: Params
    arguments: Params

    @cached_property
    def text(self) -> str:
        """The call's `Tool.call_text`."""
        return str(self.tool.call_text(self.given))

    @cached_property
    def identity(self) -> str:
        """The call's `Tool.identity`."""
        return str(self.tool.identity(self.given, self.arguments))

    @property
    def changes(self) -> bool:
        """Whether a repeat could do harm, as far as the tool declares it."""
        return self.tool.effects not in REPEATABLE or self.tool.destructive is True

    @property
    def needs_person(self) -> bool:
        """Whether a person approves this call, if a model chose it."""
        return self.tool.effects == "once" or self.tool.destructive is True


def digest_of(*parts: Any) -> str:
    """Return 32 characters that depend on `parts`, which JSON can hold, and on nothing else."""
    return sha256(to_json(parts)).hexdigest()[:32]


def next_number(known: Container[int], tried: Collection[int], first: int) -> int:
    """Return the occurrence that the next attempt of a call belongs to.

    It is the lowest of those that were `tried` and are not known to be done, and otherwise the lowest from `first` that
    is not `known`.
    """
    return min(tried) if tried else next(filterfalse(known.__contains__, count(first)))


@frozen
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
    # the state of the call that the step names; None: it has not begun
    named: CallState | None = None
    # the calls that a restart of the step does not repeat
    made: list[MadeCall] = field(default_factory=list)
    # the other calls with effects
    chosen: dict[tuple[str, int], KnownCall] = field(default_factory=dict)
    # the call that waits for a person
    waits: Waits | None = None

    def make(self, call: Request, meter: Meter) -> Any:
        """Make a call and return its result, or the result that it had before the step paused.

        The result is data if a restart of the step must not repeat the call. Raises `CallWaits` if a person must approve the
        call first, and `ToolError` if the step is not allowed to make it.
        """
        self._check(call)
        before = [one.result for one in self.approved.made if one.text == call.text]
        number = sum(one.text == call.text for one in self.made)
        result = before[number] if number < len(before) else self._run(call, meter)
        if self.approved.asks and call.changes:
            result = plain(result)
            self.made.append(MadeCall(call.text, result))
        return result

    def _check(self, call: Request) -> None:
        """Raise `CallWaits` if a person must approve the call first, and `ToolError` if the step is not allowed to make it."""
        approved, tool = self.approved, call.tool
        if call.text == approved.text:
            if self.named not in (None, "open") and call.changes:
                before = "has already run" if self.named == "done" else "might have run"
                raise ToolError(
                    f"{tool.name} {before} in this step with these arguments; it can't run again"
                )
            return
        if approved.asks and tool.name == approved.tool and tool.effects != "none":
            fixed = approved.text or "the plan names a call that can't be made"
            raise ToolError(
                f"the plan fixes the arguments of {tool.name}: {fixed}. Call it with those"
            )
        why = self._why_not(call)
        if why == "" or self._is_permitted(call):
            return
        if not approved.asks:
            raise ToolError(f"{call.text} is not called: {why}")
        self.waits = Waits(why, tool.name, tool.complete(call.given))
        raise CallWaits(f"{call.text} needs the approval of a person")

    def _run(self, call: Request, meter: Meter) -> Any:
        """Run the call, and record its state.

        The call that the step names has the step's key, and here the number -1. Any other call with effects has a key of its own.
        """
        step_key, number = meter.key, -1
        is_first = call.text == self.approved.text and self.named is None
        if not is_first:
            meter.key = None
        if not is_first and call.tool.effects != "none":
            known, first = self._known(call), self.approved.first
            # an open call of another lane belongs to a step that might make it again itself
            mine = range(first, first + LANE)
            tried = [at for at, one in known.items() if at in mine and one.state in TRIED]
            number = next_number(known, tried, first)
            meter.key = partial(digest_of, self.approved.base, call.identity, number)
        self._set(call, number, "running")
        try:
            result = call.tool.run(call.arguments, meter)
        except BaseException as error:
            self._set(call, number, "doubt" if call.tool.leaves_doubt(error) else "open")
            raise
        finally:
            meter.key = step_key
        self._set(call, number, "done")
        return result

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
        tool, planned = call.tool, self.approved.planned
        if tool.effects == "once":
            any_call = [one for one in self.approved.known if one.call == ANY and one.once]
            known = [*any_call, *self._known(call).values()]
            earlier = [one for one in known if one.state in ("done", "doubt")]
            if earlier:
                sure = any(one.state == "done" for one in earlier)
                made = "already made" if sure else "might have made"
                by = earlier[-1].by or "this step"
                return f"{by} {made} {call.text}, which runs at most once"
        if self.approved.asks:
            return f"a model chose {call.text}" if call.needs_person else ""
        has_effects = tool.effects != "none" or tool.destructive
        if planned is None or not has_effects:
            return ""
        if tool.name in planned and not call.needs_person:
            return ""
        return f"a model chose it, and no plan of this run calls {tool.name} so (no_new_effects)"

    def _known(self, call: Request) -> dict[int, KnownCall]:
        """Return the occurrences of a call that are known, by number."""
        known = [*self.approved.known, *self.chosen.values()]
        return {one.number: one for one in known if one.call == call.identity}

    def _set(self, call: Request, number: int, state: CallState) -> None:
        """Record the state of a call."""
        once = call.tool.effects == "once"
        if number >= 0:
            self.chosen[call.identity, number] = KnownCall(call.identity, number, state, once)
        elif call.text == self.approved.text:
            self.named = state


def plain(value: Any) -> Any:
    """Return `value` as data for JSON. Sets are sorted, 3.0 becomes 3, and values that JSON has no form for become text."""
    if isinstance(value, str):
        return value.encode(errors="backslashreplace").decode()
    if value is None or isinstance(value, int):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            return repr(value)
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
