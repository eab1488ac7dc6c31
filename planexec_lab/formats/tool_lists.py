"""Published lists of tools for checking plans: the tools have signatures but no code, so they can't be called.

If a list has only names, only names are checked.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, NoReturn

from pydantic import AliasChoices, BaseModel, BeforeValidator, Field

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


class _Parameter(BaseModel):
    type: Any = ""
    enum: Any = Field(default=(), validation_alias=AliasChoices("enum", "allowed_values", "possible_values"))
    required: bool = False


def _by_name(listed: Any) -> Any:
    """TaskBench lists parameters, ``[{"name": …}]``; NESTFUL has them by name."""
    named = isinstance(listed, list) and all(isinstance(one, Mapping) and "name" in one for one in listed)
    return {str(one["name"]): {} for one in listed} if named else listed


_Group = Annotated[dict[str, _Parameter] | None, BeforeValidator(_by_name)]


class _Published(BaseModel):
    name: str = Field(validation_alias=AliasChoices("name", "id"))
    description: str = Field("", validation_alias=AliasChoices("description", "desc"))
    path_parameters: _Group = None
    query_parameters: _Group = None
    parameters: _Group = None
    arguments: _Group = None

    @property
    def schema_of_parameters(self) -> _Parameters | None:
        """The JSON schema of its parameters under any of their published names; None if it publishes none."""
        groups = (self.path_parameters, self.query_parameters, self.parameters, self.arguments)
        given = {name: one for group in groups for name, one in (group or {}).items()}
        schema = {
            "properties": {name: _kind(one) for name, one in given.items()},
            "required": [name for name, one in given.items() if one.required],
        }
        return None if groups == (None, None, None, None) else schema


class _List(BaseModel):
    nodes: list[_Published] = []


def taskbench_tools(text: str) -> Toolbox:
    """Read TaskBench's ``{"nodes": [{"id", "desc", "input-type" or "parameters"}]}``; raise `PlanError` for a fault.

    Names of parameters are checked where the list has them. With ``input-type``, the kinds of input without a name,
    only the name of the tool is. A tool that is listed twice is one tool, as with `nestful_tools`.
    """
    return _toolbox(load(text), 'write {"nodes": [{"id": …, "desc": …}]}')


def nestful_tools(text: str) -> Toolbox:
    """Read NESTFUL's list: names, types and choices of parameters are checked; raise `PlanError` for a fault.

    Its three parts call the parameters ``query_parameters`` (with ``path_parameters``), ``parameters`` and
    ``arguments``. A tool that is listed twice is one tool: it takes what either entry takes, and needs what both need.
    """
    shape = 'write [{"name": …, "description": …, "parameters": {"city": {"type": "string", "required": true}}}]'
    return _toolbox({"nodes": load(text)}, shape)


def _toolbox(data: Any, shape: str) -> Toolbox:
    tools: dict[str, tuple[str, _Parameters | None]] = {}
    for one in shaped(_List, data, shape).nodes:
        earlier, known = tools.get(one.name, (one.description, one.schema_of_parameters))
        tools[one.name] = earlier or one.description, _either(known, one.schema_of_parameters)
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


def _kind(parameter: _Parameter) -> dict[str, Any]:
    choices = parameter.enum if isinstance(parameter.enum, list) else ()  # a text, such as "1-100", is no list of them
    plain = [one for one in choices if isinstance(one, str | int | bool)]
    if plain and len(plain) == len(choices):
        return {"enum": plain}
    kind = str(parameter.type).lower()
    return {"type": kind} if kind in _TYPES else {}
