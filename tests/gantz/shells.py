"""The shells of this machine, and a program on PATH that writes down what it was given, byte for byte."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from planexec_lite.gantz import placed
from planexec_lite.gantz.running import run

NEEDS_A_SHELL = pytest.mark.skipif(os.name != "posix", reason="a manifest's scripts need a POSIX shell")
SHELLS = [name for name in ("dash", "bash", "busybox", "ksh", "mksh") if shutil.which(name)] or ["sh"]
PROGRAM = """\
#!/bin/sh
printf '%s\\n' "$#" >> "$WRITTEN"
for each in "$@"; do printf '%s\\0' "$each" >> "$WRITTEN"; done
"""
READER = """\
#!/bin/sh
cat >> "$WRITTEN"
"""


def as_sh(name: str, folder: Path) -> str:
    """The path of a shell under the name sh, by which it does as POSIX says."""
    link = folder / f"as_{name}" / "sh"
    if not link.exists():
        link.parent.mkdir(parents=True)
        link.symlink_to(shutil.which(name) or "/bin/sh")
    return str(link)


@dataclass
class Desk:
    """A folder with a program `note`, which writes down its arguments, and `take`, which writes down what it reads."""

    folder: Path

    def __post_init__(self) -> None:
        (self.folder / "bin").mkdir(parents=True)
        (self.folder / "work").mkdir()
        for name, text in (("note", PROGRAM), ("take", READER)):
            path = self.folder / "bin" / name
            path.write_text(text, encoding="utf-8")
            path.chmod(0o755)

    @property
    def env(self) -> dict[str, str]:
        path = f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
        return {"PATH": path, "WRITTEN": str(self.folder / "written"), "HOME": str(self.folder / "work")}

    def does(self, script: str, value: str) -> bytes:
        """Run a script of one parameter with a value, and return what was written down; nothing else may have been done."""
        ready = placed(script, ["x"])
        written = self.folder / "written"
        written.unlink(missing_ok=True)
        before = sorted((self.folder / "work").iterdir())
        done = run(
            ready.text, self.env | {ready.variables["x"]: value}, self.folder / "work", timeout=60.0, most=100_000
        )
        assert (done["exit_code"], done["stderr"]) == (0, ""), (script, value, done)
        assert sorted((self.folder / "work").iterdir()) == before, (script, value)
        return written.read_bytes() if written.exists() else b""


def told(*arguments: str) -> bytes:
    """What `note` writes down when it is given these arguments."""
    return f"{len(arguments)}\n".encode() + b"".join(one.encode() + b"\0" for one in arguments)
