"""The learner's bench: a copy of each program to mend, beside the hunts; git does not see it."""

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
        """The folder beside the hunts, or the one that the environment names."""
        return cls(Path(os.environ.get(BENCH) or HERE / "mine"))

    def copy(self, hunt: Hunt) -> Path:
        """Where the learner's copy is."""
        return self.folder / f"{hunt.name}.py"

    def begin(self, hunt: Hunt) -> Path:
        """Return the learner's copy, and make it first if there is none."""
        if not self.copy(hunt).exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            (self.folder / ".gitignore").write_text("*\n", encoding="utf-8")
            self.copy(hunt).write_text(hunt.program.read_text(encoding="utf-8"), encoding="utf-8")
        return self.copy(hunt)

    def changed(self, hunt: Hunt) -> bool:
        """Whether the learner has changed anything."""
        copy = self.copy(hunt)
        return copy.exists() and _lines(copy) != _lines(hunt.program)

    def reset(self, hunt: Hunt) -> Path | None:
        """Bring the defect back; return the file that keeps what the learner had changed, None if nothing was."""
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
    """A program's lines as they are stored: an editor may have saved them in any encoding, with any line ends."""
    return path.read_bytes().splitlines()
