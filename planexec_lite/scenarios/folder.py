"""What the worlds have in common: a temporary folder that goes away with the object, and tools that are methods."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from planexec_lite.tools import Effects, Tool, Toolbox


class FolderWorld:
    """A world in a folder of its own. `TOOLS` says which methods are tools, with their seconds and effects."""

    TOOLS: ClassVar[Mapping[str, tuple[float, Effects]]] = {}

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="world-"))
        weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)

    @cached_property
    def tools(self) -> Toolbox:
        """The world's tools, with the seconds that each takes in simulation and what a repeat would do."""
        declared = self.TOOLS.items()
        return Toolbox(
            Tool(getattr(self, name), latency=seconds, effects=effects) for name, (seconds, effects) in declared
        )
