"""The trail world: each log names the next log, and their number is unknown.

It is exploratory work with an unknown number of steps, for which "The Planner-Executor pattern explained" recommends ReAct. The
logs are real files with sentences: the next name has to be read, and can't be a reference.
"""

from planexec_lab.worlds.trail.mind import TrailMind
from planexec_lab.worlds.trail.world import GOAL, World

__all__ = ["GOAL", "TrailMind", "World"]
