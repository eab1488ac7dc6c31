"""The bisect world: a test began to fail in one of thirty-two versions, and each test result decides the next test.

Planning and execution are tightly coupled here, as "Planner-Executor Pattern" puts it: the second test depends on the result of
the first. The versions are real packages with real unit tests, which run in a separate process.
"""

from planexec_lab.worlds.bisect.mind import BisectMind
from planexec_lab.worlds.bisect.world import GOAL, World

__all__ = ["GOAL", "BisectMind", "World"]
