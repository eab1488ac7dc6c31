"""The application's configuration and scripts, and how they are put back."""

import json
import shutil
from pathlib import Path
from typing import Any

from planexec_lab.worlds.files import Files


class Application(Files):
    """The files in the world's folder apart from the production database."""

    @property
    def config(self) -> dict[str, Any]:
        """The application's configuration."""
        config: dict[str, Any] = json.loads((self.folder / "config.json").read_text(encoding="utf-8"))
        return config

    @config.setter
    def config(self, config: dict[str, Any]) -> None:
        (self.folder / "config.json").write_text(json.dumps(config) + "\n", encoding="utf-8", newline="\n")

    def back_up(self) -> tuple[str, int]:
        """Copy configuration and scripts into a folder; return its name and how many files there are."""
        name = self.next("files")
        (self.folder / name).mkdir()
        kept = ["config.json", *self.named("migration")]
        for file in kept:
            shutil.copyfile(self.folder / file, self.folder / name / file)
        return name, len(kept)

    def put_back(self, backup: Path) -> int:
        """Make configuration and scripts what they were; return how many files there are."""
        for file in self.named("migration"):
            (self.folder / file).unlink()
        kept = sorted(backup.iterdir())
        for path in kept:
            shutil.copyfile(path, self.folder / path.name)
        return len(kept)
