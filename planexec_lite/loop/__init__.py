"""The loop and what belongs to it: the run that it fills, the jobs that it starts, runs inside steps, decisions."""

from planexec_lite.loop.loop import PlannerExecutor, execute
from planexec_lite.loop.run import Run

__all__ = ["PlannerExecutor", "Run", "execute"]
