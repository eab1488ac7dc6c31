"""The bisect world: somewhere in thirty-two versions a test began to fail, and each test tells where to look next.

It is a task whose planning and doing are tightly coupled, as "Planner-Executor Pattern" says: nobody can write down the
second test before the first has run, unless for both outcomes. The versions are real packages, each with its real unit tests,
which run in a process of their own.
"""

from planexec_lab.worlds.bisect.mind import BisectMind
from planexec_lab.worlds.bisect.world import GOAL, World

__all__ = ["GOAL", "BisectMind", "World"]
