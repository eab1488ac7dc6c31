"""Tools: plain functions that plans may call (`tool`), their schemas (`schema`), and the toolbox of a run (`toolbox`).

`@tool` leaves the function a plain function and attaches a `Tool` to it. The JSON schema comes from the type hints and
the docstring (its ``Args:`` section describes the parameters), so that what a planner reads, what a plan is checked
against and what the function accepts can't disagree. The idea is function calling as model vendors define it.

`Tool.from_schema` is the other way round: the parameters of a tool that others wrote stand in a JSON schema, and no
function has them (`json_schema`).
"""

from planexec_lite.tools.approved import ApprovedCalls, CallWaits, MadeCall
from planexec_lite.tools.awaiting import awaited, loop_at_rest
from planexec_lite.tools.declared import Effects, worst
from planexec_lite.tools.schema import ToolError, kind_of, shown, suggest, without_titles
from planexec_lite.tools.tool import Fault, SchemaTool, Tool, tool
from planexec_lite.tools.toolbox import Toolbox

__all__ = [
    "ApprovedCalls", "CallWaits", "Effects", "Fault", "MadeCall", "SchemaTool", "Tool", "ToolError", "Toolbox",
    "awaited", "kind_of", "loop_at_rest", "shown", "suggest", "tool", "without_titles", "worst",
]  # fmt: skip
