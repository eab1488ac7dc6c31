"""References: how a step names the result of an earlier step, ``{step_1_result}``.

A reference can continue into the result: ``{step_1_result.files[0].name}``; ``[-1]`` is the last item, and a field's
name can contain single spaces. A text that is nothing but one reference becomes the result itself, with its type;
inside a longer text the result is written out. Results are data: a resolved reference is never searched for
references again. ``{literal {step_1_result}}`` is the text ``{step_1_result}``; a literal takes any text without braces, or
one text in braces. All other braces mean themselves. A text that looks like a reference but can't be read, such as
``{step_1_result["name"]}`` or ``{{step_1_result}}``, is a problem of the plan (`plan.placeholders` finds more).

Reading takes time in proportion to the length of any text: no pattern tries a character more than a
fixed number of times.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from pydantic_core import to_jsonable_python

_FIELD = r"\w++(?: \w++)*+"  # field names can come from other systems, such as "Exchange Rate"
_PATH = rf"(?:\.{_FIELD}|\[-?\d+\])*+"
_LONGEST = 1_000  # characters between the braces of a reference
_REFERENCE = re.compile(rf"\s*step_(?P<step>[\w.-]{{1,200}}?)_result(?P<path>{_PATH})\s*")
_LOOKS_LIKE_ONE = re.compile(r"\s*step_[\w.-]+?_(?:result|output)", re.IGNORECASE)
_SAYS = r"(?i:results?|outputs?)"
_IN_BRACES = r"\$?(?<!\{)(?P<open>\{++)(?!literal )(?=[^{}]*(?i:step|result|output))(?P<inside>[^{}]++)(?P<close>\}+)"
_IN_ANGLES = rf"<(?i:steps?)[^\s<>{{}}]{{1,100}}?{_SAYS}[^\s<>{{}}]{{0,100}}>"
_MARKED = rf"[$#]\(?(?i:steps?)[\w.\[\]-]{{1,100}}?{_SAYS}[\w.\[\]-]{{0,100}}\)?"
_LITERAL = r"\{literal (?P<literal>[^{}]++|\$?\{++[^{}]++\}+)\}"
_TOKEN = re.compile(rf"(?=[{{<$#])(?:{_LITERAL}|{_IN_BRACES}|{_IN_ANGLES}|{_MARKED})")
_PART = re.compile(rf"\.({_FIELD})|\[(-?\d+)\]")
# no text without one of them contains a reference, or a placeholder of another library
_MARKS = re.compile("[{<$#]")


class Reference(NamedTuple):
    """One reference: the step that it names and the path into that step's result (``.name`` and ``[0]`` parts)."""

    step: str
    path: str = ""

    def __str__(self) -> str:
        return f"{{step_{self.step}_result{self.path}}}"


class MissingResultError(LookupError):
    """A reference names a step without a result, or a part that the result does not have."""


def find(value: Any) -> list[Reference]:
    """Return every reference in `value`: a string, or lists and dicts of strings at any depth."""
    return find_all(value)[0]


def find_all(value: Any) -> tuple[list[Reference], list[str], list[str]]:
    """Return the references in `value`, the unreadable references, and the other strings that might name a step.

    `plan.placeholders` decides which of the other strings do.
    """
    named: list[Reference] = []
    unreadable: list[str] = []
    others: list[str] = []
    texts: list[tuple[str, bool]] = []
    _collect(value, texts)
    for text, is_name in texts:
        if not _MARKS.search(text):
            continue
        read = _in_text(text)
        if is_name:  # names are not resolved, so a reference in a name is an error
            unreadable += map(str, read.references)
        else:
            named += read.references
        unreadable += read.unreadable
        if read.placeholders or not (read.references or read.unreadable):
            others.append(text)
    return named, unreadable, others


def _collect(value: Any, texts: list[tuple[str, bool]]) -> None:
    """Add every text in `value` to `texts`, and whether it is the name of a field."""
    if isinstance(value, str):
        texts.append((value, False))
    elif isinstance(value, dict):
        for name, part in value.items():
            if isinstance(name, str):
                texts.append((name, True))
            _collect(part, texts)
    elif isinstance(value, list | tuple):
        for part in value:
            _collect(part, texts)


def placeholders(text: str) -> tuple[str, ...]:
    """Return the parts of `text` that might be references in the spelling of another library: the plan's ids decide."""
    return _in_text(text).placeholders


class _Text(NamedTuple):
    """The reference that a text consists of, if any; all its references; unreadable ones; possible ones of other libraries."""

    whole: Reference | None
    references: tuple[Reference, ...]
    unreadable: tuple[str, ...]
    placeholders: tuple[str, ...]


@lru_cache(maxsize=1024)  # a check and a run ask for the same text several times
def _in_text(text: str) -> _Text:
    named: list[Reference] = []
    unreadable: list[str] = []
    others: list[str] = []
    whole = None
    for token in _TOKEN.finditer(text):
        if reference := _read(token):
            named.append(reference)
            is_all = token[0] == text and len(token["open"]) == len(token["close"])
            whole = reference if is_all else None
        elif token["literal"] is None:
            looks_like_one = _LOOKS_LIKE_ONE.match(token["inside"] or "")
            places = unreadable if looks_like_one else others
            places.append(token[0])
    return _Text(whole, tuple(named), tuple(unreadable), tuple(others))


def _read(token: re.Match[str]) -> Reference | None:
    """Return the reference that a token is. It has single braces; on one side there might be more, as in JSON."""
    inside = token["inside"]
    if inside is None or len(inside) > _LONGEST:
        return None
    if min(len(token["open"]), len(token["close"])) > 1:
        return None
    if token[0].startswith("${") and len(token["open"]) == 1:
        return None
    match = _REFERENCE.fullmatch(inside)
    return Reference(match["step"], match["path"]) if match else None


def whole(value: Any) -> Reference | None:
    """Return the reference that `value` consists of, or None if `value` is anything else."""
    return _in_text(value).whole if isinstance(value, str) and "_result" in value else None


def resolve(value: Any, results: Mapping[str, Any]) -> Any:
    """Return `value` with every reference replaced by its value, in one pass.

    `results` maps step ids to results. Raises `MissingResultError` if a step has no result, or the result lacks the
    named part.
    """

    def resolve_text(text: str) -> Any:
        if "{" not in text:
            return text
        if reference := _in_text(text).whole:
            result = look_up(reference, results)
            # a tool that changes its argument does not change the result
            return to_jsonable_python(result) if isinstance(result, (dict, list)) else result
        return _replaced(text, lambda reference: as_text(look_up(reference, results)))

    return _mapped(value, resolve_text)


def resolved(params: dict[str, Any], results: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call as its tool receives them, or as the plan says them if a result is missing."""
    try:
        return dict(resolve(params, results))
    except MissingResultError:
        return dict(params)


def _mapped(value: Any, change: Callable[[str], Any]) -> Any:
    """Return `value` with every text in it changed, but no name of a field."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {key: _mapped(part, change) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [change(part) if isinstance(part, str) else _mapped(part, change) for part in value]
    return value


def look_up(reference: Reference, results: Mapping[str, Any]) -> Any:
    """Return the value of `reference` in `results`. Raises `MissingResultError`, which describes the available
    result.
    """
    if reference.step not in results:
        raise MissingResultError(f"{reference}: step {reference.step} has no result")
    value = results[reference.step]
    for field, index in _PART.findall(reference.path):
        try:
            value = _part(value, field, index)
        except LookupError:
            part = f"field {field!r}" if field else f"item [{index}]"
            hint = ""
            is_all = value is results[reference.step]
            if is_all and isinstance(value, str) and json_in(value) is not None:
                hint = ", a text that looks like JSON: declare its tool with json_text=True to read it as data"
            raise MissingResultError(
                f"{reference}: the result has no {part}; it is {_shape(value)}{hint}"
            ) from None
    return value


def _part(value: Any, field: str, index: str) -> Any:
    if field and isinstance(value, Mapping):
        return value[field]
    if index and isinstance(value, list | tuple):
        return value[int(index)]
    raise LookupError


def escape(text: str) -> str:
    """Return `text` written so that `resolve` gives it back unchanged."""
    return _TOKEN.sub(lambda token: f"{{literal {token[0]}}}", text)


def translate(value: Any, write: Callable[[Reference], str]) -> Any:
    """Return `value` in another notation: `write` translates each reference, and literals lose their braces."""
    return _mapped(value, lambda text: _replaced(text, write))


def _replaced(text: str, write: Callable[[Reference], str]) -> str:
    def written(token: re.Match[str]) -> str:
        if reference := _read(token):
            before, after = token[0].split("{" + token["inside"] + "}")
            return before + write(reference) + after
        return token["literal"] or token[0]

    return _TOKEN.sub(written, text)


def as_text(value: Any) -> str:
    """Write a result inside a longer text: text unchanged, all other data as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def json_in(text: str) -> dict[str, Any] | list[Any] | None:
    """Return the object or list that `text` contains as JSON; None if `text` is anything else."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        data: dict[str, Any] | list[Any] = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None
    return data


def _refuse(constant: str) -> None:
    raise ValueError(f"JSON has no {constant}")


def _shape(value: Any) -> str:
    if isinstance(value, Mapping):
        return "an object with the fields " + (", ".join(map(str, value)) or "(none)")
    if isinstance(value, list | tuple):
        return f"a list of {len(value)}"
    return f"a {type(value).__name__}"
