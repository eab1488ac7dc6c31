"""Items that the service itself adds to a response: calls of its own tools, and compactions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class ServiceItem:
    """A kind of item, as public recordings show it.

    Args:
        prefix: the beginning of its ids.
        fields: the fields that a script gives, and whether each is required.
        tools: the types of tools of which one must be offered; empty if the service adds the item without a tool.
        opened: its fields in the event that opens it in a stream, where they differ.
        absent: its fields that this event does not have.
        stages: the events between opening and closing; a name in brackets stands for the deltas of that field.
        status: whether it has a status.
    """

    prefix: str
    fields: Mapping[str, bool]
    tools: tuple[str, ...] = ()
    opened: Mapping[str, Any] = field(default_factory=dict)
    absent: tuple[str, ...] = ()
    stages: tuple[str, ...] = ()
    status: bool = True


SEARCH: Final = ("in_progress", "searching", "completed")
SERVICE_ITEMS: Final[Mapping[str, ServiceItem]] = {
    "web_search_call": ServiceItem(
        "ws", {"action": True}, ("web_search", "web_search_preview"), absent=("action",), stages=SEARCH
    ),
    "file_search_call": ServiceItem(
        "fs", {"queries": True, "results": False}, ("file_search",), {"queries": [], "results": None}, stages=SEARCH
    ),
    "code_interpreter_call": ServiceItem(
        "ci",
        {"code": True, "container_id": True, "outputs": False},
        ("code_interpreter",),
        {"code": "", "outputs": []},
        stages=("in_progress", "[code]", "interpreting", "completed"),
    ),
    "mcp_list_tools": ServiceItem(
        "mcpl",
        {"server_label": True, "tools": True},
        ("mcp",),
        {"tools": []},
        stages=("in_progress", "completed"),
        status=False,
    ),
    "mcp_call": ServiceItem(
        "mcp",
        dict.fromkeys(("name", "server_label", "arguments"), True)
        | dict.fromkeys(("output", "error", "approval_request_id"), False),
        ("mcp",),
        {"arguments": "", "output": None},
        stages=("in_progress", "[arguments]", "completed"),
    ),
    "mcp_approval_request": ServiceItem(
        "mcpr", {"name": True, "server_label": True, "arguments": True}, ("mcp",), status=False
    ),
    "compaction": ServiceItem("cmp", {}, status=False),
}
