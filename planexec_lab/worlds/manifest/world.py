"""The world of the manifest: a folder with ``gantz.yaml``, its script and its files, and a database for its commands."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from planexec_lab.worlds import migration
from planexec_lab.worlds.folder import FolderWorld
from planexec_lite.tools import Effects

_HERE = Path(__file__).parent
START = Path(migration.__file__).with_name("start.sql")
EFFECTS: dict[str, Effects] = {
    "read_schema": "none",
    "backup_database": "idempotent",
    "run_migration": "once",
    "verify_integrity": "none",
}
LATENCY = {"read_schema": 2.0, "backup_database": 60.0, "run_migration": 45.0, "verify_integrity": 30.0}


class World(FolderWorld):
    """The folder in which the article's manifest works, with the shop's database of the migration world as ``mydb``.

    Args:
        day: the day that it is there, such as "2025-12-04"; None: today, of the system's own ``date``.
        server: where a PostgreSQL is, as its variables say it, such as ``{"PGHOST": …, "PGUSER": …}``; its database
            ``mydb`` is made. None: stand-ins, which keep it in a SQLite file.

    The folder goes away with the object. `declared` says of the tools what a manifest can't say, for `gantz.load`. Raises
    `RuntimeError` where there is no shell, and where PostgreSQL can't be reached.
    """

    def __init__(self, day: str | None = "2025-12-04", server: Mapping[str, str] | None = None) -> None:
        if sys.platform == "emscripten" or os.name != "posix":
            raise RuntimeError("this world starts programs by a shell, which is not to be had here; use Linux or macOS")
        super().__init__()
        shutil.copytree(_HERE / "files", self.folder, dirs_exist_ok=True)
        self.programs = self.folder / "bin"
        self.programs.mkdir()
        self._program("python")
        if day is not None:
            self._program("date", _HERE / "stand_ins" / "date.py")
        self.server = server
        self.env = {"PATH": f"{self.programs}{os.pathsep}{os.environ.get('PATH', os.defpath)}", **(server or {})}
        self.env |= {} if day is None else {"DAY": day}
        if server is None:
            for name in ("psql", "pg_dump"):
                self._program(name, _HERE / "stand_ins" / f"{name}.py")
            (self.folder / "databases").mkdir()
            self.database.touch()
            self.env["DATABASES"] = str(self.database.parent)
        else:
            self._does("createdb", "mydb")
        self._does("psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", f"--file={START}", "mydb")

    @property
    def manifest(self) -> Path:
        """The article's manifest, word for word."""
        return self.folder / "gantz.yaml"

    @property
    def mended(self) -> Path:
        """The same four tools, without the traps."""
        return self.folder / "mended.yaml"

    @property
    def database(self) -> Path:
        """The database file of the stand-ins."""
        return self.folder / "databases" / "mydb.sqlite"

    @property
    def declared(self) -> dict[str, Any]:
        """The arguments of `gantz.load` for both manifests: effects, what may destroy something, seconds, variables."""
        return {
            "effects": EFFECTS,
            "destructive": ("backup_database", "run_migration"),
            "latency": LATENCY,
            "env": self.env,
        }

    @property
    def backups(self) -> dict[str, int]:
        """The backups, by name, and how many e-mail addresses each holds."""
        return {
            path.name: path.read_text(encoding="utf-8").count("@") for path in sorted(self.folder.glob("backup_*.sql"))
        }

    def addresses(self) -> int:
        """The number of e-mail addresses in all tables of the database."""
        return self._does("pg_dump", "mydb").count("@")

    def shell(self, script: str) -> dict[str, Any]:
        """Run a script in the folder unchanged, as many programs do, without quoting and without checks.

        Returns its exit code and its output, as `gantz` does.
        """
        done = subprocess.run(["/bin/sh", "-c", script], env=self._env, cwd=self.folder, capture_output=True, text=True)
        return {"exit_code": done.returncode, "stdout": done.stdout, "stderr": done.stderr}

    def lose_database(self) -> None:
        """Lose the database, as after a full disk or a dropped database."""
        if self.server is None:
            self.database.unlink()
        else:
            self._does("dropdb", "mydb")

    @property
    def _env(self) -> dict[str, str]:
        return {name: os.environ[name] for name in ("LANG", "HOME") if name in os.environ} | self.env

    def _does(self, *command: str) -> str:
        env = self._env
        program = shutil.which(command[0], path=env["PATH"]) or command[0]
        done = subprocess.run([program, *command[1:]], env=env, cwd=self.folder, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{command[0]} ended with code {done.returncode}: {done.stderr.strip()}")
        return done.stdout

    def _program(self, name: str, script: Path | None = None) -> None:
        """Put a program on the world's PATH: this Python, with or without a script."""
        runs = [sys.executable, *(["-I", str(script)] if script else [])]
        quoted = " ".join("'" + part.replace("'", "'\\''") + "'" for part in runs)
        path = self.programs / name
        path.write_text(f'#!/bin/sh\nexec {quoted} "$@"\n', encoding="utf-8")
        path.chmod(0o755)
