"""Reads a function's type hints and docstring into validators of its arguments, and names a schema in a word or two."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from heapq import nlargest
from itertools import islice
from signal import SIGINT, getsignal, signal
from threading import current_thread, main_thread
from typing import Annotated, Any, NamedTuple, NotRequired, Required, get_type_hints

from pydantic import ConfigDict, Field, TypeAdapter
from pydantic.errors import PydanticUserError
from typing_extensions import TypedDict

# C0 and C1 controls, ends of lines and paragraphs, marks of direction, and halves of characters
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_LONGEST_NAME = 100  # characters, of a name that `suggest` compares


class ToolError(ValueError):
    """The arguments do not fit the tool, the toolbox has no such tool, or a function can't be used as a tool."""


class Arguments(NamedTuple):
    """How the arguments of a tool are checked.

    `validate` returns them as the function accepts them, `validate_some` also where some are missing; both raise pydantic's
    `ValidationError`. `schema` makes their JSON schema, a closed object. `defaults` are the values of missing parameters.
    `given` is the JSON schema that describes them; None: type hints do.
    """

    validate: Callable[[Any], Any]
    validate_some: Callable[[Any], Any]
    schema: Callable[[], dict[str, Any]]
    defaults: Mapping[str, Any]
    given: Mapping[str, Any] | None = None


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold Ctrl-C back until the end of this ``with`` block.

    Pydantic drops an interrupt while it builds a validator, and keeps a faulty validator for the rest of the process.
    """
    handler = getsignal(SIGINT)
    if current_thread() is not main_thread() or not callable(handler):
        yield
        return
    interrupts: list[tuple[Any, ...]] = []
    signal(SIGINT, lambda *interrupt: interrupts.append(interrupt))
    try:
        yield
    finally:
        signal(SIGINT, handler)
        if interrupts:
            handler(*interrupts[0])


def arguments_of(name: str, function: Callable[..., Any], doc: str) -> Arguments:
    """Return the validators of the arguments of `function`, from its type hints."""
    signature = inspect.signature(function)
    whole, some = (_adapter(name, function, doc, total=total) for total in (True, False))
    return Arguments(
        whole.validator.validate_python,
        some.validator.validate_python,
        lambda: {"properties": {}, "additionalProperties": False, **without_titles(whole.json_schema())},
        {each.name: each.default for each in signature.parameters.values() if each.default is not each.empty},
    )


@uninterrupted()
def _adapter(name: str, function: Callable[..., Any], doc: str, *, total: bool) -> TypeAdapter[Any]:
    """Return the validator of a closed TypedDict of the parameters; all of them are optional if not `total`."""
    described = _described(doc)
    try:
        hints = get_type_hints(function, include_extras=True)
    except NameError as error:
        raise ToolError(
            f"tool {name!r}: a type hint can't be read ({error}); import the name where the tool is"
        ) from None
    fields: dict[str, Any] = {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise ToolError(f"tool {name!r}: a plan names every argument, so {parameter} can't be passed; list them")
        if parameter.name not in hints:
            fix = f"write a type hint, such as {parameter.name}: str"
            raise ToolError(f"tool {name!r}: parameter {parameter.name!r} has no type; {fix}")
        optional = parameter.default is not parameter.empty
        extra = {"default": parameter.default} if optional else None
        field = Field(description=described.get(parameter.name), json_schema_extra=extra)
        hint: Any = Annotated[hints[parameter.name], field]
        fields[parameter.name] = NotRequired[hint] if optional or not total else Required[hint]
    build: Any = TypedDict
    arguments = build(name, fields)
    arguments.__pydantic_config__ = ConfigDict(extra="forbid")
    try:
        return TypeAdapter(arguments)
    except PydanticUserError as error:
        cause = str(error).splitlines()[0]
        raise ToolError(f"tool {name!r}: arguments must be data, such as str, int or list[str] ({cause})") from None


def _described(doc: str) -> dict[str, str]:
    """Return the description of each parameter in the ``Args:`` section; deeper lines continue a description."""
    section = re.split(r"\n\S", doc.partition("Args:")[2])[0]
    entries = re.findall(r"^ {4}(\w+)(?: \([^)\n]*\))?: (.+(?:\n {5,}.+)*)", section, re.M)
    return {parameter: " ".join(text.split()) for parameter, text in entries}


def suggest(name: str, known: Iterable[str]) -> str:
    """Return ``"; did you mean 'x'?"`` for the nearest of the first 200 `known` names, or an empty text.

    The time of an exact comparison grows with the square of the length, so only the likeliest of the short names get one.
    """
    import difflib  # only needed for errors

    if len(name) > _LONGEST_NAME:
        return ""
    matcher = difflib.SequenceMatcher(b=name)

    def likeness(other: str) -> float:
        matcher.set_seq1(other)
        return matcher.quick_ratio()  # an upper bound of the exact one

    short = (other for other in islice(known, 200) if len(other) <= _LONGEST_NAME)
    near = difflib.get_close_matches(name, nlargest(2, short, likeness), n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


def escaped(text: str) -> str:
    """Return `text` on one line: each character that could forge a line, or change how a terminal shows the rest, is
    written as its escape, such as ``\\n`` or ``\\u202e``.
    """
    return _CONTROLS.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def shown(value: Any) -> str:
    """Return a value as an error message shows it: its repr, shortened in the middle, or its type if repr fails."""
    try:
        text = repr(value)
    except Exception:
        return f"a {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:40]}…{text[-15:]}"


def kind_of(schema: Mapping[str, Any] | bool) -> str:
    """Return a JSON schema in a word or two: ``string``, ``list of number``, ``one of staging, production``."""
    if isinstance(schema, bool):  # the schema true accepts every value
        return "any"
    if "enum" in schema:
        return "one of " + ", ".join(map(str, schema["enum"]))
    for keyword in ("anyOf", "oneOf"):
        if keyword in schema:
            return " or ".join(kind_of(part) for part in schema[keyword])
    if isinstance(schema.get("type"), list):
        return " or ".join(kind_of({**schema, "type": kind}) for kind in schema["type"])
    if schema.get("type") == "array":
        items = schema.get("items")  # a list has the places of a tuple
        return "list of " + kind_of(items if isinstance(items, dict) else True)
    return str(schema.get("type") or schema.get("$ref", "any").rsplit("/", 1)[-1])


def default_of(schema: Mapping[str, Any]) -> str:
    """Return the default of a parameter as a signature shows it, such as `` = 3``, or an empty string."""
    return f" = {json.dumps(schema['default'], default=str)}" if "default" in schema else ""


def without_titles(schema: Any, *, named: bool = False) -> Any:
    """Drop pydantic's titles, which repeat the names; `named` says that the keys are names, not keywords."""
    if isinstance(schema, list):
        return [without_titles(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: without_titles(part, named=not named and key in ("properties", "$defs"))
        for key, part in schema.items()
        if named or key != "title"
    }
