"""A script: scenes, each with the conditions that call for it and the reply that it gives.

These are plain frozen values. `When` says which requests a scene is for, `Reply` what the model says.
Whatever a value can check about itself it checks when it is made; `reading.py` adds file and line.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, get_args

from .exchange import Request, Usage
from .faults import Fault
from .spoil import SPOILS, spoiled
from .template import names_in

Format = Literal["text", "json", "json_object", "json_schema"]
FinishReason = Literal["stop", "length", "content_filter"]
Texts = str | Sequence[str]
KINDS: Final = ("text", "json", "calls", "refusal", "python", "choices", "fault")


class ScriptError(ValueError):
    """A script that can't be used: every fault in it, with file, line, field and the mend."""


class _Nothing:
    """Marks a reply without `json`, because `json: null` is a reply too."""

    def __repr__(self) -> str:
        return "NOTHING"


NOTHING: Final = _Nothing()
ESTIMATED: Final = Usage()


@dataclass(frozen=True, kw_only=True)
class When:
    """Which requests a scene is for. All conditions must hold; what is left out does not matter.

    Texts are looked for as whole words: "4" is in "= 4", but not in "48" nor in "4.5", so a result that
    has changed is not taken for the old one.

    Args:
        role: the instructions hold the line "Role: <role>".
        system: each text stands in the instructions.
        says: each text stands in some user, assistant or tool message.
        last: each text stands in the newest message.
        never: none of these texts stands in any user, assistant or tool message.
        find: name -> regular expression; each must match in the conversation (the newest message first).
            The reply may use what was found (its group, or the whole match) as `{{name}}`.
        format: the answer's format asked for; "json" is either of the two JSON formats.
        tools: each of these tools is offered.
        called: each of these tools has been called in the conversation.
        turn: it is the model's turn number `turn` in the conversation: 1 when it has not spoken yet.
        counter: count calls of this name instead, over all conversations: `turn` is then the how-manieth call
            it is for which a scene of this counter fits. Who asks for a counter gives up order independence:
            parallel calls get their numbers in order of arrival. A silent retry keeps its number.
    """

    role: str | None = None
    system: Texts = ()
    says: Texts = ()
    last: Texts = ()
    never: Texts = ()
    find: Mapping[str, str] = field(default_factory=dict)
    format: Format | None = None
    tools: Texts = ()
    called: Texts = ()
    turn: int | None = None
    counter: str | None = None

    def __post_init__(self) -> None:
        for name in ("system", "says", "last", "never", "tools", "called"):
            value = getattr(self, name)
            texts = (value,) if isinstance(value, str) else tuple(value)
            if not all(texts):
                raise ScriptError(f"an empty text in {name} is found everywhere: leave it out")
            object.__setattr__(self, name, texts)
        if self.format is not None and self.format not in get_args(Format):
            raise ScriptError(f"format {self.format!r} is none of {', '.join(get_args(Format))}")
        for name, pattern in self.find.items():
            check_pattern(name, pattern)
        if self.turn is not None and self.turn < 1:
            raise ScriptError(f"turns are counted from 1, not {self.turn}")
        if self.counter is not None and self.turn is None:
            raise ScriptError("a counter needs a turn: say for which number this scene is")


@dataclass(frozen=True)
class ToolUse:
    """A tool call in a script.

    Args:
        tool: the tool's name.
        arguments: what it is called with; texts may hold `{{name}}`. A text instead of an object is sent as it
            is: that is how broken arguments are written.
    """

    tool: str
    arguments: Any = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.arguments, str):
            check_json(self.arguments)


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What the model says: exactly one of text, json, calls, refusal, python and choices; text may go with calls.

    Args:
        text: plain text; may hold `{{name}}` for what `when.find` found.
        json: a value that is sent as JSON; texts in it may hold `{{name}}`, and a text that is only
            `{{name|json}}` becomes the number, list or other JSON value that was found.
        calls: tools that the model calls, all at once.
        refusal: the model declines, in these words.
        choices: different replies for `n` of them; any other reply is repeated `n` times.
        fault: what goes wrong at every attempt; the reply itself may then be left out.
        faults: what goes wrong at attempt 0, 1, … of a call; after them comes the reply.
        spoil: makes a good plan in `json` a bad one ("cycle", "prose", …; see `mock_llm.spoil`).
        python: a function of the `Request` that returns a text, a JSON value or another `Reply`.
        latency: seconds the model is said to take (`openai-processing-ms`); nobody waits.
        usage: tokens read and written; what is not stated is estimated as characters / 4.
        finish_reason: "stop", or "length" or "content_filter" for a reply that was cut off.
        broken: the reply breaks the format or the tool's schema, on purpose.
    """

    text: str | None = None
    json: Any = NOTHING
    calls: Sequence[ToolUse] = ()
    refusal: str | None = None
    choices: Sequence[Reply] = ()
    fault: Fault | None = None
    faults: Sequence[Fault] = ()
    spoil: str | None = None
    python: Callable[[Request], Any] | None = None
    latency: float = 0.0
    usage: Usage = ESTIMATED
    finish_reason: FinishReason = "stop"
    broken: bool = False

    def __post_init__(self) -> None:
        for name in ("calls", "choices", "faults"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        given = [name for name in ("text", "refusal", "python") if getattr(self, name) is not None]
        given += ["json"] * (self.json is not NOTHING) + ["choices"] * bool(self.choices)
        given += ["calls"] * (bool(self.calls) and given != ["text"])
        if len(given) > 1 or not (given or self.fault):
            found = " and ".join(given) or "none of them"
            raise ScriptError(f"a reply is exactly one of {', '.join(KINDS)}; this one has {found}")
        if not (math.isfinite(self.latency) and self.latency >= 0):
            raise ScriptError(f"latency is in seconds, 0 or more; not {self.latency}")
        if any(tokens is not None and tokens < 0 for tokens in (self.usage.input, self.usage.output)):
            raise ScriptError("usage counts tokens, 0 or more")
        if self.finish_reason not in get_args(FinishReason):
            raise ScriptError(f"finish_reason {self.finish_reason!r} is none of {', '.join(get_args(FinishReason))}")
        if self.json is not NOTHING:
            check_json(self.json)
        if self.spoil is not None:
            check_spoil(self.spoil, self.json)

    @property
    def templates(self) -> list[Any]:
        """The scripted words: the parts of the reply that may hold `{{name}}`."""
        own = [self.text, None if self.json is NOTHING else self.json, self.refusal]
        inner = [part for choice in self.choices for part in choice.templates]
        return own + [use.arguments for use in self.calls] + inner


ALWAYS: Final = When()


@dataclass(frozen=True)
class Scene:
    """One scene of a script: when a request fits `when`, the model gives `reply`.

    Args:
        name: how errors, calls and tables speak of it; unique in the script.
        source: where it was written ("deploy.yaml:14"), for errors.
    """

    name: str
    reply: Reply
    when: When = ALWAYS
    source: str = "Python"

    def __post_init__(self) -> None:
        unknown = sorted(names_in(self.reply.templates) - set(self.when.find))
        if unknown:
            raise ScriptError(f"the reply uses {{{{{unknown[0]}}}}}, but when.find has no {unknown[0]!r}")

    def __str__(self) -> str:
        return f"{self.name!r} ({self.source})"


def check_pattern(name: str, pattern: str) -> None:
    """Raise ScriptError unless the pattern of `find` is a regular expression with at most one group."""
    try:
        groups = re.compile(pattern).groups
    except re.error as error:
        raise ScriptError(f"find {name!r}: {pattern!r} is not a regular expression: {error}") from None
    if groups > 1:
        raise ScriptError(f"find {name!r}: use one group, for what is wanted; write the others as (?:…)")


def check_json(value: Any) -> None:
    """Raise ScriptError unless the value can be sent as JSON (no dates, no NaN, texts as keys)."""
    try:
        same = json.loads(json.dumps(value, allow_nan=False)) == value
    except (TypeError, ValueError, RecursionError) as error:
        raise ScriptError(f"json holds a value that JSON can't: {error}") from None
    if not same:
        raise ScriptError("json holds keys that are not texts, or tuples: put keys in quotes, use lists")


def check_spoil(name: str, plan: Any) -> None:
    """Raise ScriptError unless there is such a spoil, and the plan can be spoiled so."""
    if name not in SPOILS:
        raise ScriptError(f"spoil {name!r} is none of {', '.join(SPOILS)}")
    try:
        spoiled(plan, name)
    except ValueError as error:
        raise ScriptError(f"spoil {name!r}: {error}") from None
