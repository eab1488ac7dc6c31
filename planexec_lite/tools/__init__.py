"""Tools: plain functions that plans can call (`tool`), their schemas (`signature`), and the toolbox of a run (`toolbox`).

`@tool` leaves the function a plain function and attaches a `Tool` to it. The JSON schema comes from the type hints and
the docstring (its ``Args:`` section describes the parameters), so that what a planner reads, what a plan is checked
against and what the function accepts can't disagree. The idea is function calling as model vendors define it.

`planexec_lab.json_schema` makes tools of functions whose parameters a JSON schema describes, such as the tools of an MCP server.
"""

from planexec_lite.tools.approved import (
    REPEATABLE,
    ApprovedCalls,
    CallWaits,
    KnownCall,
    MadeCall,
    digest_of,
    next_number,
    text_of,
)
from planexec_lite.tools.awaiting import awaited
from planexec_lite.tools.signature import (
    ToolError,
    escaped,
    kind_of,
    shown,
    suggest,
    uninterrupted,
    without_titles,
)
from planexec_lite.tools.tool import Effects, Fault, Tool, tool, worst
from planexec_lite.tools.toolbox import Limit, Toolbox, limits_of

__all__ = [
    "REPEATABLE", "ApprovedCalls", "CallWaits", "Effects", "Fault", "KnownCall", "Limit", "MadeCall", "Tool",
    "ToolError", "Toolbox", "awaited", "digest_of", "escaped", "kind_of", "limits_of", "next_number",
    "shown", "suggest", "text_of", "tool", "uninterrupted", "without_titles", "worst",
]  # fmt: skip
