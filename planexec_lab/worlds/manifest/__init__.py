"""The manifest world: the article's ``gantz.yaml`` in a folder where its four commands work, on PostgreSQL or on stand-ins.

Its commands have three traps, and each can be observed here. ``pg_dump mydb > backup_….sql`` empties the day's backup before it
fails. ``psql mydb < broken.sql`` continues after an error, drops data that was not copied, and exits with 0. Two backups of
one day have the same name. ``mended.yaml`` has the same four tools without the traps. The manifest is that of "The Planner-Executor
pattern explained".

    world = manifest.World()
    tools = gantz.load(world.manifest, **world.declared)

A browser tab has no shell; there a `World` is a recording that knows only the calls of the lesson.
"""

import sys

from planexec_lab.worlds.manifest.plan import PLAN, plan_with
from planexec_lab.worlds.manifest.world import World

if sys.platform == "emscripten":
    from planexec_lab.worlds.manifest.recording import RecordedWorld as World  # type: ignore[assignment]

__all__ = ["PLAN", "World", "plan_with"]
