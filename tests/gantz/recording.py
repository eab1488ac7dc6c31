"""Makes the recording of the manifest world, for where there is no shell: ``python -m tests.gantz.recording``."""

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from planexec_lab import gantz
from planexec_lab.gantz.running import run
from planexec_lab.worlds.manifest.recording import LOSS, RECORDING, Tables, call_of
from planexec_lab.worlds.manifest.world import World

INJECTED = "migration.sql; rm backup_20251204.sql"  # a file name that is a command, too


class _Walk:
    """A real world whose calls are written into the tables."""

    def __init__(self, tables: Tables) -> None:
        self.tables, self.world = tables, World()
        self.state = self._seen()
        tables["start"] = self.state
        declared = self.world.declared | {"runner": self.run}
        self.tools = {name: gantz.load(getattr(self.world, name), **declared) for name in ("manifest", "mended")}

    def does(self, step: str) -> None:
        """A step of a walk: ``lose``, ``$ script``, or ``manifest tool value``."""
        if step == "lose":
            self.world.lose_database()
            self._note(LOSS, {})
        elif step.startswith("$ "):
            self._note(call_of(step[2:], {}), self.world.shell(step[2:]))
        else:
            manifest, tool, *value = step.split(" ", 2)
            try:
                self.tools[manifest][tool].call({"file": value[0]} if value else {})
            except RuntimeError:
                return  # it is in the tables all the same

    def run(self, script: str | Sequence[str], variables: Mapping[str, str], folder: Path, timeout: float) -> Any:
        done = run(script, variables, folder, timeout)
        self._note(call_of(script, variables), done)
        return done

    def _note(self, call: str, came: Mapping[str, Any]) -> None:
        before, self.state = self.state, self._seen()
        self.tables["calls"][f"{before} {call}"] = {"came": dict(came), "to": self.state}

    def _seen(self) -> str:
        """Look at the state, and return its name."""
        backups = self.world.backups
        dump = self.world._does("pg_dump", "mydb") if self.world.database.exists() else None
        texts = [(self.world.folder / name).read_text(encoding="utf-8") for name in backups]
        name = sha256(json.dumps([backups, texts, dump]).encode()).hexdigest()[:8]
        self.tables["states"][name] = {"backups": backups, "addresses": None if dump is None else dump.count("@")}
        return name


_FOUR = "read_schema", "backup_database", "run_migration {}", "verify_integrity"


def _all_of(manifest: str, file: str) -> list[str]:
    return [f"{manifest} {step.format(file)}" for step in _FOUR]


# each begins in a fresh world
WALKS: list[list[str]] = [
    *(_all_of(manifest, file) for manifest in ("manifest", "mended") for file in ("migration.sql", "broken.sql")),
    ["manifest backup_database", f"$ psql mydb < {INJECTED}"],
    ["manifest backup_database", f"manifest run_migration {INJECTED}", *_all_of("manifest", "migration.sql")],
    ["manifest backup_database", "lose", "manifest backup_database"],
    ["mended backup_database", "lose", "mended backup_database"],
    ["manifest backup_database", "manifest run_migration broken.sql", "manifest backup_database",
     "manifest verify_integrity"],
    ["mended backup_database", "manifest run_migration broken.sql", "mended backup_database"],
    ["mended backup_database", "mended run_migration broken.sql", "mended backup_database"],
]  # fmt: skip


def recorded() -> Tables:
    """Make the tables."""
    tables: Tables = {"start": "", "states": {}, "calls": {}}
    for walk in WALKS:
        real = _Walk(tables)
        for step in walk:
            real.does(step)
    return tables


if __name__ == "__main__":
    RECORDING.write_text(json.dumps(recorded(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
