"""The JSON schema that a planner's answer must fit, built from the toolbox: one closed variant for each tool.

Strict structured output requires closed objects and all properties, so a planner can't name an unknown tool or leave out a
parameter. Maps and values of any type can't be closed: a schema with one is not strict (`is_strict`), and the check of the plan
remains. A parameter that is not free text can also be a reference to an earlier result.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from planexec_lite.tools import Tool, Toolbox, ToolError
from planexec_lite.tools.signature import Data

REFERENCE = {
    "type": "string",
    "pattern": r"^\{step_[A-Za-z0-9_.-]+_result(\.[A-Za-z0-9_]+|\[[0-9]+\])*\}$",
    "description": "the result of an earlier step, such as {step_1_result}",
}
_TEXT = {"type": "string"}
_KEPT = frozenset(
    "type items enum anyOf description pattern format "
    "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems".split()
)

_FORMATS = frozenset("date-time time date duration email hostname ipv4 ipv6 uuid".split())


def plan_schema(
    toolbox: Toolbox,
    *,
    tasks: bool = False,
    failed: Collection[str] = (),
) -> Data:
    """Return the schema of a plan over `toolbox`. The first key of a step, `tool`, decides its variant.

    With `tasks`, a step describes a task, and the executor chooses the tools. `failed` are the ids of failed steps that the
    plan must answer or name.

    Raises `ToolError` when there is no tool, or a parameter's type contains itself.
    """
    if not len(toolbox):
        raise ToolError("a planner needs at least one tool; the toolbox is empty")
    words = {
        "id": _TEXT,
        "description": {**_TEXT, "description": "what the step is for, in words"},
        "depends_on": {
            "type": "array",
            "items": _TEXT,
            "description": "ids of the steps that must be done first",
        },
        "success_criteria": {
            "type": ["string", "null"],
            "description": "how to tell from the result that the step did what it should; null: any result will do",
        },
    }
    superseded = {
        "type": "array",
        "items": {"type": "string", "enum": [*failed]},
        "description": "the failed steps that this plan gives up or does otherwise",
    }
    steps = [closed(**words)] if tasks else [closed(**_call(tool), **words) for tool in toolbox]
    return closed(
        goal=_TEXT,
        steps={"type": "array", "items": {"anyOf": steps}},
        rollback={
            "type": "array",
            "items": {"anyOf": [closed(**_call(tool)) for tool in toolbox]},
            "description": "the calls that make things good again if the plan fails; [] if there is nothing to undo",
        },
        answer={
            "type": ["string", "null"],
            "description": "the answer to the goal; may hold references",
        },
        complete={
            "type": "boolean",
            "description": "false: ask me again when these steps are done",
        },
        **({"supersedes": superseded} if failed else {}),
    )


def closed_parameters(tool: Tool) -> Data:
    """Return the tool's parameters as a closed schema, every parameter required, references allowed."""
    return closed(
        **{name: _open_to_references(schema) for name, schema in _parameters(tool).items()}
    )


def _parameters(tool: Tool) -> dict[str, Data]:
    definitions = tool.schema.get("$defs", {})
    parameters = {}
    for name, schema in tool.schema["properties"].items():
        try:
            parameters[name] = _closed_inside(schema, definitions)
        except RecursionError:
            raise ToolError(
                f"tool {tool.name!r}, parameter {name!r}: its type contains itself"
            ) from None
        # the model has no default to repeat
        if name not in tool.required and "default" not in schema:
            parameters[name] = _or_null(parameters[name])
    return parameters


def _or_null(schema: Data) -> Data:
    words = f"{schema.pop('description', '')} (null: left out)".strip()
    choices = schema["anyOf"] if schema.keys() == {"anyOf"} else [schema]
    null = {"type": "null"}
    return {"anyOf": choices if null in choices else [*choices, null], "description": words}


def function_schema(tool: Tool) -> Data:
    """Return the description of a tool for a model that calls tools itself, without references."""
    parameters = closed(**_parameters(tool))
    return {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": parameters,
            "strict": is_strict(parameters),
        },
    }


def _call(tool: Tool) -> Data:
    return {
        "tool": {"type": "string", "enum": [tool.name]},
        "params": closed_parameters(tool),
    }


def closed(**properties: Any) -> Data:
    """Return an object schema with these properties, all required, and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def is_strict(schema: Mapping[str, Any]) -> bool:
    """Whether strict mode takes a schema of this module: it has no map, and no value of any type."""
    if (
        not schema.keys() & {"type", "enum", "anyOf"}
        or schema.get("additionalProperties", False) is not False
    ):
        return False
    inside = [*schema.get("properties", {}).values(), *schema.get("anyOf", ())]
    if "items" in schema:
        inside.append(schema["items"])
    return all(map(is_strict, inside))


def _closed_inside(schema: Data, definitions: Data) -> Data:
    """Rewrite a schema in the subset that strict mode takes, as far as it can be: objects closed, no defaults.

    Each ``$ref`` is replaced by the definition that it names.
    """
    while "$ref" in schema:
        words = dict(schema)
        schema = definitions[words.pop("$ref").rpartition("/")[2]] | words
    if schema.get("type") == "object":
        if "properties" in schema:
            properties = schema["properties"].items()
            parts = {name: _closed_inside(part, definitions) for name, part in properties}
            return _words(schema) | closed(**parts)
        others = schema.get("additionalProperties")
        values = _closed_inside(others, definitions) if isinstance(others, dict) else {}
        return _words(schema) | {
            "type": "object",
            "properties": {},
            "additionalProperties": values,
        }
    kept = {key: value for key, value in schema.items() if key in _KEPT}
    if kept.get("format") not in _FORMATS:
        kept.pop("format", None)
    if "default" in schema:
        kept["description"] = (
            f"{kept.get('description', '')} (by default {schema['default']!r})".strip()
        )
    if "const" in schema:
        kept["enum"] = [schema["const"]]
    if choices := schema.get("oneOf", schema.get("anyOf")):
        kept["anyOf"] = [_closed_inside(choice, definitions) for choice in choices]
    elif schema.get("type") == "array":
        items = schema.get("items", {})
        if "prefixItems" in schema:
            items = {"anyOf": schema["prefixItems"]}
        kept["items"] = _closed_inside(items, definitions)
    return kept


def _open_to_references(schema: Data) -> Data:
    if "anyOf" in schema:
        return {**schema, "anyOf": [*schema["anyOf"], REFERENCE]}
    if schema.get("type") == "string" and not {"enum", "pattern", "format"} & schema.keys():
        return schema
    if schema.get("type") == "array":
        schema = {**schema, "items": _open_to_references(schema["items"])}
    return {**_words(schema), "anyOf": [schema, REFERENCE]}


def _words(schema: Data) -> Data:
    return {"description": schema["description"]} if "description" in schema else {}
