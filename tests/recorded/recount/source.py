"""One commit of a published repository, read from a bare clone. `CLONES` names the folder of the clones."""

import json
import os
import subprocess
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

Row = dict[str, Any]


@dataclass(frozen=True)
class Source:
    """A repository (owner/name on GitHub) at a commit; its bare clone is CLONES/owner+name/repo."""

    repository: str
    commit: str

    def git(self, *arguments: str) -> str:
        """Run git in the clone and return what it prints."""
        clone = Path(os.environ["CLONES"], self.repository.replace("/", "+"), "repo")
        done = subprocess.run(["git", f"--git-dir={clone}", *arguments], capture_output=True, check=True, text=True)
        return done.stdout

    @cached_property
    def files(self) -> dict[str, str]:
        """The blob of each file, by its path. A file that the clone lacks is left out."""
        found = {}
        for line in self.git("ls-tree", "-r", "-l", self.commit).splitlines():
            head, path = line.split("\t")
            _, kind, blob, size = head.split()
            if kind == "blob" and size != "BAD":
                found[path] = blob
        return found

    def text(self, path: str) -> str:
        """The text of a file."""
        return self.git("cat-file", "blob", self.files[path])

    def json(self, path: str) -> Any:
        """The value in a JSON file."""
        return json.loads(self.text(path))
