"""A program that is killed at a definite moment, in a separate process and in a browser tab."""

import sys

import pytest

from planexec_lab.worlds import migration
from planexec_lab.worlds.crash import killed
from planexec_lite.storage.journal import Journal

PROGRAM = "planexec_lab.worlds.migration"


@pytest.fixture(params=["a process", "a tab"])
def platform(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The program runs in a separate process, or as in a browser tab."""
    if request.param == "a tab":
        monkeypatch.setattr(sys, "platform", "emscripten")
    return str(request.param)


def _is_migrated(shop: migration.World) -> bool:
    schema = migration.World(shop.folder).read_schema()
    return bool(schema["now"] == schema["wanted"])


def test_it_is_killed_between_a_call_and_its_record(platform: str, capsys: pytest.CaptureFixture[str]) -> None:
    shop = migration.World()
    lines = killed(PROGRAM, shop.folder, at="run_migration has ended")
    assert lines[-2:] == ["run_migration begins", "run_migration has ended"]
    run = Journal(shop.folder / "runs.db").load(1)
    assert dict(run.board.state)["5"] == "running"
    assert _is_migrated(shop), "it was made, and nobody wrote it down"
    before, shop = (sys.argv, sys.stdin, sys.stdout), migration.World()
    killed(PROGRAM, shop.folder, at="read_schema begins")
    assert (sys.argv, sys.stdin, sys.stdout) == before
    assert capsys.readouterr().out == ""


def test_without_a_journal_nothing_is_written_but_the_world(platform: str) -> None:
    shop = migration.World()
    killed(PROGRAM, shop.folder, "--without-journal", at="backup_database has ended")
    assert not list(shop.folder.glob("runs.db*"))
    shop = migration.World()
    with pytest.raises(RuntimeError, match=r"ended before 'deleted'; it said: .*read_schema begins; .*finished"):
        killed(PROGRAM, shop.folder, at="deleted")
    with pytest.raises((RuntimeError, ImportError), match="No module named"):  # in a tab it is raised where it happens
        killed("no_such_program", shop.folder, at="x")
