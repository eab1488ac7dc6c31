"""What the worlds have in common: a folder, which goes away with the object unless it was given, and tools that are methods."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Collection, Mapping
from copy import deepcopy
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Self

from planexec_lite.tools import Effects, Tool, Toolbox


class FolderWorld:
    """A world in a folder. `TOOLS` says which methods are tools, with their seconds and effects.

    Args:
        folder: where it lies, and stays; None: a temporary folder that goes away with the object.

    Beside `folder` a world keeps no path, so that a copy of it has its own.

    `DESTRUCTIVE` names those that may delete or overwrite something; the others are declared to add only. Without it
    nothing is declared.
    """

    TOOLS: ClassVar[Mapping[str, tuple[float, Effects]]] = {}
    DESTRUCTIVE: ClassVar[Collection[str] | None] = None

    def __init__(self, folder: Path | str | None = None) -> None:
        self.folder = self._folder() if folder is None else Path(folder)

    @cached_property
    def tools(self) -> Toolbox:
        """The world's tools, with the seconds that each takes in simulation and what a repeat would do."""
        destroy = self.DESTRUCTIVE
        return Toolbox(
            (
                Tool(
                    getattr(self, name),
                    latency=seconds,
                    effects=effects,
                    destructive=None if destroy is None else name in destroy,
                )
                for name, (seconds, effects) in self.TOOLS.items()
            ),
            copied=lambda: self.copied().tools,
        )

    def copied(self) -> Self:
        """Return a world like this one as it stands now, in a folder of its own: what happens there leaves this one alone."""
        twin = object.__new__(type(self))
        folder = twin._folder()
        shutil.copytree(self.folder, folder, dirs_exist_ok=True)
        state = {name: value for name, value in vars(self).items() if name not in ("tools", "folder")}
        vars(twin).update(deepcopy(state), folder=folder)
        return twin

    def _folder(self) -> Path:
        """Make a temporary folder that goes away with the object."""
        folder = Path(tempfile.mkdtemp(prefix="world-"))
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        return folder
