"""The strangers' world: an office whose planner gets a tool from a hostile server.

The server is real, ``python -m planexec_lab.worlds.strangers`` (`Weather`), written by hand as lines of JSON (`ByHand`). Two
scripted planners are written to be misled by it. The planner of ``scenes.yaml`` obeys orders in its instructions; the planner of
``gullible.yaml`` obeys them in quotations as well. Quoting the server's words protects the first. Only a reader of its plan, or
limits on its calls, protect the second.
"""

from planexec_lab.worlds.strangers.lines import ByHand, NoSuchToolError, text
from planexec_lab.worlds.strangers.weather import ServerEnded, Weather
from planexec_lab.worlds.strangers.world import GOAL, World

__all__ = [
    "GOAL",
    "ByHand",
    "NoSuchToolError",
    "ServerEnded",
    "Weather",
    "World",
    "text",
]
