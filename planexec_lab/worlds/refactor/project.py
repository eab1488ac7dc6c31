"""The files of the project: read, written and put back, and never a file outside it."""

import json
import re
from pathlib import Path

_NAME = re.compile(r"(?:shop|tests)/[a-z_][a-z0-9_]{0,40}\.(?:py|json)", re.ASCII)


class Project:
    """The project in `folder`; what its files held before is kept in `versions`."""

    def __init__(self, folder: Path, versions: Path) -> None:
        self.folder = folder
        self.versions = versions

    @property
    def files(self) -> list[str]:
        """The names of all files, such as shop/auth.py, in alphabetical order."""
        names = (path.relative_to(self.folder).as_posix() for path in self.folder.rglob("*.*") if path.is_file())
        return sorted(name for name in names if _NAME.fullmatch(name))

    def read(self, name: str) -> str:
        """Return the text of a file. Raises `ValueError` if the file is missing or its path is not allowed."""
        if name not in self.files:
            self._path(name)
            raise ValueError(f"there is no file {name!r}; there are: {', '.join(self.files)}")
        return self._path(name).read_text(encoding="utf-8")

    def write(self, name: str, text: str) -> bool:
        """Write a file and keep what it held; say whether that changed it."""
        path, data = self._path(name), text.encode()
        before = path.read_bytes().decode() if path.exists() else None
        if before == text:
            return False
        self._keep(name, [*self._kept(name), before])
        path.write_bytes(data)
        return True

    def restore(self, name: str) -> None:
        """Put a file back to what it was before its last change. Raises `ValueError` when it was never changed."""
        path, kept = self._path(name), self._kept(name)
        if not kept:
            raise ValueError(f"{name!r} has not been changed, so there is nothing to restore")
        *earlier, before = kept
        if before is None:
            path.unlink(missing_ok=True)
        else:
            path.write_bytes(before.encode())
        self._keep(name, earlier)

    def changes(self, name: str) -> int:
        """The number of changes of a file that can be undone. Raises `ValueError` if its path is not allowed."""
        self._path(name)
        return len(self._kept(name))

    def _path(self, name: str) -> Path:
        path = self.folder / name if _NAME.fullmatch(name) else self.folder
        if path == self.folder or not path.resolve().is_relative_to(self.folder.resolve()):
            raise ValueError(f"{name!r} is no file of the project; name one such as shop/auth.py or tests/test_auth.py")
        return path

    def _kept(self, name: str) -> list[str | None]:
        path = self.versions / f"{name.replace('/', '-')}.json"
        kept: list[str | None] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
        return kept

    def _keep(self, name: str, texts: list[str | None]) -> None:
        self.versions.mkdir(exist_ok=True)
        (self.versions / f"{name.replace('/', '-')}.json").write_text(json.dumps(texts), encoding="utf-8")
