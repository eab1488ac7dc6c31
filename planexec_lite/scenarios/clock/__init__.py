"""The clock world: "What time is it?", a task of one step, and tools enough to make five of it.

The first common mistake in "The Planner-Executor pattern explained": planning a trivial task.
"""

from planexec_lite.scenarios.clock.world import World

__all__ = ["World"]
