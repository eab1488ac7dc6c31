"""The four tools of the article run, on stand-ins and on a real PostgreSQL; their three traps are shown, and mended."""

import re
from collections.abc import Callable, Iterator

import pytest

from planexec_lab import gantz
from planexec_lab.worlds import manifest
from planexec_lite import Simulated, ToolExecutor, execute
from planexec_lite.run import Run
from planexec_lite.tools import Toolbox
from tests.gantz.postgres import cluster
from tests.gantz.shells import NEEDS_A_SHELL

New = Callable[[], manifest.World]
Load = Callable[[manifest.World], Toolbox]


@pytest.fixture(scope="module")
def postgres() -> Iterator[dict[str, str]]:
    with cluster() as server:
        yield server


@pytest.fixture(
    params=["stand-ins", pytest.param("PostgreSQL", marks=[pytest.mark.weekly, pytest.mark.xdist_group("postgres")])]
)
def new(request: pytest.FixtureRequest) -> Iterator[New]:
    """Makes a world; a real server has one database of that name at a time."""
    made: list[manifest.World] = []

    def on_the_server() -> manifest.World:
        made.append(manifest.World(server=request.getfixturevalue("postgres")))
        return made[-1]

    yield manifest.World if request.param == "stand-ins" else on_the_server
    for world in made:
        world._does("dropdb", "--if-exists", "mydb")


pytestmark = [NEEDS_A_SHELL, pytest.mark.slow]


def article(world: manifest.World) -> Toolbox:
    return gantz.load(world.manifest, **world.declared)


def mended(world: manifest.World) -> Toolbox:
    return gantz.load(world.mended, **world.declared)


def migrated(tools: Toolbox, file: str) -> Run:
    return execute(manifest.plan_with(file), ToolExecutor(tools), workers=Simulated())


@pytest.mark.parametrize("load", [article, mended])
def test_the_four_tools_run_for_real(load: Load, new: New) -> None:
    world = new()
    run = migrated(load(world), "migration.sql")
    assert run.status == "finished"
    assert run.makespan == 60 + 45 + 30
    assert "CREATE TABLE" in run.results["1"]["stdout"]
    assert "silva@example.org" not in run.results["1"]["stdout"]
    assert "UPDATE 12" in run.results["3"]["stdout"]
    assert run.results["4"]["stdout"] == "11 of 11 e-mail addresses are there; 0 orders have no customer\n"
    assert (world.addresses(), list(world.backups.values())) == (11, [11])
    assert "contacts" not in load(world)["read_schema"].call({})["stdout"]


def test_psql_goes_on_after_an_error_and_the_step_is_done(new: New) -> None:
    world = new()
    run = migrated(article(world), "broken.sql")
    assert (run.results["3"]["exit_code"], "ERROR" in run.results["3"]["stderr"]) == (0, True)
    assert run.results["3"]["stdout"].split("\n") == ["ALTER TABLE", "DROP TABLE", ""]
    assert world.addresses() == 0
    assert run.status == "failed"
    assert "verify_integrity ended with code 1: lost since backup_20251204.sql: bo@example.org" in str(run.reason)


def test_mended_a_migration_is_done_as_a_whole_or_fails_its_step(new: New) -> None:
    world = new()
    run = migrated(mended(world), "broken.sql")
    assert run.status == "failed"
    assert "step 3 failed: RuntimeError: run_migration ended with code 3: psql:broken.sql:3: ERROR" in str(run.reason)
    assert world.addresses() == 11
    assert "email" not in mended(world)["read_schema"].call({})["stdout"].partition("contacts")[0]


@pytest.mark.parametrize(
    ("load", "name", "after_failure", "after_another"),
    [
        (article, "backup_20251204.sql", {"backup_20251204.sql": 0}, {"backup_20251204.sql": 0}),  # the good one is gone
        (mended, "backup_20251204_1.sql", {"backup_20251204_1.sql": 11},
         {"backup_20251204_1.sql": 11, "backup_20251204_2.sql": 0}),
    ],
)  # fmt: skip
def test_no_backup_is_lost_once_the_script_is_repaired(
    load: Load, name: str, after_failure: dict[str, int], after_another: dict[str, int], new: New
) -> None:
    world = new()
    backup = load(world)["backup_database"]
    backup.call({})
    assert world.backups == {name: 11}
    article(world)["run_migration"].call({"file": "broken.sql"})
    backup.call({})
    assert world.backups == after_another
    other = manifest.World()
    backup = load(other)["backup_database"]
    backup.call({})
    other.lose_database()
    with pytest.raises(RuntimeError, match=r'ended with code 1: .*database "mydb" does not exist'):
        backup.call({})
    assert other.backups == after_failure
    assert sorted(other.folder.glob("part.*")) == []


def test_a_dump_can_be_read_again(new: New) -> None:
    world = new()
    tools = mended(world)
    name = tools["backup_database"].call({})["stdout"].strip()
    before = world._does("pg_dump", "mydb")
    world.lose_database()
    if world.server is None:
        world.database.touch()
    else:
        world._does("createdb", "mydb")
    tools["run_migration"].call({"file": name})
    assert without_key(world._does("pg_dump", "mydb")) == without_key(before)


def without_key(dump: str) -> list[str]:
    """The lines of a dump without the key of the day, which newer versions write into each."""
    return [line for line in dump.splitlines() if not line.startswith(("\\restrict", "\\unrestrict"))]


@pytest.mark.parametrize("load", [article, mended])
def test_a_file_name_runs_no_command_and_may_be_strange(load: Load, new: New) -> None:
    world = new()
    tools = load(world)
    for name in (
        "migration.sql; touch CANARY",
        "$(touch CANARY)",
        "`touch CANARY`",
        "x\ntouch CANARY",
        "' || touch CANARY '",
    ):
        with pytest.raises(RuntimeError):
            tools["run_migration"].call({"file": name})
    assert not list(world.folder.rglob("CANARY"))
    assert world.addresses() == 11
    name = 'it\'s a $(new) "file" *.sql'
    (world.folder / "migration.sql").rename(world.folder / name)
    tools["backup_database"].call({})
    tools["run_migration"].call({"file": name})
    assert tools["verify_integrity"].call({})["stdout"].startswith("11 of 11")


def test_the_check_says_what_it_can_not_compare(new: New) -> None:
    world = new()
    tools = article(world)
    with pytest.raises(RuntimeError, match="there is no backup to compare with"):
        tools["verify_integrity"].call({})
    (world.folder / "backup_20251204.sql").touch()
    with pytest.raises(RuntimeError, match=r"the latest backup, backup_20251204\.sql, holds no address"):
        tools["verify_integrity"].call({})


def test_a_stand_in_refuses_what_it_does_not_know() -> None:
    world = manifest.World(day=None)
    article(world)["backup_database"].call({})
    (name,) = world.backups  # of the system's day
    assert re.fullmatch(r"backup_\d{8}\.sql", name)
    world = manifest.World()
    for command in ("psql --html mydb", "pg_dump -Fc mydb", "date -u", r"psql -c \d mydb"):
        with pytest.raises(RuntimeError, match="this stand-in knows"):
            world._does(*command.split())
