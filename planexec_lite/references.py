"""References: how a step names the result of an earlier step, ``{step_1_result}``.

A reference may go on into the result: ``{step_1_result.files[0].name}``; ``[-1]`` is the last item, and single
spaces may stand in a field's name. A text that is nothing but one reference becomes the result itself, with its type;
inside a longer text the result is written out. Results are data: what comes out of a reference is never searched for
references again. To write the literal text, double the braces: ``{{step_1_result}}`` stands for ``{step_1_result}``. All
other braces mean themselves; but what looks like a reference and can't be read, ``{step_1_result["name"]}``, is a fault.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from pydantic_core import to_jsonable_python

_FIELD = r"\w+(?: \w+)*"  # names of fields are other people's: "Exchange Rate" is one
_PATH = rf"(?:\.{_FIELD}|\[-?\d+\])*"
_CORE = rf"\{{\s*step_(?P<step>[\w.-]+?)_result(?P<path>{_PATH})\s*\}}"
_REFERENCE = re.compile(_CORE)
_ANY = r"\{\s*step_[\w.-]+?_result[^{}]{0,200}\}"  # whatever looks like one; bounded, since it is tried at every place
_LOOKS_LIKE_ONE = re.compile(_ANY)
_LITERAL_OR_REFERENCE = re.compile(rf"\{{(?P<literal>{_ANY})\}}|" + _CORE)
_PART = re.compile(rf"\.({_FIELD})|\[(-?\d+)\]")
_SHORT = 1_000  # characters; longer texts are not kept in memory
_HINT = "step_"  # no text without it holds a reference


class Reference(NamedTuple):
    """One reference: the step that it names and the path into that step's result (``.name`` and ``[0]`` parts)."""

    step: str
    path: str = ""

    def __str__(self) -> str:
        return f"{{step_{self.step}_result{self.path}}}"


class MissingResultError(LookupError):
    """A reference names a step without a result, or a part that the result does not have."""


def find(value: Any) -> list[Reference]:
    """Return every reference in `value`: a text, or lists and dicts of texts at any depth."""
    return find_all(value)[0]


def find_all(value: Any) -> tuple[list[Reference], list[str]]:
    """Return every reference in `value`, and every text in it that looks like one and can't be read."""
    named: list[Reference] = []
    unreadable: list[str] = []
    _collect(value, named, unreadable)
    return named, unreadable


def _collect(value: Any, named: list[Reference], unreadable: list[str]) -> None:
    if isinstance(value, str):
        if _HINT in value:
            text = _in_text(value)
            named += text.references
            unreadable += text.unreadable
    elif isinstance(value, dict):
        for name, part in value.items():
            if isinstance(name, str) and _HINT in name:  # names are not resolved, so none may hold a reference
                text = _in_text(name)
                unreadable += [*map(str, text.references), *text.unreadable]
            _collect(part, named, unreadable)
    elif isinstance(value, (list, tuple)):
        for part in value:
            _collect(part, named, unreadable)


class _Text(NamedTuple):
    """What a text holds: the reference that it consists of, if it does; every reference; what only looks like one."""

    whole: Reference | None
    references: tuple[Reference, ...]
    unreadable: tuple[str, ...]


def _in_text(text: str) -> _Text:
    return _kept(text) if len(text) <= _SHORT else _searched(text)


def _searched(text: str) -> _Text:
    parts = _LITERAL_OR_REFERENCE.findall(text)
    named = tuple([Reference(step, path) for literal, step, path in parts if not literal])
    unreadable = tuple(_LOOKS_LIKE_ONE.findall(_LITERAL_OR_REFERENCE.sub("", text)))
    return _Text(named[0] if len(named) == 1 and _REFERENCE.fullmatch(text) else None, named, unreadable)


_kept = lru_cache(maxsize=1024)(_searched)  # a check and a run ask for the same text several times


def whole(value: Any) -> Reference | None:
    """Return the reference that `value` consists of, or None if `value` is anything else."""
    return _in_text(value).whole if isinstance(value, str) and _HINT in value else None


def is_whole(value: Any) -> bool:
    """Say whether `value` is nothing but one reference."""
    return whole(value) is not None


def resolve(value: Any, results: Mapping[str, Any]) -> Any:
    """Return `value` with every reference replaced by what it names, in one pass.

    `results` maps step ids to results. Raises `MissingResultError` when a step or a part of its result is not there.
    """
    if isinstance(value, str):
        if _HINT not in value:
            return value
        if reference := _in_text(value).whole:
            return _copy(look_up(reference, results))
        return _LITERAL_OR_REFERENCE.sub(lambda match: _written(match, results), value)
    if isinstance(value, dict):
        return {key: resolve(part, results) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [resolve(part, results) for part in value]
    return value


def look_up(reference: Reference, results: Mapping[str, Any]) -> Any:
    """Return what `reference` names in `results`; raise `MissingResultError` with what is there instead."""
    if reference.step not in results:
        raise MissingResultError(f"{reference}: step {reference.step} has no result")
    value = results[reference.step]
    for field, index in _PART.findall(reference.path) if reference.path else ():
        if field and isinstance(value, Mapping) and field in value:
            value = value[field]
        elif index and isinstance(value, list | tuple) and len(index) < 10 and -len(value) <= int(index) < len(value):
            value = value[int(index)]
        else:
            part = f"field {field!r}" if field else f"item [{index}]"
            raise MissingResultError(f"{reference}: the result has no {part}; it is {_shape(value)}")
    return value


def escape(text: str) -> str:
    """Return `text` written so that `resolve` gives it back unchanged."""
    return _LOOKS_LIKE_ONE.sub(lambda match: "{" + match[0] + "}", text)


def translate(value: Any, write: Callable[[Reference], str]) -> Any:
    """Return `value` in another notation: each reference as `write` gives it, and what was escaped as it is meant."""
    if isinstance(value, str):
        return _LITERAL_OR_REFERENCE.sub(
            lambda match: match["literal"] or write(Reference(match["step"], match["path"])), value
        )
    if isinstance(value, dict):
        return {key: translate(part, write) for key, part in value.items()}
    return [translate(part, write) for part in value] if isinstance(value, (list, tuple)) else value


def as_text(value: Any) -> str:
    """Write a result inside a longer text: a text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _copy(value: Any) -> Any:
    """A copy of a list or an object, so that a tool that changes its argument does not change the result."""
    return to_jsonable_python(value) if isinstance(value, (dict, list)) else value


def _written(match: re.Match[str], results: Mapping[str, Any]) -> str:
    if match["literal"] is not None:
        return match["literal"]
    return as_text(look_up(Reference(match["step"], match["path"]), results))


def _shape(value: Any) -> str:
    if isinstance(value, Mapping):
        return "an object with the fields " + (", ".join(map(str, value)) or "(none)")
    if isinstance(value, list | tuple):
        return f"a list of {len(value)}"
    return f"a {type(value).__name__}"
