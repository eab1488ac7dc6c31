"""The strangers' world: an office whose planner is offered a tool of somebody else, and that server means harm.

The server is a real one, ``python -m planexec_lab.worlds.strangers`` (`Weather`), written by hand as lines of JSON
(`ByHand`). Two scripted planners are misled by it, and both were written for that. The one of ``scenes.yaml`` does what its
instructions call important; the one of ``gullible.yaml`` does it in a quotation as well. The first is held off when a
server's words are quoted, the second only by who reads its plan, or by what it may call.
"""

from planexec_lab.worlds.strangers.lines import ByHand, NoSuchToolError, text
from planexec_lab.worlds.strangers.weather import LAST_WORDS, LINE, ORDER, ServerEnded, Weather
from planexec_lab.worlds.strangers.world import GOAL, World

__all__ = [
    "GOAL",
    "LAST_WORDS",
    "LINE",
    "ORDER",
    "ByHand",
    "NoSuchToolError",
    "ServerEnded",
    "Weather",
    "World",
    "text",
]
