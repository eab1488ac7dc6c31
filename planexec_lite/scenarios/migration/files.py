"""The files of a world: numbered ones (backup-1.sqlite), configuration, messages."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any


class Files:
    """What lies in the world's folder, beside the production database."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def named(self, kind: str) -> list[str]:
        """The files of a kind ("backup", "migration", "files"), in the order in which they were made."""
        return sorted((path.name for path in self.folder.glob(f"{kind}-*")), key=_number)

    def next(self, kind: str, ending: str = "") -> str:
        """A name for the next file of a kind."""
        return f"{kind}-{max(map(_number, self.named(kind)), default=0) + 1}{ending}"

    def known(self, name: str, kind: str, made_by: str) -> Path:
        """The path of a file of a kind; raises `ValueError` with the names that there are."""
        if name not in self.named(kind):
            known = ", ".join(self.named(kind)) or f"none; make one with {made_by}"
            raise ValueError(f"there is no {name!r}; there are: {known}")
        return self.folder / name

    @property
    def config(self) -> dict[str, Any]:
        """The application's configuration."""
        config: dict[str, Any] = json.loads((self.folder / "config.json").read_text(encoding="utf-8"))
        return config

    @config.setter
    def config(self, config: dict[str, Any]) -> None:
        (self.folder / "config.json").write_text(json.dumps(config) + "\n", encoding="utf-8", newline="\n")

    @property
    def messages(self) -> list[str]:
        """What the team was told, oldest first."""
        sent = self.folder / "sent.txt"
        return sent.read_text(encoding="utf-8").splitlines() if sent.exists() else []

    def send(self, message: str) -> None:
        """Tell the team something, on one line."""
        with (self.folder / "sent.txt").open("a", encoding="utf-8", newline="\n") as sent:
            sent.write(" ".join(message.split()) + "\n")

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


def _number(name: str) -> int:
    match = re.search(r"-(\d+)", name)
    return int(match[1]) if match else 0
