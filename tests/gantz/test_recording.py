"""The manifest world where there is no shell is a recording, and says what the real one does."""

import json
from typing import Any

import pytest

from planexec_lab import gantz
from planexec_lab.worlds.manifest.recording import RECORDING, RecordedWorld
from tests.gantz.recording import INJECTED, WALKS, recorded
from tests.gantz.shells import NEEDS_A_SHELL

pytestmark = [NEEDS_A_SHELL, pytest.mark.slow]
SHELLS_OWN = "cannot open", "No such file"  # a shell says it in words and with a code of its own


def told(tables: dict[str, Any]) -> dict[str, Any]:
    """The tables without what each shell says in its own way."""
    for one in tables["calls"].values():
        came = one["came"]
        if came and any(words in came["stderr"] for words in SHELLS_OWN) and not came["stderr"].startswith("p"):
            came |= {"stderr": "the shell's", "exit_code": bool(came["exit_code"])}
    return tables


def test_the_recording_is_what_real_worlds_do() -> None:
    stored = json.loads(RECORDING.read_text(encoding="utf-8"))
    assert told(stored) == told(recorded())
    assert len(WALKS) == 11


def test_what_is_lost_or_run_in_a_real_world_is_lost_or_run_in_the_recording() -> None:
    world = RecordedWorld()
    tools = gantz.load(world.manifest, **world.declared)
    tools["backup_database"].call({})
    with pytest.raises(RuntimeError, match="run_migration ended with code"):
        tools["run_migration"].call({"file": INJECTED})
    assert world.backups == {"backup_20251204.sql": 11}
    world.shell(f"psql mydb < {INJECTED}")
    assert world.backups == {}
    world = RecordedWorld()
    backup = gantz.load(world.manifest, **world.declared)["backup_database"]
    backup.call({})
    world.lose_database()
    with pytest.raises(RuntimeError, match="ended with code 1"):
        backup.call({})
    assert world.backups == {"backup_20251204.sql": 0}
    with pytest.raises(RuntimeError, match='database "mydb" does not exist'):
        world.addresses()


def test_what_is_not_in_it_is_said_to_be_missing() -> None:
    with pytest.raises(RuntimeError, match="there is no shell: what the lesson does is played from a recording"):
        RecordedWorld().shell("ls")
