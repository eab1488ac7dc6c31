"""Replies: the model's answers in a scene, and the small template language for them.

`{{name}}` is replaced by the text that `when.find` captured in the conversation. The language has no expressions and no
loops. To compute a reply, use a Python function.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

from mock_llm.types import SERVICE_ITEMS, Fault, Request, Usage, suggestion

from .errors import ScriptError

FinishReason = Literal["stop", "length", "content_filter"]
KINDS = ("text", "json", "calls", "refusal", "python", "choices", "fault")
PLACEHOLDER = re.compile(r"\{\{\s*(\w+)\s*\}\}")
BRACED = re.compile(r"\{\{([^{}]*)\}\}")
AS_JSON = re.compile(r"\{\{\s*(\w+)\s*(?:\|\s*json\s*){1,2}\}\}")


NOTHING = object()  # marks a reply without `json`, because `json: null` is a reply too
ESTIMATED = Usage()


@dataclass(frozen=True)
class ToolUse:
    """A tool call in a script.

    Args:
        tool: the tool's name.
        arguments: the arguments; strings can contain `{{name}}`. A string instead of an object is sent unchanged, which
            is how broken arguments are written.
    """

    tool: str
    arguments: Any = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.arguments, str):
            check_json(self.arguments)


@dataclass(frozen=True, kw_only=True)
class Reply:
    """The model's reply: exactly one of text, json, calls, refusal, python and choices; text can be combined with
    calls.

    Args:
        text: plain text; can contain `{{name}}` for a capture of `when.find`.
        json: a value that is sent as JSON. Strings in it can contain `{{name}}`. A string that is only `{{name|json}}`
            becomes the captured number, list or other JSON value; `{{name|json|json}}` becomes the value inside a
            captured JSON string.
        calls: tools that the model calls, in parallel.
        reasoning: the summary of the model's reasoning; "" for reasoning without a summary. Goes with any reply.
        items: what the service itself adds to a response: `{type: web_search_call, action: {…}}` and others.
        refusal: the text of a refusal.
        choices: different replies for `n` of them; any other reply is repeated `n` times.
        fault: a fault at every attempt; then the reply itself can be left out.
        faults: the faults at attempts 0, 1, … of a call; the reply follows after them.
        python: a function of the `Request` that returns a string, a JSON value or another `Reply`.
        latency: reported seconds of work (`openai-processing-ms`); no time passes.
        usage: input, output, cached and reasoning tokens; missing values are estimated as characters / 4.
        finish_reason: "stop", or "length" or "content_filter" for a reply that was cut off.
        broken: the reply breaks the format or the tool's schema on purpose.
    """

    text: str | None = None
    json: Any = NOTHING
    calls: Sequence[ToolUse] = ()
    reasoning: str | None = None
    items: Sequence[Mapping[str, Any]] = ()
    refusal: str | None = None
    choices: Sequence[Reply] = ()
    fault: Fault | None = None
    faults: Sequence[Fault] = ()
    python: Callable[[Request], Any] | None = None
    latency: float = 0.0
    usage: Usage = ESTIMATED
    finish_reason: FinishReason = "stop"
    broken: bool = False

    def __post_init__(self) -> None:
        for name in ("calls", "items", "choices", "faults"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        given = [name for name in ("text", "refusal", "python") if getattr(self, name) is not None]
        given += ["json"] * (self.json is not NOTHING) + ["choices"] * bool(self.choices)
        given += ["calls"] * (bool(self.calls) and given != ["text"])
        if len(given) > 1 or not (given or self.fault or self.items):
            kinds = " and ".join(given) or "none of them"
            raise ScriptError(f"a reply is exactly one of {', '.join(KINDS)}; this one has {kinds}")
        if not (math.isfinite(self.latency) and self.latency >= 0):
            raise ScriptError(f"latency is in seconds, 0 or more; not {self.latency}")
        check_usage(self.usage)
        if self.finish_reason not in get_args(FinishReason):
            fix = suggestion(self.finish_reason, get_args(FinishReason))
            raise ScriptError(f"unknown finish_reason {self.finish_reason!r}; {fix}")
        if self.json is not NOTHING:
            check_json(self.json)
        for item in self.items:
            check_item(item)

    @property
    def placeholders(self) -> set[str]:
        """The names of all `{{name}}` placeholders in the reply, its choices included."""
        templates = [self.text, None if self.json is NOTHING else self.json, self.refusal, self.reasoning]
        templates += [dict(item) for item in self.items]
        templates += [use.arguments for use in self.calls]
        return placeholders_in(templates).union(*(choice.placeholders for choice in self.choices))

    def filled(self, captures: Mapping[str, str]) -> Reply:
        """Return the reply with its placeholders filled, but its choices unchanged.

        Args:
            captures: the texts that `when.find` captured, by name.

        Raises:
            ValueError: the text for a `{{name|json}}` is not JSON.
        """
        return replace(
            self,
            text=fill(self.text, captures),
            json=self.json if self.json is NOTHING else fill(self.json, captures),
            calls=[ToolUse(use.tool, fill(use.arguments, captures)) for use in self.calls],
            refusal=fill(self.refusal, captures),
            reasoning=fill(self.reasoning, captures),
            items=[fill(dict(item), captures) for item in self.items],
        )


def placeholders_in(template: Any) -> set[str]:
    """Return all placeholder names in a template, at any depth."""
    if isinstance(template, str):
        return set(PLACEHOLDER.findall(template)) | set(AS_JSON.findall(template))
    if isinstance(template, dict):
        return set().union(*map(placeholders_in, template.values()))
    if isinstance(template, list):
        return set().union(*map(placeholders_in, template))
    return set()


def unreadable(template: str) -> list[str]:
    """Return the contents of double braces that are not valid placeholders: "a+b", "a|upper"."""
    return [
        braces.group(1)
        for braces in BRACED.finditer(template)
        if not (PLACEHOLDER.fullmatch(braces.group()) or AS_JSON.fullmatch(braces.group()))
    ]


def fill(template: Any, captures: Mapping[str, str]) -> Any:
    """Return a template with the captured texts filled in.

    Args:
        template: a string, or a JSON value whose strings are filled.
        captures: captured text by name.

    Returns:
        A value of the same form. A string that is only `{{name|json}}` becomes the captured JSON value.

    Raises:
        ValueError, TypeError: the text for `{{name|json}}` is not JSON, or is not a JSON string that contains JSON.
    """
    if isinstance(template, str):
        if whole := AS_JSON.fullmatch(template):
            value = json.loads(captures[whole.group(1)])
            return json.loads(value) if template.count("|") == 2 else value
        # In a single pass, because braces in captured text are data and are never filled.
        return re.sub(
            f"{AS_JSON.pattern}|{PLACEHOLDER.pattern}", lambda m: captures[m.group(1) or m.group(2)], template
        )
    if isinstance(template, dict):
        return {key: fill(value, captures) for key, value in template.items()}
    if isinstance(template, list):
        return [fill(value, captures) for value in template]
    return template


def check_json(value: Any) -> None:
    """Raise ScriptError unless the value can be sent as JSON (no dates, no NaN, string keys only)."""
    try:
        same = json.loads(json.dumps(value, allow_nan=False)) == value
    except (TypeError, ValueError, RecursionError) as error:
        raise ScriptError(f"json contains a value that JSON can't represent: {error}") from None
    if not same:
        raise ScriptError("json contains tuples, or keys that are not strings: put keys in quotes, use lists")


def check_usage(usage: Usage) -> None:
    """Raise ScriptError unless the counts are possible."""
    if any(tokens is not None and tokens < 0 for tokens in (usage.input, usage.output, usage.cached, usage.reasoning)):
        raise ScriptError("usage counts tokens, 0 or more")
    for part, whole in (("cached", "input"), ("reasoning", "output")):
        some, every = getattr(usage, part), getattr(usage, whole)
        if some is not None and every is not None and some > every:
            raise ScriptError(f"usage.{part} is a part of usage.{whole}: {some} is more than {every}")


def check_item(item: Any) -> None:
    """Raise ScriptError unless the value describes an item that the service adds to a response."""
    kind = item.get("type") if isinstance(item, Mapping) else None
    if not isinstance(kind, str) or kind not in SERVICE_ITEMS:
        raise ScriptError(f"unknown type {kind!r} of an item; {suggestion(kind, SERVICE_ITEMS)}")
    known = SERVICE_ITEMS[kind].fields
    for name in item:
        if name not in ("type", *known):
            raise ScriptError(f"unknown field {name!r} in a {kind}; {suggestion(name, known, 'a script gives it ')}")
    for name, required in known.items():
        if required and name not in item:
            raise ScriptError(f"a {kind} needs a field {name!r}")
    check_json(dict(item))
    for name in ("action", "operation"):
        if not isinstance(item.get(name, {}), Mapping):
            raise ScriptError(f"the {name} of a {kind} is an object, such as {{type: search, query: …}}")
    for path in (stage.strip("[]").split(".") for stage in SERVICE_ITEMS[kind].stages if stage.startswith("[")):
        value: Any = item
        for name in path:
            value = value.get(name, "")
        texts = value if path[-1] == "commands" else [value]
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise ScriptError(f"{'.'.join(path)} of a {kind} is {'a list of texts' if texts is value else 'a text'}")
