"""Versions that never change, labels that move, and a file that several processes share."""

import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planexec_lab import recorded
from planexec_lab.prompts import Registry, RegistryError
from planexec_lite.roles.planners import INSTRUCTIONS

NOON = datetime(2026, 11, 25, 12, tzinfo=UTC)


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    return Registry(tmp_path / "prompts.db", now=lambda: NOON)


def test_an_equal_text_is_the_same_version(registry: Registry) -> None:
    first = registry.save("planner", INSTRUCTIONS, "as it came")
    second = registry.save("planner", recorded.without(INSTRUCTIONS, "failure"))
    assert registry.save("planner", INSTRUCTIONS, "again") == first
    assert (str(first), str(second), first.note) == ("planner 1", "planner 2", "as it came")
    assert registry.versions("planner") == [first, second]
    assert registry.get("planner") == second
    assert first.saved == "2026-11-25T12:00:00+00:00"
    assert registry.save("executor", INSTRUCTIONS).number == 1
    assert registry.names() == ["planner", "executor"]
    registry.save("p", "one\ntwo\nthree")
    registry.save("p", "one\n2\nthree\n")
    assert registry.diff("p", 1, 2) == "--- p 1\n+++ p 2\n@@ -1,3 +1,4 @@\n one\n-two\n+2\n three\n+"
    assert registry.diff("p", 2, 2) == ""


def test_a_label_moves_and_its_history_stays(registry: Registry) -> None:
    for text in ("one", "two", "three"):
        registry.save("greeting", text)
    registry.release("greeting", 1, "production")
    registry.release("greeting", 3, "staging")
    registry.release("greeting", "staging", "production", "it was better")
    registry.release("greeting", 1, "production", "it was not")
    assert registry.labels("greeting") == {"production": 1, "staging": 3}
    assert registry.get("greeting", "production").text == "one"
    moves = [(one.label, one.number, one.note) for one in registry.history("greeting")]
    first, second = ("production", 1, ""), ("staging", 3, "")
    assert moves == [first, second, ("production", 3, "it was better"), ("production", 1, "it was not")]


@given(texts=st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip), max_size=6))
def test_every_text_comes_back_as_it_was(texts: list[str], tmp_path_factory: pytest.TempPathFactory) -> None:
    registry = Registry(tmp_path_factory.mktemp("any") / "p.db")
    versions = [registry.save("p", text) for text in texts]
    assert [registry.get("p", version.number).text for version in versions] == texts
    assert len({version.number for version in versions}) == len(set(texts))


@pytest.mark.parametrize("name", ["", " ", " planner", "a\nb", "\x1b[2J", "x" * 201, "\ud800", None, 7, "a\u202eb"])
def test_a_name_that_can_not_be_seen_is_none(name: str, registry: Registry) -> None:
    with pytest.raises(ValueError, match=r"the name of a prompt"):
        registry.save(name, "text")
    assert not registry.path.exists()
    for text in ("", " \n ", "\ud800", None, b"bytes"):
        with pytest.raises(ValueError, match="prompt"):
            registry.save("p", text)


def test_what_is_not_there_is_named_with_what_is(registry: Registry) -> None:
    with pytest.raises(
        RegistryError, match=r"there is no prompt registry prompts\.db, or not any more; it is made when the first"
    ):
        registry.names()
    registry.save("planner", "text")
    registry.release("planner", 1, "production")
    for which, words in [(2, "no version 2; it has 1 to 1"), (0, "no version 0"), ("prod", "no label 'prod'; it has")]:
        with pytest.raises(RegistryError, match=words):
            registry.get("planner", which)
    with pytest.raises(RegistryError, match="no prompt 'plannr'; did you mean 'planner'"):
        registry.versions("plannr")
    with pytest.raises(ValueError, match="would be taken for the number"):
        registry.release("planner", 1, "2")
    with pytest.raises(RegistryError, match="no version 9"):
        registry.release("planner", 9, "production")
    assert registry.labels("planner") == {"production": 1}


# The file


def test_a_version_can_not_be_changed_from_outside(registry: Registry) -> None:
    registry.save("planner", "text")
    with closing(sqlite3.connect(registry.path)) as db:
        with pytest.raises(sqlite3.IntegrityError, match="a version does not change"):
            db.execute("UPDATE versions SET text = 'other'")
        with pytest.raises(sqlite3.IntegrityError, match="is not deleted"):
            db.execute("DELETE FROM versions")
        db.rollback()
        db.executescript("DROP TRIGGER no_other_text; UPDATE versions SET text = 'other';")
    with pytest.raises(RegistryError, match="version 1, was changed in the file"):
        registry.get("planner")
    registry.save("p", "one")
    registry.save("p", "two")
    with closing(sqlite3.connect(registry.path)) as db:
        db.executescript("DROP TRIGGER no_less; DELETE FROM versions WHERE text = 'one';")
    with pytest.raises(RegistryError, match="versions of the prompt 'p' are missing: the file is damaged"):
        registry.get("p")


def test_a_new_file_that_another_program_locks_is_waited_for(registry: Registry) -> None:
    registry.save("p", "text")
    with closing(sqlite3.connect(registry.path, isolation_level=None, check_same_thread=False)) as db:
        db.execute("BEGIN IMMEDIATE")
        over = threading.Timer(0.2, db.execute, ["COMMIT"])
        over.start()
        assert registry.save("p", "other").number == 2
        over.join()


SAVING = """
import sys
from planexec_lab.prompts import Registry
registry = Registry(sys.argv[1])
for n in range(20):
    registry.save("p", f"{sys.argv[2]} {n}")
    registry.save("p", f"both {n}")
    registry.release("p", 1, "production")
"""


@pytest.mark.slow
def test_two_processes_number_their_versions_one_after_the_other(registry: Registry) -> None:
    commands = [[sys.executable, "-c", SAVING, registry.path, name] for name in "ab"]
    children = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for command in commands]
    assert [(child.communicate(timeout=60)[1], child.returncode) for child in children] == [("", 0)] * 2
    versions = registry.versions("p")
    assert [one.number for one in versions] == list(range(1, 61))
    assert {one.text for one in versions} == {f"{name} {n}" for name in ("a", "b", "both") for n in range(20)}
    assert len(registry.history("p")) == 40
