"""A toolbox as a server: what it lists, and what comes of a call.

`server` speaks the protocol for it with the official package; in a browser tab, `tab` calls it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_type_hints

from pydantic import TypeAdapter
from pydantic_core import to_jsonable_python

from planexec_lab.mcp.listing import hints_of
from planexec_lab.worlds.strangers import ByHand, NoSuchToolError, text
from planexec_lite.tools import Tool, Toolbox, ToolError, shown, suggest, without_titles

NO_PERSON = "it might delete or overwrite something, so a person has to say yes first, and this client can't ask one"
NO = "a person was asked, and did not say yes"


class ServedTools(ByHand):
    """A toolbox as a server.

    Args:
        ask: asks a person before a call that can destroy something; returns why it is not made, or "" after a yes.
    """

    def __init__(self, name: str, tools: Toolbox, ask: Callable[[str], str]) -> None:
        self.name, self.tools, self.ask = name, tools, ask

    def listed(self) -> Sequence[Mapping[str, Any]]:
        """The tools, with annotations derived from their declared effects."""
        return [
            {
                "name": tool.name,
                "description": tool.description,
                "inputSchema": tool.schema,
                "outputSchema": _output_schema(tool)[0],
                "annotations": hints_of(tool),
            }
            for tool in self.tools
        ]

    def called(self, name: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Carry out a call, after a person was asked where it may destroy something; an error of a tool is a result, too."""
        if name not in self.tools:
            raise NoSuchToolError(f"there is no tool {shown(name)}{suggest(name, self.tools.names)}")
        tool = self.tools[name]
        try:
            tool.arguments(arguments)
        except ToolError as error:
            return text(str(error), failed=True)
        question = f"{self.name}: may {name} be called with {shown(dict(arguments))}? It might delete or overwrite."
        if tool.destructive and (no := self.ask(question)):
            return text(f"{name}: {no}", failed=True)
        try:
            return _result(tool.call(arguments), tool)
        except Exception as error:  # the server continues
            return text(f"{type(error).__name__}: {error}", failed=True)


def _output_schema(tool: Tool) -> tuple[dict[str, Any] | None, bool]:
    """The schema of the tool's return value, from its type hint, and whether the value is sent as the field ``result``.

    A schema must be that of an object, so a value whose type hint allows anything else is wrapped in one.
    """
    if tool.json_text:  # what the text holds is not known
        return None, False
    try:
        hint = get_type_hints(tool.function)["return"]
        schema: dict[str, Any] = without_titles(TypeAdapter(hint).json_schema(mode="serialization"))
    except Exception:  # no hint, or no useful hint: no schema
        return None, False
    if schema.get("type") == "object":
        return schema, False
    definitions = {key: schema.pop(key) for key in ("$defs",) if key in schema}
    return {"type": "object", "properties": {"result": schema}, "required": ["result"], **definitions}, True


def _result(value: Any, tool: Tool) -> dict[str, Any]:
    data = to_jsonable_python(value)
    words = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False, allow_nan=False)
    structured = {"result": data} if _output_schema(tool)[1] else data
    return text(words) | ({"structuredContent": structured} if isinstance(structured, dict) else {})
