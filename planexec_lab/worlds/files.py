"""Files of the worlds: numbered files (backup-1.sqlite), the messages to the team, and plans beside the code."""

import json
import re
from pathlib import Path


def stored_plan(module: str) -> tuple[str, str]:
    """Return the plan beside a module, as the text of its JSON file, and its goal."""
    text = Path(module).with_suffix(".json").read_text("utf-8").rstrip()
    return text, json.loads(text)["goal"]


class Files:
    """The files in a world's folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def named(self, kind: str) -> list[str]:
        """The files of a kind, such as "backup", in the order in which they were made."""
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
    def messages(self) -> list[str]:
        """The messages to the team, oldest first."""
        sent = self.folder / "sent.txt"
        return sent.read_text(encoding="utf-8").splitlines() if sent.exists() else []

    def send(self, message: str) -> None:
        """Tell the team something, on one line."""
        with (self.folder / "sent.txt").open("a", encoding="utf-8", newline="\n") as sent:
            sent.write(" ".join(message.split()) + "\n")


def _number(name: str) -> int:
    match = re.search(r"-(\d+)", name)
    return int(match[1]) if match else 0
