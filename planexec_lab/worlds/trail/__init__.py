"""The trail world: each log says which log to read next, and nobody knows how many there are.

It is the exploratory work, with an unknown number of steps, for which "The Planner-Executor pattern explained" would stick with
ReAct. The logs are real files with sentences in them: the next name has to be read, and can't be referred to.
"""

from planexec_lab.worlds.trail.mind import TrailMind
from planexec_lab.worlds.trail.world import GOAL, World

__all__ = ["GOAL", "TrailMind", "World"]
