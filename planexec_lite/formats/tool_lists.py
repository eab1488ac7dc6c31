"""Published lists of tools, to check plans against: their tools have signatures but no code, so they can't be called.

Where a list says no more than a name, no more than the name is checked.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NoReturn, NotRequired, Required, get_args

from pydantic import BaseModel, ConfigDict, TypeAdapter
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
    type: str = ""
    enum: list[str] = []
    required: bool = False


class _Spec(BaseModel):
    name: str
    description: str = ""
    query_parameters: dict[str, _Parameter] = {}


class _Lists(BaseModel):
    nodes: list[_Node] = []
    specs: list[_Spec] = []


def taskbench_tools(text: str) -> Toolbox:
    """Read TaskBench's ``{"nodes": [{"id", "desc", "input-type" or "parameters"}]}``; raise `PlanError` for a fault.

    Names of parameters are checked where the list has them. With ``input-type``, the kinds of input without a name,
    only the name of the tool is.
    """
    nodes = shaped(_Lists, load(text), 'write {"nodes": [{"id": …, "desc": …}]}').nodes
    return Toolbox(PublishedTool(node.id, node.desc, _names(node.parameters)) for node in nodes)


def nestful_tools(text: str) -> Toolbox:
    """Read NESTFUL's list: names, types and choices of parameters are checked; raise `PlanError` for a fault."""
    specs = shaped(
        _Lists, {"specs": load(text)}, 'write [{"name": …, "description": …, "query_parameters": {…}}]'
    ).specs
    hints = ({name: _hint(parameter) for name, parameter in spec.query_parameters.items()} for spec in specs)
    return Toolbox(PublishedTool(spec.name, spec.description, hint) for spec, hint in zip(specs, hints, strict=True))


def _names(parameters: list[_Named] | None) -> dict[str, Any] | None:
    return None if parameters is None else {parameter.name: NotRequired[Any] for parameter in parameters}


def _hint(parameter: _Parameter) -> Any:
    kind = Literal[tuple(parameter.enum)] if parameter.enum else _TYPES.get(parameter.type.lower(), Any)
    return Required[kind] if parameter.required else NotRequired[kind]
