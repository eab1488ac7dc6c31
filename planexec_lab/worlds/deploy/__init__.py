"""The deploy world: a shop is released from its source to production, and everything in it is real.

Its folder holds the source of a small application with its tests, a registry of images (copies with a digest), a SQLite
database with backups, and two environments, staging and production, each with settings and a deployed image. Tests and
smoke tests run the code that is there. v2.3.1 wants a setting that v2.3.0 did not: a world made with
``World(currency=None)`` has it in staging and not in production, and the release fails where releases fail.

The plan is the one of "The Planner-Executor pattern explained".
"""

from planexec_lab.worlds.deploy.mind import ReleaseMind
from planexec_lab.worlds.deploy.plan import GOAL, PLAN
from planexec_lab.worlds.deploy.world import World

__all__ = ["GOAL", "PLAN", "ReleaseMind", "World"]
