"""A tool: a plain function with a schema, validated arguments and a declared latency."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, partial
from hashlib import sha256
from typing import Any, NamedTuple, Required, TypeVar, Unpack, overload

from pydantic import ValidationError

from planexec_lite import references
from planexec_lite.meter import charge, current, made_once
from planexec_lite.tools.approved import NOT_MADE
from planexec_lite.tools.awaiting import awaited
from planexec_lite.tools.declared import Declared, Effects, Options
from planexec_lite.tools.json_schema import CHOICE, TOO_DEEP, arguments_from
from planexec_lite.tools.plain_data import text_of
from planexec_lite.tools.schema import Arguments, ToolError, arguments_of, default_of, kind_of, shown, suggest

_PLAIN = frozenset({type(None), bool, int, float, str, list, dict, tuple})  # what nobody has to wait for
_MOST_FAULTS = 20
F = TypeVar("F", bound=Callable[..., Any])


class SchemaOptions(Declared, total=False):
    """The options of `Tool.from_schema`, which says what they mean."""

    name: Required[str]
    description: str
    checked_elsewhere: bool
    pin: str


class Fault(NamedTuple):
    """One way in which arguments do not fit: a code, the parameter, and a message."""

    code: str
    parameter: str
    message: str


class Tool:
    """A function that a step may call.

    Args:
        function: takes named parameters, all with type hints; returns data (what JSON can hold).
        name: what plans call it; by default the function's name.
        latency: seconds that a call takes in simulation: a number, or a function of the arguments.
        effects: what a call does to the world: "none", "idempotent" (a repeat does no harm) or "once" (it must run at most
            once). "unknown", the default, declares nothing: a failed call is not retried unless its step asks for it, and a
            call that was interrupted is in doubt.
        uses: what a call occupies, by name, such as "oven"; workers may limit how many steps use it at once.
        destructive: whether a call may delete or overwrite what was there (True) or only adds to it (False), as MCP's
            hint of that name says; None: it is not declared.
        price: US dollars that a call costs; None: it is not declared.
        json_text: a result that is text, and is the JSON of an object or a list, is read as that, so that steps may refer
            into it: ``{step_1_result.name}``.
        retry_on: the types of the errors that may go away by themselves; a step that fails with another one is not tried
            again. None: any error may.

    An ``async def`` function is awaited to its end, on a loop that all async tools share; see `awaiting`.

    Raises `ToolError` when the function has a parameter without a type hint, or takes `*args` or `**kwargs`. Where the
    parameters stand in a JSON schema, `from_schema` makes the tool.
    """

    pin = ""

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        name: str | None = None,
        latency: float | Callable[..., float] = 0.0,
        effects: Effects = "unknown",
        uses: str | Iterable[str] = (),
        destructive: bool | None = None,
        price: float | None = None,
        retry_on: Iterable[type[Exception]] | None = None,
        json_text: bool = False,
    ) -> None:
        self.function = function
        self.name = name or function.__name__
        self.latency = latency
        self._effects = effects
        self.uses = (uses,) if isinstance(uses, str) else tuple(uses)
        self.destructive = destructive
        self.price = price
        self.json_text = json_text
        self.retry_on = None if retry_on is None else tuple(retry_on)
        doc = inspect.cleandoc(function.__doc__ or "")
        self.description = doc.split("\n\n")[0].replace("\n", " ")
        self._take(arguments_of(self.name, function, doc))

    def _take(self, arguments: Arguments) -> None:
        self._arguments = arguments
        self._validate, self._validate_some = arguments.validate, arguments.validate_some

    @staticmethod
    def from_schema(
        function: Callable[..., Any], schema: Mapping[str, Any], **options: Unpack[SchemaOptions]
    ) -> SchemaTool:
        """Return the tool whose arguments are described by a JSON schema, as servers, manifests and published lists have it.

        Args:
            function: takes the arguments by name, whatever they are called, so most often as ``**arguments``. It is given
                those that were named; a ``default`` in the schema tells planners what it does without one.
            schema: that of an object, whose ``properties`` are the parameters; it is closed, whether or not it says so.
                `json_schema` says what of it is checked.
            name: what plans call it.
            description: what it is for; it becomes one line.
            checked_elsewhere: `function` checks its arguments too, so what can't be checked here may stand in the schema;
                `unchecked` lists it.
            pin: the hash of what was published of the tool, where somebody else may change that. A run that is resumed with
                another one is refused.
            declared: as for any tool.

        Raises `ToolError` for a schema that can't be read, or one that can't be checked and is `checked_elsewhere` neither.
        """
        return SchemaTool(function, schema, **options)

    def calling(self, function: Callable[..., Any]) -> Tool:
        """Return a tool that is the same to plans and models, and calls `function`, which takes the same arguments, instead."""
        other = object.__new__(type(self))
        vars(other).update(vars(self) | {"function": function})
        return other

    def __repr__(self) -> str:
        return f"Tool({self.signature})"

    def __reduce__(self) -> tuple[Any, ...]:
        if getattr(self.function, "tool", None) is self:
            return getattr, (self.function, "tool")
        return partial(Tool, name=self.name, **self._declared), (self.function,)

    @property
    def _declared(self) -> Declared:
        declared: Any = {name: getattr(self, name) for name in Declared.__annotations__}
        return declared  # type: ignore[no-any-return]

    @property
    def effects(self) -> Effects:
        """What a call does to the world, as it was declared; it can't be changed."""
        return self._effects

    @cached_property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of the arguments: an object, closed, with descriptions."""
        return {"type": "object", **self._arguments.schema()}

    @property
    def unchecked(self) -> tuple[str, ...]:
        """What the schema says and nothing here checks, in words; there is nothing like it where it comes from type hints."""
        return self._arguments.unchecked

    @cached_property
    def digest(self) -> str:
        """A hash of what a plan is approved with: schema, defaults, effects, destructive, and the `pin` of what was published."""
        told = [self.name, _defaults_sorted(self.schema), self.effects, self.destructive, self.pin]
        return sha256(text_of(told).encode()).hexdigest()[:16]

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """The names of the parameters, in order."""
        return tuple(self.schema["properties"])

    @cached_property
    def required(self) -> tuple[str, ...]:
        """The names of the parameters that have no default, in order."""
        return tuple(self.schema.get("required", ()))

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(self.parameters)

    @cached_property
    def _needed(self) -> frozenset[str]:
        return frozenset(self.required)

    @cached_property
    def _counts_items(self) -> bool:
        return "maxItems" in str(self.schema)

    @property
    def signature(self) -> str:
        """The tool on one line, as a planner reads it: ``build_docker(tag: string)``."""
        parts = [f"{name}: {kind_of(schema)}{default_of(schema)}" for name, schema in self.schema["properties"].items()]
        return f"{self.name}({', '.join(parts)})"

    def bind(self, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """Give a lone ``input`` to the tool's only parameter, or only required one; other arguments stay as they are.

        Plans in the shape ``{"tool": "web_search", "input": "wind"}`` name no parameter; this rule reads them.
        """
        if "input" not in params or len(params) > 1:
            return params
        needed = self.parameters if len(self.parameters) == 1 else self.required
        fits = len(needed) == 1 and "input" not in self.parameters
        return {needed[0]: params["input"]} if fits else params

    def faults(self, params: Mapping[str, Any]) -> list[Fault]:
        """Return every way in which `params` do not fit, [] when they do. What a reference stands for is not judged."""
        bound = self.bind(params) if "input" in params else params
        if self._fits(bound):
            return []
        known = self.parameters
        faults = [self._missing(name) for name in self.required if name not in bound]
        faults += [self._unknown(name) for name in bound if name not in known]
        given = {name: value for name, value in bound.items() if name in known and not references.is_whole(value)}
        try:
            self._validate_some(given)
        except ValidationError as error:
            faults += self._judged(e for e in error.errors(include_url=False) if not references.is_whole(e["input"]))
        return faults

    def arguments(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return `params` as the function receives them: bound and validated. Raises `ToolError` where they do not fit."""
        try:
            arguments: dict[str, Any] = self._validate(self.bind(params) if "input" in params else params)
        except ValidationError as error:
            faults = self._judged(error.errors(include_url=False))
            raise ToolError(f"{self.name}: {'; '.join(fault.message for fault in faults)}") from None
        return arguments

    def call(self, params: Mapping[str, Any]) -> Any:
        """Validate `params`, charge the latency and call the function.

        Raises `ToolError` when they do not fit or the step must not make this call, before anything has happened;
        `CallWaits` where a person must approve the call first (see `approved`); and whatever the function raises.
        """
        arguments = self.arguments(params)
        meter = current.get()
        if meter is None or meter.calls_log is None:
            return self._run(arguments)
        log, step_key = meter.calls_log, meter.key
        text, declared = self.call_text(params), {"effects": self.effects, "destructive": self.destructive is True}
        log.check(self.name, text, **declared)
        if (value := log.earlier(text)) is NOT_MADE:
            meter.key = log.key(text, step_key)
            try:
                value = self._run(arguments)
            finally:
                meter.key = step_key
        return log.note(text, value, **declared)

    def call_text(self, params: Mapping[str, Any]) -> str:
        """What identifies a call: the tool and its parameters as they were given, with the defaults of the others."""
        try:
            given: Mapping[str, Any] = self.with_defaults(self.bind(params))
        except TypeError:  # parameters that the function does not have: the call can't be made
            given = params
        return f"{self.name}({text_of(given)})"

    def _run(self, arguments: dict[str, Any]) -> Any:
        """Charge the latency and call the function with validated `arguments`."""
        if self.latency:
            charge(self.seconds(arguments))
        try:
            value = self.function(**arguments)
            if type(value) not in _PLAIN and hasattr(type(value), "__await__"):
                value = awaited(value)
        except Exception as error:
            if self.retry_on is not None and not isinstance(error, self.retry_on):
                error.no_retry = True  # type: ignore[attr-defined]
            raise
        if self.effects == "once":
            made_once()
        if self.json_text and isinstance(value, str):
            return value if (data := references.json_in(value)) is None else data
        return value

    def seconds(self, arguments: Mapping[str, Any]) -> float:
        """The declared latency of a call with these `arguments`, in seconds."""
        if not callable(self.latency):
            return self.latency
        return self.latency(**self.with_defaults(arguments))

    def with_defaults(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return `arguments` with the default of every parameter that is not among them and has one."""
        bound = inspect.signature(self.function).bind(**arguments)
        bound.apply_defaults()
        return bound.arguments

    def _fits(self, bound: Mapping[str, Any]) -> bool:
        """Whether there is nothing wrong for sure; no is no verdict."""
        if not (self._known.issuperset(bound) and self._needed.issubset(bound)):
            return False
        whole, given = references.whole, {}
        for name, value in bound.items():
            if isinstance(value, list):
                given[name] = [part for part in value if not whole(part)]
            elif not whole(value):
                given[name] = value
        try:
            self._validate_some(given)
        except ValidationError:
            return False
        return not self._counts_items or given == bound

    def _judged(self, errors: Iterable[Any]) -> list[Fault]:
        """The faults, each once; of very many, as a value that fits none of many choices has, the first."""
        first = sorted(errors, key=lambda error: error["type"] != TOO_DEEP)
        return list(dict.fromkeys(map(self._fault, first[:_MOST_FAULTS])))

    def _missing(self, name: str) -> Fault:
        return Fault("missing_parameter", name, f"parameter {name!r} is missing: {self.signature}")

    def _unknown(self, name: str) -> Fault:
        near = suggest(str(name), self.parameters)
        return Fault("unknown_parameter", name, f"there is no parameter {name!r}{near}: {self.signature}")

    def _fault(self, error: Any) -> Fault:
        where = error["loc"][0] if error["loc"] else ""
        if error["type"] == "missing" and len(error["loc"]) == 1:
            return self._missing(where)
        if error["type"] == "extra_forbidden" and len(error["loc"]) == 1:
            return self._unknown(where)
        parts = [part for part in error["loc"][1:] if part != CHOICE]
        path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts)
        message = error["msg"][0].lower() + error["msg"][1:]
        return Fault(
            "wrong_parameter", where, f"parameter {str(where) + path!r}: {message}; got {shown(error['input'])}"
        )


@overload
def tool(function: F, /) -> F: ...
@overload
def tool(**options: Unpack[Options]) -> Callable[[F], F]: ...
def tool(function: F | None = None, /, **options: Any) -> F | Callable[[F], F]:
    """Make a function a tool: ``@tool`` or ``@tool(latency=2.0, effects="once")``.

    The function stays a plain function with its `Tool` attached as ``function.tool``, so that it can be called, pickled
    and sent to a worker. Options are those of `Tool`.
    """

    def attach(function: F) -> F:
        function.tool = Tool(function, **options)  # type: ignore[attr-defined]
        return function

    return attach if function is None else attach(function)


class SchemaTool(Tool):
    """A tool whose parameters stand in a JSON schema; `Tool.from_schema` says what it is given."""

    def __init__(
        self,
        function: Callable[..., Any],
        schema: Mapping[str, Any],
        *,
        name: str,
        description: str = "",
        checked_elsewhere: bool = False,
        pin: str = "",
        **declared: Unpack[Declared],
    ) -> None:
        super().__init__(_without_parameters, name=name, **declared)
        self.function = function
        self.description = " ".join(description.split())
        self.pin = pin
        self._checked_elsewhere = checked_elsewhere
        self._take(arguments_from(name, schema, checked_elsewhere=checked_elsewhere))

    def __reduce__(self) -> tuple[Any, ...]:
        given: dict[str, Any] = {"name": self.name, "description": self.description, "pin": self.pin}
        given |= {"checked_elsewhere": self._checked_elsewhere, **self._declared}
        return partial(SchemaTool, **given), (self.function, self.schema)

    def with_defaults(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return `arguments` with the default of every parameter that is not among them and has one."""
        properties = self.schema["properties"].items()
        defaults = {name: part["default"] for name, part in properties if isinstance(part, dict) and "default" in part}
        return defaults | dict(arguments)


def _defaults_sorted(schema: Any) -> Any:
    """The schema with each list that is a default in order: the default of a set has another order in each process."""
    if isinstance(schema, list):
        return [_defaults_sorted(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        name: sorted(part, key=text_of) if name == "default" and isinstance(part, list) else _defaults_sorted(part)
        for name, part in schema.items()
    }


def _without_parameters() -> None:
    """Stand where the parameters are not those of a function."""
