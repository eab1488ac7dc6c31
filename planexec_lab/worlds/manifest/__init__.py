"""The manifest world: the article's ``gantz.yaml`` in a folder where its four commands work, on PostgreSQL or on stand-ins.

Its commands have three traps, and each can be seen here. ``pg_dump mydb > backup_….sql`` empties the backup of the day before
it fails. ``psql mydb < broken.sql`` goes on after an error, drops what was not copied, and ends with 0. Two backups of
one day have one name. ``mended.yaml`` has the same four tools without them. The manifest is that of "The Planner-Executor
pattern explained".

    world = manifest.World()
    tools = gantz.load(world.manifest, **world.declared)

In a browser tab, which has no shell, a `World` is a recording of one: it knows what the lesson does, and nothing else.
"""

import sys

from planexec_lab.worlds.manifest.plan import GOAL, PLAN, plan_with
from planexec_lab.worlds.manifest.world import EFFECTS, LATENCY, START, World

if sys.platform == "emscripten":
    from planexec_lab.worlds.manifest.recording import RecordedWorld as World  # type: ignore[assignment]

__all__ = ["EFFECTS", "GOAL", "LATENCY", "PLAN", "START", "World", "plan_with"]
