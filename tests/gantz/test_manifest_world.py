"""The four tools of the article on stand-ins, on a real PostgreSQL, and in the recording; lesson A4 shows their three traps."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from planexec_lab import gantz
from planexec_lab.worlds import manifest
from planexec_lab.worlds.manifest.recording import RECORDING, RecordedWorld
from planexec_lite import Simulated, ToolExecutor, execute
from tests.gantz.postgres import cluster
from tests.gantz.recording import INJECTED, WALKS, recorded
from tests.gantz.shells import NEEDS_A_SHELL

pytestmark = [NEEDS_A_SHELL, pytest.mark.wide]
HOSTILE = ["migration.sql; touch CANARY", "$(touch CANARY)", "`touch CANARY`", "x\ntouch CANARY", "' || touch CANARY '"]


@pytest.fixture(scope="module")
def postgres() -> Iterator[dict[str, str]]:
    with cluster() as server:
        yield server


@pytest.fixture(
    params=["stand-ins", pytest.param("PostgreSQL", marks=[pytest.mark.weekly, pytest.mark.xdist_group("postgres")])]
)
def world(request: pytest.FixtureRequest) -> Iterator[manifest.World]:
    world = manifest.World(server=None if request.param == "stand-ins" else request.getfixturevalue("postgres"))
    yield world
    if world.server is not None:
        world._does("dropdb", "--if-exists", "mydb")


@pytest.mark.parametrize(
    ("name", "file", "ends", "addresses", "backups"),
    [
        ("manifest", "migration.sql", ["done", "done"], 11, [[11], [11], [0]]),
        ("manifest", "broken.sql", ["done", "failed"], 0, [[11], [0], [0]]),  # psql continues after an error
        ("mended", "migration.sql", ["done", "done"], 11, [[11], [11, 11], [11, 11]]),
        ("mended", "broken.sql", ["failed", "skipped"], 11, [[11], [11, 11], [11, 11]]),
    ],
)
def test_a_database_is_backed_up_migrated_lost_and_restored(
    name: str, file: str, ends: list[str], addresses: int, backups: list[list[int]], world: manifest.World
) -> None:
    tools, seen = gantz.load(getattr(world, name), **world.declared), []
    run = execute(manifest.plan_with(file), ToolExecutor(tools), workers=Simulated())
    assert ([run.board.state[id] for id in "34"], world.addresses()) == (ends, addresses)
    assert "silva@example.org" not in run.results["1"]["stdout"]
    if file == "migration.sql":
        assert "UPDATE 12" in run.results["3"]["stdout"]
        assert run.results["4"]["stdout"] == "11 of 11 e-mail addresses are there; 0 orders have no customer\n"
    seen.append([*world.backups.values()])
    for odd in HOSTILE:
        with pytest.raises(RuntimeError):
            tools["run_migration"].call({"file": odd})
    assert not list(world.folder.rglob("CANARY"))
    tools["backup_database"].call({})
    seen.append([*world.backups.values()])
    dump, odd = world._does("pg_dump", "mydb"), 'it\'s a $(new) "file" *.sql'
    (world.folder / odd).write_text(dump, encoding="utf-8")
    world.lose_database()
    with pytest.raises(RuntimeError, match=r'ended with code 1: .*database "mydb" does not exist'):
        tools["backup_database"].call({})
    assert [*seen, [*world.backups.values()]] == backups
    assert sorted(world.folder.glob("part.*")) == []
    if world.server is None:
        world.database.touch()
    else:
        world._does("createdb", "mydb")
    tools["run_migration"].call({"file": odd})
    assert without_key(world._does("pg_dump", "mydb")) == without_key(dump)


def without_key(dump: str) -> list[str]:
    """The lines of a dump without the key of the day, which newer versions write into each."""
    return [line for line in dump.splitlines() if not line.startswith(("\\restrict", "\\unrestrict"))]


def test_the_check_says_what_it_can_not_compare(world: manifest.World) -> None:
    verify = gantz.load(world.manifest, **world.declared)["verify_integrity"]
    with pytest.raises(RuntimeError, match="there is no backup to compare with"):
        verify.call({})
    (world.folder / "backup_20251204.sql").touch()
    with pytest.raises(RuntimeError, match=r"the latest backup, backup_20251204\.sql, holds no address"):
        verify.call({})


def test_a_stand_in_refuses_what_it_does_not_know() -> None:
    world = manifest.World(day=None)
    gantz.load(world.manifest, **world.declared)["backup_database"].call({})
    (name,) = world.backups  # of the system's day
    assert re.fullmatch(r"backup_\d{8}\.sql", name)
    for command in ("psql --html mydb", "pg_dump -Fc mydb", "date -u", r"psql -c \d mydb"):
        with pytest.raises(RuntimeError, match="this stand-in knows"):
            manifest.World()._does(*command.split())


SHELLS_OWN = "cannot open", "No such file"  # each shell has a message and a code for it


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


def test_the_recording_runs_and_loses_what_a_real_world_does() -> None:
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
