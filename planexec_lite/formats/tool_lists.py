"""Published lists of tools, to check plans against: their tools have signatures but no code, so they can't be called.

Where a list says no more than a name, no more than the name is checked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, NoReturn, NotRequired, Required, Union, get_args, get_origin

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, TypeAdapter
from typing_extensions import TypedDict

from planexec_lite.formats.shapes import load, shaped
from planexec_lite.tools import Fault, Tool, Toolbox, ToolError

_TYPES: dict[str, Any] = {"string": str, "number": float, "integer": int, "boolean": bool, "array": list[Any]}


class PublishedTool(Tool):
    """A tool of which only the description is published.

    Args:
        name: what plans call it.
        description: what it is for.
        parameters: ``Required[type]`` or ``NotRequired[type]`` by name; None: not published, so any arguments pass.
    """

    def __init__(self, name: str, description: str, parameters: Mapping[str, Any] | None = None) -> None:
        super().__init__(_no_code, name=name)
        self.description = description
        self._published = parameters
        hints = parameters or {}
        self._arguments = _adapter(name, hints)
        some = _adapter(name, {one: NotRequired[get_args(hint)[0]] for one, hint in hints.items()})
        self._validate = self._arguments.validator.validate_python
        self._validate_some = some.validator.validate_python

    @property
    def published(self) -> Mapping[str, Any] | None:
        """The parameters as they were given: ``Required[type]`` or ``NotRequired[type]`` by name; None: not published."""
        return self._published

    def __reduce__(self) -> tuple[Any, ...]:
        return PublishedTool, (self.name, self.description, self._published)

    def faults(self, params: Mapping[str, Any]) -> list[Fault]:
        """Return every way in which `params` do not fit; nothing is known against them where no names are published."""
        return [] if self._published is None else super().faults(params)

    def call(self, params: Mapping[str, Any]) -> NoReturn:
        """Raise `ToolError`: there is nothing to call."""
        raise ToolError(f"{self.name}: only the description of this tool is published; it can't be called")


def _adapter(name: str, hints: Mapping[str, Any]) -> TypeAdapter[Any]:
    build: Any = TypedDict
    arguments = build(name, dict(hints))
    arguments.__pydantic_config__ = ConfigDict(extra="forbid")
    return TypeAdapter(arguments)


def _no_code() -> None:
    """Stand where a published tool would have its function."""


class _Named(BaseModel):
    name: str


class _Node(BaseModel):
    id: str
    desc: str = ""
    parameters: list[_Named] | None = None


class _Parameter(BaseModel):
    type: Any = ""
    enum: Any = Field(default=(), validation_alias=AliasChoices("enum", "allowed_values", "possible_values"))
    required: bool = False


class _Spec(BaseModel):
    name: str
    description: str = ""
    query_parameters: dict[str, _Parameter] | None = None
    path_parameters: dict[str, _Parameter] | None = None
    parameters: dict[str, _Parameter] | None = None
    arguments: dict[str, _Parameter] | None = None

    @property
    def published(self) -> dict[str, _Parameter] | None:
        """Its parameters, under whichever names they stand; None where it says nothing about them."""
        groups = [
            part
            for part in (self.path_parameters, self.query_parameters, self.parameters, self.arguments)
            if part is not None
        ]
        return {name: parameter for part in groups for name, parameter in part.items()} if groups else None


class _Lists(BaseModel):
    nodes: list[_Node] = []
    specs: list[_Spec] = []


def taskbench_tools(text: str) -> Toolbox:
    """Read TaskBench's ``{"nodes": [{"id", "desc", "input-type" or "parameters"}]}``; raise `PlanError` for a fault.

    Names of parameters are checked where the list has them. With ``input-type``, the kinds of input without a name,
    only the name of the tool is. A tool that is listed twice is one tool, as with `nestful_tools`.
    """
    nodes = shaped(_Lists, load(text), 'write {"nodes": [{"id": …, "desc": …}]}').nodes
    return _toolbox((node.id, node.desc, _names(node.parameters)) for node in nodes)


def nestful_tools(text: str) -> Toolbox:
    """Read NESTFUL's list: names, types and choices of parameters are checked; raise `PlanError` for a fault.

    Its three parts call the parameters ``query_parameters`` (with ``path_parameters``), ``parameters`` and
    ``arguments``. A tool that is listed twice is one tool: it takes what either entry takes, and needs what both need.
    """
    shape = 'write [{"name": …, "description": …, "parameters": {"city": {"type": "string", "required": true}}}]'
    specs = shaped(_Lists, {"specs": load(text)}, shape).specs
    return _toolbox((spec.name, spec.description, _hints(spec.published)) for spec in specs)


_Hints = dict[str, Any] | None


def _toolbox(entries: Iterable[tuple[str, str, _Hints]]) -> Toolbox:
    tools: dict[str, tuple[str, _Hints]] = {}
    for name, description, hints in entries:
        earlier, known = tools.get(name, (description, hints))
        tools[name] = earlier or description, _either(known, hints)
    return Toolbox(PublishedTool(name, description, hints) for name, (description, hints) in tools.items())


def _either(one: _Hints, other: _Hints) -> _Hints:
    """What fits `one` or `other` fits this; where either publishes no parameters, nothing is known against any."""
    if one is None or other is None or one == other:
        return None if one is None else other
    both: dict[str, Any] = {}
    any_of: Any = Union
    for name in {**one, **other}:
        hints = [hints[name] for hints in (one, other) if name in hints]
        needed = len(hints) == 2 and all(get_origin(hint) is Required for hint in hints)
        both[name] = (Required if needed else NotRequired)[any_of[tuple(get_args(hint)[0] for hint in hints)]]
    return both


def _names(parameters: list[_Named] | None) -> _Hints:
    return None if parameters is None else {parameter.name: NotRequired[Any] for parameter in parameters}


def _hints(parameters: dict[str, _Parameter] | None) -> _Hints:
    return None if parameters is None else {name: _hint(parameter) for name, parameter in parameters.items()}


def _hint(parameter: _Parameter) -> Any:
    choices = parameter.enum if isinstance(parameter.enum, list) else ()  # a text, such as "1-100", is no list of them
    plain = tuple(one for one in choices if isinstance(one, str | int | bool))
    kind = Literal[plain] if plain and len(plain) == len(choices) else _TYPES.get(str(parameter.type).lower(), Any)
    return Required[kind] if parameter.required else NotRequired[kind]
