"""The learner's bench: a folder with a copy of each program to fix, which git ignores."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from exercises.hunts.catalogue import HERE, Hunt

BENCH = "PLANEXEC_HUNTS"  # the environment variable that names another folder


@dataclass(frozen=True)
class Bench:
    """A folder of copies."""

    folder: Path

    @classmethod
    def usual(cls) -> Bench:
        """Return the default folder, or the folder that the environment variable names."""
        return cls(Path(os.environ.get(BENCH) or HERE / "mine"))

    def copy(self, hunt: Hunt) -> Path:
        """Return the path of the learner's copy."""
        return self.folder / f"{hunt.name}.py"

    def begin(self, hunt: Hunt) -> Path:
        """Return the path of the learner's copy, and make the copy first if necessary."""
        if not self.copy(hunt).exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            (self.folder / ".gitignore").write_text("*\n", encoding="utf-8")
            self.copy(hunt).write_text(hunt.program.read_text(encoding="utf-8"), encoding="utf-8")
        return self.copy(hunt)

    def changed(self, hunt: Hunt) -> bool:
        """Return whether the learner has changed the copy."""
        copy = self.copy(hunt)
        return copy.exists() and _lines(copy) != _lines(hunt.program)

    def reset(self, hunt: Hunt) -> Path | None:
        """Restore the defect; return the file with the learner's changes, or None if there were none."""
        kept = None
        if self.changed(hunt):
            number = 1
            while (kept := self.folder / f"{hunt.name}_kept_{number}.py").exists():
                number += 1
            self.copy(hunt).rename(kept)
        self.copy(hunt).unlink(missing_ok=True)
        self.begin(hunt)
        return kept


def _lines(path: Path) -> list[bytes]:
    """Return a program's lines as bytes: an editor might have changed the encoding or the line ends."""
    return path.read_bytes().splitlines()
