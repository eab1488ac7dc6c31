"""The clock world: "What time is it?", a task of one step, and tools enough to make five of it.

The first common mistake in "The Planner-Executor pattern explained": planning a trivial task. `direct` calls the tool instead.
"""

from planexec_lab.worlds.clock.mind import ClockMind
from planexec_lab.worlds.clock.world import GOAL, World, direct

__all__ = ["GOAL", "ClockMind", "World", "direct"]
