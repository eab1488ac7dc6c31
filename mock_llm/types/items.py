"""Items beside messages and function calls: calls of the service's own tools, calls that the client itself runs, and
compactions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class ServiceItem:
    """A kind of item, as public recordings show it.

    Args:
        prefix: the beginning of its ids.
        fields: the fields that a script gives, and whether each is required.
        tools: the types of tools of which one must be offered; empty if the service adds the item without a tool.
        nulls: the fields that are null if the script does not give them; other optional fields are then left out.
        opened: its fields in the event that opens it in a stream, where they differ.
        absent: its fields that this event does not have.
        stages: the events between opening and closing; a path in brackets stands for the deltas of that text.
        status: whether it has a status.
        output: the required fields of the item by which the client answers it; empty if the service runs the call.
        by_id: whether its id is enough when the client sends it back.
    """

    prefix: str
    fields: Mapping[str, bool]
    tools: tuple[str, ...] = ()
    nulls: tuple[str, ...] = ()
    opened: Mapping[str, Any] = field(default_factory=dict)
    absent: tuple[str, ...] = ()
    stages: tuple[str, ...] = ()
    status: bool = True
    output: tuple[str, ...] = ()
    by_id: bool = False


def _optional(*names: str) -> dict[str, bool]:
    return dict.fromkeys(names, False)


SEARCH = ("in_progress", "searching", "completed")
MADE = _optional("action", "background", "error", "output_format", "quality", "revised_prompt", "size", "svg_usage")
SERVICE_ITEMS: Mapping[str, ServiceItem] = {
    "web_search_call": ServiceItem(
        "ws", {"action": True}, ("web_search", "web_search_preview"), absent=("action",), stages=SEARCH
    ),
    "file_search_call": ServiceItem(
        "fs",
        {"queries": True, "results": False},
        ("file_search",),
        ("results",),
        {"queries": [], "results": None},
        stages=SEARCH,
    ),
    "code_interpreter_call": ServiceItem(
        "ci",
        {"code": True, "container_id": True, "outputs": False},
        ("code_interpreter",),
        ("outputs",),
        {"outputs": []},
        stages=("in_progress", "[code]", "interpreting", "completed"),
    ),
    "image_generation_call": ServiceItem(
        "ig",
        {"result": True, **MADE},
        ("image_generation",),
        absent=("result", *MADE),
        stages=("in_progress", "generating", "completed"),
        by_id=True,
    ),
    "mcp_list_tools": ServiceItem(
        "mcpl",
        {"server_label": True, "tools": True},
        ("mcp",),
        opened={"tools": []},
        stages=("in_progress", "completed"),
        status=False,
    ),
    "mcp_call": ServiceItem(
        "mcp",
        dict.fromkeys(("name", "server_label", "arguments"), True)
        | _optional("output", "error", "approval_request_id"),
        ("mcp",),
        ("output", "error", "approval_request_id"),
        {"output": None},
        stages=("in_progress", "[arguments]", "completed"),
    ),
    "mcp_approval_request": ServiceItem(
        "mcpr", {"name": True, "server_label": True, "arguments": True}, ("mcp",), status=False
    ),
    "local_shell_call": ServiceItem(
        "lsh",
        {"action": True},
        ("local_shell",),
        opened={"action": {"type": "exec", "command": [], "env": {}}},
        output=("output",),
    ),
    "shell_call": ServiceItem(
        "sh",
        {"action": True, "environment": False},
        ("shell",),
        opened={"action": {"commands": [], "max_output_length": None, "timeout_ms": None}},
        stages=("[action.commands]",),
        output=("output",),
    ),
    "apply_patch_call": ServiceItem(
        "apc", {"operation": True}, ("apply_patch",), stages=("[operation.diff]",), output=("status",)
    ),
    "computer_call": ServiceItem(
        "cu",
        _optional("action", "actions", "pending_safety_checks"),
        ("computer", "computer_use_preview"),
        output=("output",),
    ),
    "compaction": ServiceItem("cmp", {}, status=False),
}


def input_items(body: Mapping[str, Any]) -> list[Any]:
    """Return the input of a request to the Responses API as items; a string is a message of the user."""
    given = body.get("input") or []
    return [{"role": "user", "content": given}] if isinstance(given, str) else list(given)
