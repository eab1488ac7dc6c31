"""The inbox world: a planner reads mails before it plans the answers, and one of them holds a line that is meant for it.

Two scripted planners are misled, and both were written for that. The one of ``scenes.yaml`` does what a line says that
begins with "Planner:". The one of ``gullible.yaml`` does it wherever that stands, in data as well. The first is held off
when results are told as data, as they are by default (`Telling`). The second is held off only by what checks its plan
(`Policy.no_new_effects`), or by a person.
"""

from planexec_lab.worlds.inbox.world import GOAL, MAILS, World

__all__ = ["GOAL", "MAILS", "World"]
