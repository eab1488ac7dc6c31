"""Published lists of tools for checking plans: the tools have signatures but no code, so they can't be called.

If a list has only names, only names are checked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

from pydantic import AliasChoices, BaseModel, Field

from planexec_lab.formats.shapes import load, shaped
from planexec_lite.tools import Fault, Tool, Toolbox, ToolError

_TYPES = frozenset({"string", "number", "integer", "boolean", "array"})
_Parameters = dict[str, Any]  # the JSON schema of the object of parameters


class PublishedTool(Tool):
    """A tool of which only the description is published.

    Args:
        name: what plans call it.
        description: what it is for.
        published: the JSON schema of its parameters; None: not published, so any arguments pass.
    """

    def __init__(self, name: str, description: str, published: Mapping[str, Any] | None = None) -> None:
        super().__init__(_no_code, schema=published or {}, name=name, description=description)
        self.published = published

    def __reduce__(self) -> tuple[Any, ...]:
        return PublishedTool, (self.name, self.description, self.published)

    def faults(self, params: Mapping[str, Any]) -> list[Fault]:
        """Return every mismatch of `params`; [] if the tool has no published names."""
        return [] if self.published is None else super().faults(params)

    def call(self, params: Mapping[str, Any]) -> NoReturn:
        """Raise `ToolError`: there is nothing to call."""
        raise ToolError(f"{self.name}: only the description of this tool is published; it can't be called")


def _no_code() -> None:
    """Replaces the function of a published tool."""


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
        """Its parameters under any of their published names; None if it publishes none."""
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
    return _toolbox((spec.name, spec.description, _described(spec.published)) for spec in specs)


def _toolbox(entries: Iterable[tuple[str, str, _Parameters | None]]) -> Toolbox:
    tools: dict[str, tuple[str, _Parameters | None]] = {}
    for name, description, parameters in entries:
        earlier, known = tools.get(name, (description, parameters))
        tools[name] = earlier or description, _either(known, parameters)
    return Toolbox(PublishedTool(name, description, parameters) for name, (description, parameters) in tools.items())


def _either(one: _Parameters | None, other: _Parameters | None) -> _Parameters | None:
    """A schema for values that match `one` or `other`; if either publishes no parameters, everything matches."""
    if one is None or other is None or one == other:
        return None if one is None else other
    listed = one["properties"], other["properties"]
    both = {name: [part[name] for part in listed if name in part] for name in listed[0] | listed[1]}
    return {
        "properties": {name: kinds[0] if kinds[0] == kinds[-1] else {"anyOf": kinds} for name, kinds in both.items()},
        "required": [name for name in one["required"] if name in other["required"]],
    }


def _names(parameters: list[_Named] | None) -> _Parameters | None:
    return None if parameters is None else {"properties": {one.name: {} for one in parameters}, "required": []}


def _described(parameters: dict[str, _Parameter] | None) -> _Parameters | None:
    if parameters is None:
        return None
    return {
        "properties": {name: _kind(parameter) for name, parameter in parameters.items()},
        "required": [name for name, parameter in parameters.items() if parameter.required],
    }


def _kind(parameter: _Parameter) -> dict[str, Any]:
    choices = parameter.enum if isinstance(parameter.enum, list) else ()  # a text, such as "1-100", is no list of them
    plain = [one for one in choices if isinstance(one, str | int | bool)]
    if plain and len(plain) == len(choices):
        return {"enum": plain}
    kind = str(parameter.type).lower()
    return {"type": kind} if kind in _TYPES else {}
