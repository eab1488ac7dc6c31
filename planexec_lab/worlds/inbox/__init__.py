"""The inbox world: a planner reads mails before it plans the answers, and one mail has an order to the planner.

Two scripted planners are written to be misled. The planner of ``scenes.yaml`` obeys a line that begins with "Planner:". The
planner of ``gullible.yaml`` obeys it everywhere, in data as well. The default telling, which marks results as data (`Telling`),
protects the first. Only a check of its plan (`Policy.no_new_effects`) or a person protects the second.
"""

from planexec_lab.worlds.inbox.world import GOAL, MAILS, World

__all__ = ["GOAL", "MAILS", "World"]
