"""The command line: prompts as versions without Python, and a check for CI."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from planexec_lite import Journal, recorded
from planexec_lite.planning import INSTRUCTIONS
from planexec_lite.prompts import Registry, rows_from_transcript
from planexec_lite.prompts.__main__ import RECORDINGS, main
from tests.prompts.test_datasets import arithmetic_run


@pytest.fixture
def file(tmp_path: Path) -> Path:
    registry = Registry(tmp_path / "prompts.db")
    registry.save("planner", INSTRUCTIONS, "as it came")
    registry.save("planner", recorded.without(INSTRUCTIONS, "failure"))
    registry.release("planner", 1, "production")
    return registry.path


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main([str(one) for one in arguments])
    told = capsys.readouterr()
    return code, told.out, told.err


def test_versions_are_saved_shown_and_released(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, text = tmp_path / "p.db", tmp_path / "text.txt"
    text.write_text("Be kind.\n\tAlways: {name}\n")
    assert run(capsys, "save", file, "planner")[:2] == (0, "planner 1\n")
    assert run(capsys, "save", file, "greeting", text, "--note", "first")[:2] == (0, "greeting 1\n")
    assert run(capsys, "save", file, "greeting", text)[:2] == (0, "greeting 1\n")
    assert run(capsys, "show", file, "planner")[1] == INSTRUCTIONS + "\n"
    assert run(capsys, "show", file, "greeting", "1")[1] == text.read_text()
    assert run(capsys, "release", file, "greeting", "1", "staging")[:2] == (0, "staging is greeting 1\n")
    assert "staging  greeting 1" in run(capsys, "history", file, "greeting")[1]
    assert run(capsys, "diff", file, "greeting", "1", "staging")[1] == "no difference\n"
    assert [line.split()[:2] for line in run(capsys, "list", file)[1].splitlines()[1:]] == [
        ["planner", "1"],
        ["greeting", "1"],
    ]
    assert run(capsys, "log", file)[1] == "nothing was asked\n"


def test_the_check_gives_0_1_or_2(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    measure = ("--on", "smollm2", "--measure", "ends a step")
    code, told, _ = run(capsys, "check", file, "planner", 2, "production", *measure)
    assert (code, "+33 (+8 to +53)" in told) == (0, True)
    code, told, _ = run(capsys, "check", file, "planner", "production", 2, *measure)
    assert (code, told.splitlines()[0]) == (1, "planner 1 is worse than planner 2")
    for arguments, words in [
        (("check", file, "planner", 2, 1, "--on", "smollm2"), "could never turn red"),
        (("check", file, "planner", 2, 1, "--on", "nothing"), "neither smollm2 nor family nor a transcript"),
        (("check", file, "planner", 2, 7, *measure), "no version 7"),
        (("check", file, "planner", 2, 1, *measure, "--tolerance", "2"), "tolerance=2.0"),
        (("check", file, "planner", 2, 1, "--on", "family", "--measure", "vaild"), "did you mean 'valid'"),
        (("check", file, "planner", 2, 1, "--on", "sums", "--script", "none.yaml"), "there is no script none.yaml"),
        (("show", file, "plannr"), "did you mean 'planner'"),
        (("show", file.with_name("none.db"), "planner"), "there is no prompt registry none.db"),
        (("save", file, "other"), "name the file"),
        (("rows", file, "d", "--from", "none.db"), "--from needs"),
        (("rows", file, "d", "--from", "none.db", "--tools", "arithmetic"), "there is no journal none.db"),
    ]:
        code, told, error = run(capsys, *arguments)
        assert (code, told) == (2, "")
        assert words in error


def test_a_version_is_checked_on_a_data_set_of_past_runs(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    journal = Journal(file.with_name("runs.db"))
    for _ in range(6):
        arithmetic_run(journal)
    adding = ("rows", file, "sums", "--from", journal.path, "--tools", "arithmetic", "--tag", "nightly")
    assert run(capsys, *adding)[:2] == (0, "6 new rows\n")
    assert run(capsys, "rows", file)[1] == "sums: 6 rows\n"
    rows = [json.loads(line) for line in run(capsys, "rows", file, "sums")[1].splitlines()]
    assert (rows[0]["id"], rows[0]["score"], rows[0]["tags"][0]) == ("run 1, question 1", 1.0, "nightly")
    script = Path(recorded.__file__).parents[1] / "scenarios" / "arithmetic" / "scenes.yaml"
    code, told, _ = run(capsys, "check", file, "planner", 2, 1, "--on", "sums", "--script", script)
    assert (code, "written, so nothing about a model" in told) == (0, True)


def test_a_model_that_does_not_answer_is_no_regression(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = rows_from_transcript(recorded.smollm2())
    Registry(file).add_rows("sums", rows[:8])
    script = Path(recorded.__file__).parents[1] / "scenarios" / "strangers" / "scenes.yaml"  # of another goal
    code, told, error = run(capsys, "check", file, "planner", 2, 1, "--on", "sums", "--script", script)
    assert (code, told) == (2, "")
    assert error.startswith("the model did not answer: Error code: 422")


def test_what_nobody_foresaw_is_no_regression_either(
    file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(RECORDINGS, "smollm2", lambda: 1 / 0)
    code, _, error = run(capsys, "check", file, "planner", 2, 1, "--on", "smollm2")
    assert (code, "ZeroDivisionError" in error) == (2, True)


def test_a_mark_that_an_editor_puts_before_a_text_is_none_of_it(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = file.with_name("text.txt")
    text.write_bytes(b"\xef\xbb\xbfone\r\ntwo\r\n")
    run(capsys, "save", file, "marked", text)
    assert Registry(file).get("marked").text == "one\ntwo"
    assert run(capsys, "history", file, "planner", "prodution")[1] == "the label 'prodution' was never set\n"


def test_what_somebody_wrote_gives_a_terminal_no_orders(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    registry = Registry(tmp_path / "p.db")
    registry.save("p", "one\x1b[2Jtwo\u202ethree\n  four", note="\x1b[31mred")
    for command in ("list", "show", "history"):
        told = run(capsys, command, registry.path, *(["p"] if command != "list" else []))[1]
        assert "\x1b" not in told
        assert "\u202e" not in told
    assert run(capsys, "show", registry.path, "p")[1] == "one\\x1b[2Jtwo\\u202ethree\n  four\n"


def test_names_that_others_wrote_into_the_file_stay_on_their_line(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name, text = "evil\x1b[2J\n2 answered", "text"
    with closing(sqlite3.connect(file)) as db, db:
        digest = hashlib.sha256(text.encode()).hexdigest()
        db.execute("INSERT INTO versions VALUES (?, 1, ?, ?, '', '\x1b')", (name, text, digest))
        columns = "at, prompt, version, tags, path, model, request, status"
        into = f"INSERT INTO requests ({columns}) VALUES ('', ?, 1, '[]', ?, ?, '{{}}', ?)"
        db.execute(into, (name, "/", "\x1bm", "answered"))
    told = run(capsys, "list", file)[1]
    assert len(told.splitlines()) == 4
    log = run(capsys, "log", file, "--last", "9")[1]
    assert len(log.splitlines()) == 4
    for output in (told, log, run(capsys, "show", file, "nope")[2]):
        assert "\x1b" not in output


@pytest.mark.slow
def test_it_runs_as_a_module(file: Path) -> None:
    command = [sys.executable, "-m", "planexec_lite.prompts", "check", file, "planner", "2", "1", "--on", "family"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "(written, so nothing about a model)" in done.stdout
