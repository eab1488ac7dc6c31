"""The manifest world for a browser tab, which has no shell: a recording of the lesson's calls.

It is a table. A *state* has the contents of backups and database. In a state, a *call* (a script with its values, or the loss of
the database) has an outcome and leads to another state. ``python -m tests.gantz.recording`` makes the table in real worlds, and
a test compares it with them.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from planexec_lab.worlds.manifest.world import EFFECTS, LATENCY

FILES = Path(__file__).with_name("files")
RECORDING = Path(__file__).with_name("recording.json")
LOSS = "the database is lost"
Tables = dict[str, Any]
"""``start``, the first state; ``states``, what each holds; ``calls``, what came of a call in a state, and the state after it."""


def call_of(script: str | Sequence[str], variables: Mapping[str, str]) -> str:
    """The name of a call: the script or the words of the command, and the values that it is given."""
    values = [value for name, value in sorted(variables.items()) if name.startswith("GANTZ_ARG_")]
    text = script if isinstance(script, str) else " ".join(script)
    return " ← ".join([text.strip(), *values])


class RecordedWorld:
    """A `World` that is played from the recording: the same faces, for what the lesson does."""

    def __init__(self) -> None:
        self._tables: Tables = json.loads(RECORDING.read_text(encoding="utf-8"))
        self._state = self._tables["start"]
        self.manifest, self.mended = FILES / "gantz.yaml", FILES / "mended.yaml"

    @property
    def declared(self) -> dict[str, Any]:
        """The arguments of `gantz.load`; scripts are played, and not run."""
        harm = ("backup_database", "run_migration")
        return {"effects": EFFECTS, "destructive": harm, "latency": LATENCY, "runner": self._run}

    @property
    def backups(self) -> dict[str, int]:
        """The backups, by name, and how many e-mail addresses each holds."""
        return dict(self._tables["states"][self._state]["backups"])

    def addresses(self) -> int:
        """How many e-mail addresses the database holds. Raises `RuntimeError` where it is gone."""
        count: int | None = self._tables["states"][self._state]["addresses"]
        if count is None:
            raise RuntimeError('pg_dump ended with code 1: pg_dump: error: database "mydb" does not exist')
        return count

    def shell(self, script: str) -> dict[str, Any]:
        """The outcome of a script that was run unchanged."""
        return self._played(call_of(script, {}))

    def lose_database(self) -> None:
        """The database is gone."""
        self._played(LOSS)

    def _run(self, script: str | Sequence[str], variables: Mapping[str, str], *_: Any) -> Any:
        return self._played(call_of(script, variables))

    def _played(self, call: str) -> dict[str, Any]:
        known = self._tables["calls"].get(f"{self._state} {call}")
        if known is None:
            raise RuntimeError(
                "in a browser tab there is no shell: what the lesson does is played from a recording, and this is not in it"
            )
        self._state = known["to"]
        return dict(known["came"])
