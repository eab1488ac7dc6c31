"""Reads a function's type hints and docstring into validators of its arguments, and names a schema in a word or two."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from decimal import Decimal
from enum import Enum
from functools import partial
from heapq import nlargest
from itertools import islice
from math import isfinite
from numbers import Number
from signal import SIGINT, getsignal, signal
from threading import current_thread, main_thread
from typing import Annotated, Any, NamedTuple, get_type_hints

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.errors import PydanticUserError
from pydantic.json_schema import GenerateJsonSchema
from typing_extensions import TypedDict

Params = Mapping[str, Any]
"""Arguments by name, or a JSON schema: the values can be anything."""
Data = dict[str, Any]
"""Such a mapping that was made here."""
Function = Callable[..., Any]
"""A function that can be a tool."""

# C0 and C1 controls, ends of lines and paragraphs, marks of direction, and halves of characters
_CONTROLS = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
_LONGEST_NAME = 100  # characters, of a name that `suggest` compares


class ToolError(ValueError):
    """The arguments do not fit the tool, the toolbox has no such tool, or a function can't be used as a tool."""


class Arguments(NamedTuple):
    """How the arguments of a tool are read.

    `validate` returns some of them as the function accepts them; it raises pydantic's `ValidationError`. `data` returns them
    without models, as dicts. `schema` is their JSON schema, a closed object. `defaults` are the values of the parameters
    that it does not require; a call gets a copy of each one in `changeable`.
    """

    validate: Callable[[Any], Any]
    data: Callable[[Any], Any]
    schema: Data
    defaults: Params
    changeable: Params

    def read(self, params: Params) -> tuple[Data, list[Params]]:
        """Return the arguments as the function receives them, and the errors of all that do not fit, in pydantic's form.

        Pydantic reads text and numbers generously, which suits models: "5" is an integer, and "no" is false. But it also reads
        true as 1, and 2026 as a second of the year 1970. A value that gets another meaning does not fit.
        """
        values: Data = {}
        errors: list[Params] = []
        for name, given in params.items():
            try:
                value = self.validate({name: given})
            except ValidationError as error:
                faults = error.errors(include_url=False)
                errors += _merged(faults, {name: given}, self.schema)
                continue
            values |= value
            if name in value and not _as_given(given, value[name]):
                errors += _changed(given, self.data(value)[name], (name,))
        return values, errors


EXACT = frozenset({str, int, bool, type(None)})


def _as_given(value: Any, read: Any) -> bool:
    """Whether a plain value, or a list of some, was read as it was given: True is equal to 1, but of another type."""
    if isinstance(value, list):
        return type(read) is list and len(value) == len(read) and all(map(_as_given, value, read))
    return type(value) is type(read) and type(value) in EXACT and bool(value == read)


def are_exact(values: Iterable[Any]) -> bool:
    """Whether values, and those in lists, have one meaning and one form in JSON."""
    for value in values:
        parts = value if type(value) is list else (value,)
        if not EXACT.issuperset(map(type, parts)):
            return False
    return True


def _merged(errors: Iterable[Params], params: Params, schema: Params) -> Iterator[Params]:
    """Yield the errors, and one for each choice of types in place of the errors of all its options.

    Pydantic adds the name of an option to the place of its errors, which names nothing in `params`.
    """
    choices: dict[tuple[int | str, ...], Any] = {}
    for error in errors:
        place: tuple[int | str, ...] = error["loc"]
        value: Any = params
        for depth, part in enumerate(place):
            try:
                value = value[part]
            except (LookupError, TypeError):
                if depth + 1 < len(place) or (error["type"] != "missing" and part != "[key]"):
                    choices[place[:depth]] = value
                    break
        else:
            yield error
    for place, value in choices.items():
        kinds = "of one of the types that are allowed here"
        if len(place) == 1:
            kinds = kind_of(schema["properties"][place[0]])
        yield {
            "type": "no_choice_fits",
            "loc": place,
            "msg": f"Input should be {kinds}",
            "input": value,
        }


def _changed(value: Any, read: Any, place: tuple[int | str, ...]) -> Iterator[Params]:
    """Yield an error for each part of `value` that means something else, or is missing, in `read`."""
    if isinstance(value, dict) and isinstance(read, dict) and len(value) <= len(read):
        for name, key in zip(value, read, strict=False):
            where = (*place, name)
            yield from _changed(name, key, where)
            yield from _changed(value[name], read.get(name, read[key]), where)
    elif isinstance(value, list) and isinstance(read, Collection) and not isinstance(read, str):
        for index, (part, other) in enumerate(zip(value, read, strict=False)):
            yield from _changed(part, other, (*place, index))
    elif not same_meaning(value, read):
        words = (
            f"Input would be read as {shown(read)}; write what is meant in the form of its type"
        )
        yield {"type": "other_meaning", "loc": place, "msg": words, "input": value}


def same_meaning(value: Any, read: Any) -> bool:
    """Whether a value still means the same as pydantic read it: true is not 1, a number is no date, and nan no number."""
    # one of its values, as its schema lists them: no text of a number, and no sum of flags
    if isinstance(read, Enum):
        same = isinstance(value, bool) == isinstance(read.value, bool) and value == read.value
        return isinstance(value, Enum) or (same and read in [*type(read)])
    # two keys became equal, a model dropped a field, or it was a tuple's fields
    if isinstance(value, dict):
        return not isinstance(read, dict | tuple)
    if type(read).__module__ in ("datetime", "ipaddress"):
        return not (isinstance(value, Number) or _NO_MOMENT.match(str(value)))
    if isinstance(value, bool):
        return isinstance(read, bool) or not isinstance(read, Number | str)
    sized = float if type(value) is str else float | Decimal  # a Decimal in a text has any size
    if not isinstance(read, sized):
        return True
    # a float drops the last digits of a long whole number
    exact = type(value) is not int or abs(value) <= 2**53 or value == read
    return exact and isfinite(float(read))


# a number, or a duration of no fixed length, which pydantic reads as 30 or 365 days
_NO_MOMENT = re.compile(r"[+-]?(P[^T]*[YM]|[\d_]*+\.?[\d_]*+$)")


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


_DECODED = "a text to decode, which drops what does not fit; write str"
_NO_DATA = {
    "complex": "a complex number",
    "generator": "an iterable, which nothing checks; write list[…]",
    "is-subclass": "a class",
    "import_string": "a name of code; write str",
    "EncodedStr": _DECODED,
    "EncodedBytes": _DECODED,
}
"""Pydantic's names of types and functions that give no data, or read a value as something else, and that it has a schema for."""


class _Schema(GenerateJsonSchema):
    """Writes pydantic's schemas, in which a decimal is a number and models are closed. Raises an error for what is no data."""

    def generate_inner(self, schema: Any) -> Data:
        function = schema.get("function")
        if isinstance(function, dict):
            function = function["function"]
        name = getattr(function, "__qualname__", schema["type"]).partition(".")[0]
        why = _NO_DATA.get(name)
        for function in schema.get("metadata", {}).get("pydantic_js_annotation_functions", ()):
            if function.__qualname__.startswith("SkipValidation."):
                why = "a type that is not checked; leave SkipValidation out"
        if schema.get("on_error", "raise") != "raise":
            why = "a value that is left out, or replaced, if it does not fit"
        for one in schema["expected"] if name == "literal" else ():
            if isinstance(one, Enum) and not isinstance(one, str | int):
                why = f"a member of {type(one).__name__}; write its value in the Literal"
        if why is not None:
            raise PydanticUserError(f"not {why}", code=None)
        return super().generate_inner(schema)

    def decimal_schema(self, schema: Any) -> Data:
        return self.float_schema(schema)

    def model_schema(self, schema: Any) -> Data:
        made = super().model_schema(schema)
        return {"additionalProperties": False, **made} if "properties" in made else made


@uninterrupted()
def arguments_of(name: str, function: Function, doc: str) -> Arguments:
    """Return how the arguments of `function` are read, by its type hints."""
    described = _described(doc)
    try:
        hints = get_type_hints(function, include_extras=True)
    except NameError as error:
        raise ToolError(
            f"tool {name!r}: a type hint can't be read ({error}); import the name where the tool is"
        ) from None
    fields: Data = {}
    defaults: Data = {}
    changeable: Data = {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise ToolError(
                f"tool {name!r}: a plan names every argument, so {parameter} can't be passed; list them"
            )
        if parameter.name not in hints:
            fix = f"write a type hint, such as {parameter.name}: str"
            raise ToolError(f"tool {name!r}: parameter {parameter.name!r} has no type; {fix}")
        extra = {}
        if parameter.default is not parameter.empty:
            default = parameter.default
            if isinstance(default, list | dict | set):  # the function could change it
                default = changeable[parameter.name] = deepcopy(default)
            extra["default"] = defaults[parameter.name] = default
            if isinstance(default, set | frozenset):  # it has another order in each process
                extra["default"] = sorted(default, key=repr)
        field = Field(description=described.get(parameter.name), json_schema_extra=extra)
        fields[parameter.name] = Annotated[hints[parameter.name], field]
    build: Any = TypedDict
    arguments = build(name, fields, total=False)
    arguments.__pydantic_config__ = ConfigDict(extra="forbid")
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(arguments)
        made = adapter.json_schema(schema_generator=_Schema)
    except PydanticUserError as error:
        cause = str(error).splitlines()[0]
        raise ToolError(
            f"tool {name!r}: arguments must be data, such as str, int or list[str] ({cause})"
        ) from None
    schema = {"type": "object", "properties": {}, "additionalProperties": False}
    schema |= without_titles(made)
    if required := [name for name in fields if name not in defaults]:
        schema["required"] = required
    data = partial(adapter.serializer.to_python, by_alias=True, exclude_unset=True, warnings=False)
    return Arguments(adapter.validator.validate_python, data, schema, defaults, changeable)


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


def kind_of(schema: Any) -> str:
    """Return a JSON schema in a word or two: ``string``, ``list of number``, ``one of staging, production``."""
    if not isinstance(schema, Mapping):  # the schema true accepts every value
        return "any"
    if "enum" in schema:
        return "one of " + ", ".join(map(str, schema["enum"]))
    for keyword in ("anyOf", "oneOf"):
        if keyword in schema:
            return " or ".join(kind_of(part) for part in schema[keyword])
    if schema.get("type") == "array":
        return "list of " + kind_of(schema.get("items", {}))
    if "type" in schema:
        return str(schema["type"])
    return str(schema.get("$ref", "any").rsplit("/", 1)[-1])


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
