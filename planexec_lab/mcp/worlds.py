"""The worlds of the kit that can be served."""

from __future__ import annotations

from importlib import import_module

from planexec_lite.tools import Toolbox

WORLDS = ("bisect", "clock", "deploy", "flights", "kitchen", "migration", "refactor", "research", "support", "trail")
_TOLD = {"clock": ("09:41",)}  # what a world has to be told


def tools_of(world: str) -> Toolbox:
    """The tools of a fresh world, which goes away with them."""
    tools: Toolbox = import_module(f"planexec_lab.worlds.{world}").World(*_TOLD.get(world, ())).tools
    return tools
