"""What several tests send: schemas, tools, and the outputs of the calls in a response."""

from typing import Any


def closed(**properties: Any) -> dict[str, Any]:
    """The schema of an object that has these properties and no others."""
    return {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}


CITY = closed(city={"type": "string"})


def function_tool(function: Any) -> Any:
    """A tool as a chat names it."""
    return {"type": "function", "function": function}


def user(text: str) -> Any:
    return {"role": "user", "content": text}


def outputs(response: Any) -> Any:
    """An output for each function call of a response."""
    calls = [item.call_id for item in response.output if item.type == "function_call"]
    return [{"type": "function_call_output", "call_id": call, "output": "added"} for call in calls]
