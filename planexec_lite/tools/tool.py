"""A tool: a plain function with a schema, validated arguments, declared effects and a declared latency."""

from __future__ import annotations

import ast
import inspect
import json
import re
from collections.abc import Callable, Iterable
from copy import deepcopy
from decimal import Decimal
from functools import cached_property, lru_cache, partial
from hashlib import sha256
from textwrap import dedent
from types import CodeType
from typing import Any, Literal, NamedTuple, TypedDict, TypeVar, Unpack, get_args, overload

from pydantic_core import to_jsonable_python

from planexec_lite.meter import FOREVER, Meter, charge, job_meter
from planexec_lite.tools import references
from planexec_lite.tools.approved import (
    Request,
    digest_of,
    text_of,
)
from planexec_lite.tools.awaiting import awaited
from planexec_lite.tools.signature import (
    Arguments,
    Data,
    Function,
    Params,
    ToolError,
    are_exact,
    arguments_of,
    kind_of,
    shown,
    suggest,
)

Effects = Literal["none", "idempotent", "unknown", "once"]
"""The effect of a call: none; the same after each repeat; not declared; the call must run at most once."""

_RANK = get_args(Effects)  # from the safest to repeat to the least safe
_MOST_FAULTS = 20
F = TypeVar("F", bound=Function)


class Options(TypedDict, total=False):
    """The options of `Tool`; its docstring explains them."""

    name: str | None
    description: str
    latency: float | Callable[..., float]
    effects: Effects
    uses: str | Iterable[str]
    destructive: bool | None
    retry_on: Iterable[type[Exception]] | None
    not_done: Iterable[type[Exception]]
    json_text: bool
    pin: str


def worst(effects: Iterable[Effects]) -> Effects:
    """Return the strongest of the effects, the least safe to repeat; "none" if there are no effects."""
    return max(effects, key=_RANK.index, default="none")


# the keywords of a list that can have any length
_PLAIN_LIST = {"type", "items", "description", "default"}


class Fault(NamedTuple):
    """A way in which arguments do not fit: a code, the parameter, and a message."""

    code: str
    parameter: str
    message: str


class Tool:
    """A function that a step can call.

    Args:
        function: takes named parameters, all with type hints; returns JSON data.
        arguments: how the arguments are read; None: the type hints describe them.
        name: what plans call it; by default the function's name.
        description: what it is for, on one line; by default the first paragraph of the function's docstring.
        latency: seconds that a call takes in simulation: a number from zero to `FOREVER`, or a function of the arguments.
        effects: the effect of a call on the world: "none", "idempotent" (a repeat does no harm) or "once" (it must run at most
            once). "unknown", the default, declares nothing: a failed call is not retried unless its step asks for it, and a
            call that was interrupted is in doubt.
        uses: what a call occupies, by name, such as "oven"; workers can limit how many steps use it at once.
        destructive: whether a call can delete or overwrite something (True) or only adds something (False), like MCP's hint
            of that name; None: it is not declared.
        json_text: parse a result that is text, if it is the JSON of an object or a list, so that steps can refer into it:
            ``{step_1_result.name}``.
        retry_on: the types of temporary errors; a step that fails with another one is not retried. None: retry any error.
        not_done: the types of errors which prove that the call did nothing. Any other error of a tool with effects "once"
            leaves a doubt: the call might have been made.
        pin: the hash of a published description that others can change. A run can't be resumed with another one.

    Attributes:
        schema: the JSON schema of the arguments: an object, closed, with descriptions.
        parameters: the names of the parameters, in order.
        required: the names of the parameters that have no default, in order.

    An ``async def`` function is awaited to its end, on a loop that all async tools share; see `awaiting`.

    Raises `ToolError` when the function has a parameter without a type hint, or takes `*args` or `**kwargs`, for
    a `latency` or `effects` that are no such values, and for an option that does not exist.
    """

    def __init__(
        self,
        function: Function,
        *,
        arguments: Arguments | None = None,
        **options: Unpack[Options],
    ) -> None:
        self.function = function
        self.name = options.get("name") or function.__name__
        for option in options.keys() - Options.__annotations__.keys():
            near = suggest(option, Options.__annotations__)
            raise ToolError(f"tool {self.name!r}: there is no option {option!r}{near}")
        self.latency = latency = options.get("latency", 0.0)
        self.effects: Effects = options.get("effects", "unknown")
        if self.effects not in _RANK:
            raise ToolError(
                f"tool {self.name!r}: effects={self.effects!r}; write one of {', '.join(_RANK)}"
            )
        self.destructive = options.get("destructive")
        self.json_text = options.get("json_text", False)
        self.pin = options.get("pin", "")
        uses = options.get("uses", ())
        self.uses = (uses,) if isinstance(uses, str) else tuple(uses)
        retry_on = options.get("retry_on")
        self.retry_on = None if retry_on is None else tuple(retry_on)
        self.not_done = tuple(options.get("not_done", ()))
        is_number = isinstance(latency, int | float) and 0 <= latency <= FOREVER
        if not (is_number or callable(latency)):
            raise ToolError(
                f"tool {self.name!r}: latency={latency!r}; give seconds from 0 to {FOREVER:g}, or a function"
            )
        doc = inspect.cleandoc(function.__doc__ or "") if arguments is None else ""
        description = options.get("description") or doc.split("\n\n")[0]
        self.description = " ".join(description.split())
        self._described = arguments
        self._arguments = arguments or arguments_of(self.name, function, doc)
        self.schema = self._arguments.schema
        self.parameters = tuple(self.schema["properties"])
        self.required = tuple(self.schema.get("required", ()))
        self._lists = {
            name
            for name, schema in self.schema["properties"].items()
            if isinstance(schema, dict)
            and schema.get("type") == "array"
            and schema.keys() <= _PLAIN_LIST
        }

    def calling(self, function: Function) -> Tool:
        """Return a tool that is the same to plans and models, and calls `function`, which takes the same arguments, instead."""
        other = object.__new__(type(self))
        vars(other).update(vars(self) | {"function": function})
        return other

    def __repr__(self) -> str:
        return f"Tool({self.signature})"

    def __reduce__(self) -> tuple[Any, ...]:
        if getattr(self.function, "tool", None) is self:
            return getattr, (self.function, "tool")
        options = {option: getattr(self, option) for option in Options.__annotations__}
        if self._described is None and inspect.isfunction(self.function):
            return _tool_of, (self.function, tuple(options.items()))
        return partial(Tool, arguments=self._described, **options), (self.function,)

    @cached_property
    def digest(self) -> str:
        """A hash of what an approval covers: schema, defaults, effects, declared errors, and what the function does.

        What it does is its `pin`, or its source without comments and docstring, as `source_of` returns it. The hash does not
        see what the function calls, or a service behind it.
        """
        temporary = [error.__qualname__ for error in self.retry_on or ()]
        harmless = [error.__qualname__ for error in self.not_done]
        approved = [
            self.name,
            self.schema,
            self.effects,
            self.destructive,
            self.json_text,
            self.retry_on is None,
            [temporary, harmless],
            self.pin or source_of(self.function),
        ]
        return sha256(text_of(approved).encode()).hexdigest()[:16]

    @property
    def signature(self) -> str:
        """The tool on one line, as a planner reads it: ``build_docker(tag: string)``."""
        parts = []
        for name, schema in self.schema["properties"].items():
            part = f"{name}: {kind_of(schema)}"
            if "default" in schema:
                part += f" = {json.dumps(schema['default'], default=str)}"
            parts.append(part)
        return f"{self.name}({', '.join(parts)})"

    def bind(self, params: Params) -> Params:
        """Give a lone ``input`` to the tool's only parameter, or its only required parameter; other arguments do not change.

        Plans in the shape ``{"tool": "web_search", "input": "wind"}`` name no parameter, so they need this rule. The text of a
        JSON object that names this parameter is not its value.
        """
        if params.keys() != {"input"} or "input" in self.parameters:
            return params
        needed = self.parameters if len(self.parameters) == 1 else self.required
        given = params["input"]
        fits = len(needed) == 1 and not (
            isinstance(given, str) and re.match(rf'\s*\{{.*"{needed[0]}"\s*:', given, re.S)
        )
        return {needed[0]: given} if fits else params

    def faults(self, params: Params) -> list[Fault]:
        """Return every fault of `params`, [] when they fit. The value behind a reference is not checked."""
        bound = self.bind(params)
        given = {}
        for name, value in bound.items():
            # every item of a list of references is open, and its length too
            parts = value if value and name in self._lists and isinstance(value, list) else [value]
            if name not in self.schema["properties"] or not all(map(references.whole, parts)):
                given[name] = value
        _, errors = self._arguments.read(given)
        return self._judged(bound, [error for error in errors if not _is_open(error)])

    def arguments(self, params: Params) -> Data:
        """Return `params` as the function receives them: bound and validated. Raises `ToolError` where they do not fit."""
        bound = self.bind(params)
        arguments, errors = self._arguments.read(bound)
        if faults := self._judged(bound, errors):
            raise ToolError(f"{self.name}: {'; '.join(fault.message for fault in faults)}")
        return arguments

    def call(self, params: Params) -> Any:
        """Validate `params`, charge the latency and call the function.

        Raises, before the function is called, `ToolError` when the arguments do not fit or the step is not allowed to make
        this call, and `CallWaits` when a person must approve the call first (see `approved`). Errors of the function pass.
        """
        arguments = self.arguments(params)
        meter = job_meter()
        if meter.calls_log is None:  # the plan names every call of this run
            return self.run(arguments, meter)
        return meter.calls_log.make(Request(self, params, arguments), meter)

    def call_text(self, params: Params) -> str:
        """Return a call as text: the tool and its parameters as given, with the defaults of the others."""
        return f"{self.name}({text_of(self.complete(params))})"

    def identity(self, params: Params, arguments: Params | None = None) -> str:
        """Return 32 characters that identify a call: equal for calls that the function can't tell apart.

        `arguments` are the validated `params`, if they are known. Arguments that do not fit, or that JSON has no form for,
        are compared as they are given.
        """
        try:
            given = self.with_defaults(self.arguments(params) if arguments is None else arguments)
            if not are_exact(given.values()):
                to_jsonable_python(given)
                given = json.loads(text_of(_same(given)))
            return digest_of(self.name, sorted(given.items()))
        except Exception:  # the methods of an object of any class can raise any error
            return digest_of(self.call_text(params))

    def complete(self, params: Params) -> Data:
        """Return `params` by name, with the defaults of the missing parameters."""
        return self.with_defaults(self.bind(params))

    def leaves_doubt(self, error: BaseException) -> bool:
        """Whether a call that failed with this error might have been made, although it must run at most once."""
        return self.effects == "once" and not isinstance(error, self.not_done)

    def run(self, arguments: Params, meter: Meter) -> Any:
        """Charge the latency and call the function with validated `arguments`."""
        if self.latency:
            charge(self.seconds(arguments))
        meter.called = True
        if self._arguments.changeable:
            arguments = {**deepcopy(self._arguments.changeable), **arguments}
        try:
            value = self.function(**arguments)
            if hasattr(type(value), "__await__"):
                value = awaited(value)
        except BaseException as error:
            if self.retry_on is not None and not isinstance(error, self.retry_on):
                error.no_retry = True  # type: ignore[attr-defined]
            if self.leaves_doubt(error):
                meter.once = True
            raise
        if self.effects == "once":
            meter.once = True
        if self.json_text and isinstance(value, str):
            return value if (data := references.json_in(value)) is None else data
        return value

    def seconds(self, arguments: Params) -> float:
        """The declared latency of a call with these `arguments`, in seconds."""
        if not callable(self.latency):
            return self.latency
        return self.latency(**self.with_defaults(arguments))

    def with_defaults(self, arguments: Params) -> Data:
        """Return `arguments` with the defaults of the missing parameters."""
        return {**self._arguments.defaults, **arguments}

    def _judged(self, given: Params, errors: list[Params]) -> list[Fault]:
        """Return a fault for each missing parameter, and the first faults of the others, each once."""
        faults = []
        for name in self.required:
            if name not in given:
                message = f"parameter {name!r} is missing: {self.signature}"
                faults.append(Fault("missing_parameter", name, message))
        for error in errors[:_MOST_FAULTS]:
            fault = self._fault(error)
            if fault not in faults:
                faults.append(fault)
        return faults

    def _fault(self, error: Params) -> Fault:
        where, *inner = error["loc"]
        if error["type"] == "extra_forbidden" and not inner:
            near = suggest(str(where), self.parameters)
            message = f"there is no parameter {where!r}{near}: {self.signature}"
            return Fault("unknown_parameter", where, message)
        place = str(where)
        for part in inner:
            place += f"[{part}]" if isinstance(part, int) else f".{part}"
        message = error["msg"][0].lower() + error["msg"][1:]
        words = f"parameter {place!r}: {message}; got {shown(error['input'])}"
        return Fault("wrong_parameter", where, words)


def _is_open(error: Params) -> bool:
    """Whether an error depends on the value of a reference: it is about one, or about a choice between types with one inside."""
    if error["type"] == "no_choice_fits":
        return references.find(error["input"]) != []
    return error["type"] != "extra_forbidden" and references.whole(error["input"]) is not None


# to read the hints takes a millisecond, and a worker receives the same tools with each step
@lru_cache(256)
def _tool_of(function: Function, options: tuple[tuple[str, Any], ...]) -> Tool:
    return Tool(function, **dict(options))


@overload
def tool(function: F, /) -> F: ...
@overload
def tool(**options: Unpack[Options]) -> Callable[[F], F]: ...
def tool(function: F | None = None, /, **options: Any) -> F | Callable[[F], F]:
    """Make a function a tool: ``@tool`` or ``@tool(latency=2.0, effects="once")``.

    The function stays a plain function with its `Tool` attached as ``function.tool``, so that it can be called, pickled
    and sent to a worker. The options are the options of `Tool`.
    """

    def attach(function: F) -> F:
        function.tool = Tool(function, **options)  # type: ignore[attr-defined]
        return function

    return attach if function is None else attach(function)


def source_of(function: Function) -> str:
    """Return what a function does, as Python can see it: its source in one form, without comments, docstring and decorators.

    "unknown" if Python does not have the source, as for a function that is not written in Python.
    """
    inner = inspect.unwrap(function)
    while isinstance(inner, partial):
        inner = inner.func
    code = getattr(inner, "__code__", None) or getattr(type(inner).__call__, "__code__", None)
    return "unknown" if code is None else _source_of(code)


@lru_cache(1024)
def _source_of(code: CodeType) -> str:
    try:
        (statement, *_) = ast.parse(dedent(inspect.getsource(code))).body
    except (OSError, SyntaxError, ValueError):
        return "unknown"
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
        statement.decorator_list = []
        if ast.get_docstring(statement, clean=False) is not None:
            statement.body = statement.body[1:] or [ast.Pass()]
    return ast.unparse(statement)


def _same(value: Any) -> Any:
    """Return the arguments with equal numbers written in the same way."""
    if isinstance(value, Decimal):
        return str(value.normalize())
    if isinstance(value, dict):
        return {name: _same(part) for name, part in value.items()}
    return [*map(_same, value)] if isinstance(value, list | tuple) else value
