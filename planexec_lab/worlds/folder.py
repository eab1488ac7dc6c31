"""The base of the worlds: tools that are methods, copies, and for most worlds a folder that is removed with the object."""

import shutil
import tempfile
import weakref
from collections.abc import Callable, Collection, Mapping
from copy import deepcopy
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Self

from planexec_lab.worlds.files import Files
from planexec_lite.tools import Effects, Tool, Toolbox

Tools = Mapping[str, tuple[float | Callable[..., float], Effects]]
"""The seconds and effects of tools, by name."""


class ToolWorld:
    """A world whose methods are tools. `TOOLS` lists them with their seconds and effects.

    `DESTRUCTIVE` names the tools that can delete or overwrite something; the others are declared to add only. Without it there
    is no declaration. `NOT_DONE` are the errors that the tools raise before they do anything.
    """

    TOOLS: ClassVar[Tools] = {}
    DESTRUCTIVE: ClassVar[Collection[str] | None] = None
    NOT_DONE: ClassVar[tuple[type[Exception], ...]] = ()

    @cached_property
    def tools(self) -> Toolbox:
        """The world's tools, with the seconds that each takes in simulation and what a repeat would do."""
        destroy = self.DESTRUCTIVE
        return Toolbox(
            Tool(
                getattr(self, name),
                latency=seconds,
                effects=effects,
                not_done=self.NOT_DONE,
                destructive=None if destroy is None else name in destroy,
            )
            for name, (seconds, effects) in self.TOOLS.items()
        )

    def copied(self) -> Self:
        """Return an independent copy of this world in its current state."""
        twin = object.__new__(type(self))
        vars(twin).update(deepcopy({name: value for name, value in vars(self).items() if name != "tools"}))
        return twin


class FolderWorld(ToolWorld):
    """A world in a folder. It keeps no path except `folder`, so that a copy can have another folder.

    Args:
        folder: the folder, which is kept; None: a temporary folder that is removed with the object.
    """

    def __init__(self, folder: Path | str | None = None) -> None:
        self.folder = self._folder() if folder is None else Path(folder)

    def copied(self) -> Self:
        """Return an independent copy of this world in its current state, in another folder."""
        twin = super().copied()
        twin.folder = twin._folder()
        shutil.copytree(self.folder, twin.folder, dirs_exist_ok=True)
        return twin

    @property
    def messages(self) -> list[str]:
        """The messages to the team, oldest first."""
        return self._files.messages

    def notify_team(self, message: str) -> dict[str, str]:
        """Send a message to the team; it can't be taken back.

        Args:
            message: one line
        """
        self._files.send(message)
        return {"sent": message}

    @property
    def _files(self) -> Files:
        return Files(self.folder)

    def _folder(self) -> Path:
        """Make a temporary folder that goes away with the object."""
        folder = Path(tempfile.mkdtemp(prefix="world-"))
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        return folder
