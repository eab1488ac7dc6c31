"""The release on other frameworks: lesson 15 reads a recording of the suite, and these are the programs that were recorded."""

import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from elsewhere import features, record, small, suite
from tests.guards.books import LESSONS
from tests.guards.test_lessons import prose, sentences

OTHERS = [name for name in suite.FRAMEWORKS if name != "kit"]
RECORDED = record.recorded()
PROGRAMS = {name: suite.Program(name) for name in suite.FRAMEWORKS}  # each remembers its undisturbed run


def installed(framework: str) -> bool:
    return Path(suite.python_of(framework)).exists()


@pytest.mark.parametrize("framework", record.NAMES)
def test_the_recording_is_of_these_programs(framework: str) -> None:
    assert RECORDED["programs"][framework] == record.digest(framework), "run make elsewhere"


def test_every_question_has_an_answer_for_every_framework() -> None:
    assert list(RECORDED["frameworks"]) == list(record.NAMES.values())
    for one in RECORDED["frameworks"].values():
        assert list(one["cells"]) == list(RECORDED["questions"]) == [*suite.CHECKS, *features.TITLES]


def test_the_figure_shows_the_recorded_times() -> None:
    assert RECORDED["timelines"] == record.timelines(RECORDED["frameworks"])


def test_the_readme_has_the_recorded_table() -> None:
    assert record.README.read_text(encoding="utf-8") == record.readme(RECORDED), "run python -m elsewhere.record"


def test_the_lesson_shows_the_small_program_as_it_was_recorded() -> None:
    code = small.FILE.read_text(encoding="utf-8")
    assert RECORDED["small"]["code"] == code, "run python -m elsewhere.record --small"
    lesson = next(path for path in LESSONS if path.name.startswith("15"))
    cells = nbformat.read(lesson, 4).cells
    pieces = [piece for cell in cells for piece in re.findall(r"```python\n(.*?)```", cell.source, re.S)]
    assert len(pieces) == 4
    assert [piece for piece in pieces if piece not in code] == []


@pytest.mark.parametrize("name", small.CHANGES)
def test_each_change_of_the_small_program_still_fits(name: str) -> None:
    compile(small.changed(name), name, "exec")


@pytest.mark.weekly
@pytest.mark.slow
def test_the_small_program_does_what_is_recorded() -> None:
    if not installed("langgraph"):
        pytest.skip("make elsewhere installs langgraph")
    assert small.observed()["seen"] == RECORDED["small"]["seen"]


CLAIMS = {  # words in a lesson's section "In other frameworks": a question, and the cell of the table
    "plan check|check for cycles|nine lines": ("valid", "9 lines"),
    "rollback|undo": ("undo", ".*lines"), "the repair": ("repair", "1 line"), "the dependencies": ("parallel", "3 lines"),
    "waited for the backup|only after the backup": ("no_barrier", "no"), "one line of ours": ("no_barrier", "1 line"),
    "approval .*built in": ("approval", "by itself"), "bound on turns": ("bounded", "by itself"),
    "neither asks|asks no question": ("once", "6 lines"), "time travel": ("time_travel", "by itself"),
    "sessions": ("memory", "by itself"), "hand-?off": ("handoff", "by itself"),
}  # fmt: skip


def test_what_lessons_say_of_other_frameworks_is_in_the_table() -> None:
    table, found = RECORDED["frameworks"], set()
    for path in LESSONS:
        section = re.search(r"In other frameworks\n(.*?)(\n\n[A-Z]|\Z)", prose(path), re.S)
        names = [name for name in table if section and name in section[1]]
        for line in section[1].splitlines() if section else ():
            for name in names:
                version = re.search(rf"{name}[\w ]*[*\]]+ \(?(\d[\d.]*\d)", line)
                assert version is None or version[1] == table[name]["version"], (path.name, line)
            for text in sentences(line):
                about = [name for name in names if name in text] or [name for name in names if name in line]
                about = about or (names if re.search("both|neither", text) else [])
                for words, (check, cell) in CLAIMS.items():
                    for name in about if re.search(words, text) else ():
                        found.add(words)
                        assert re.fullmatch(cell, table[name]["cells"][check]), (path.name, text)
                for lines in re.findall(r"took us (\d+) lines", text):
                    assert int(lines) == table["LangGraph"]["counts"]["program"]
    assert len(found) > len(CLAIMS) / 2, "the lessons use other words now: adapt CLAIMS"


def test_a_cell_needs_a_run_without_the_lines() -> None:
    yes, no = suite.Verdict(True, ""), suite.Verdict(False, "")
    assert suite.cell(yes, 0, None, None) == "by itself"
    assert suite.cell(yes, 3, yes, None) == "by itself"
    assert suite.cell(yes, 3, no, None) == "3 lines"
    assert suite.cell(yes, 1, no, yes) == "only if the model obeys; 1 line"
    assert suite.cell(no, 0, None, yes) == "only if the model obeys"
    assert suite.cell(no, 0, None, None) == "no"


def test_a_program_without_its_tagged_lines_still_compiles() -> None:
    for framework in suite.FRAMEWORKS:
        for file in suite.HERE / framework / "release.py", suite.HERE / "common/ours.py":
            for check in suite.CHECKS:
                compile(suite.Program(framework, without=check).source(file), str(file), "exec")


@pytest.mark.parametrize("address", ["example.com", "192.0.2.1"])
def test_every_other_host_is_refused_and_written_down(address: str, tmp_path: Path) -> None:
    code = f"import socket; socket.create_connection(({address!r}, 80), timeout=1)"
    environment = {**os.environ, "PYTHONPATH": str(suite.HERE / "common"), "STATE": str(tmp_path)}
    ended = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert "PermissionError: only this machine can be reached" in ended.stderr
    assert (tmp_path / "hosts.txt").read_text().split() == [address]


@pytest.mark.parametrize("framework", OTHERS)
def test_requirements_pin_versions_and_name_no_index(framework: str) -> None:
    for line in (suite.HERE / framework / "requirements.txt").read_text().splitlines():
        assert "==" in line
        assert not line.startswith("-")
        assert "://" not in line


@pytest.mark.weekly
@pytest.mark.slow
@pytest.mark.parametrize("check", [*suite.CHECKS, *features.TITLES])
@pytest.mark.parametrize(
    "framework", [pytest.param(name, marks=pytest.mark.xdist_group(f"elsewhere {name}")) for name in PROGRAMS]
)
def test_the_suite_sees_what_is_recorded(framework: str, check: str) -> None:
    if not installed(framework):
        pytest.skip(f"make elsewhere installs {framework}")
    decided = (
        features.decide(framework, check) if check in features.TITLES else suite.decide(PROGRAMS[framework], check)
    )
    assert decided["cell"] == RECORDED["frameworks"][record.NAMES[framework]]["cells"][check]


@pytest.mark.weekly
@pytest.mark.slow
@pytest.mark.parametrize("framework", features.REPLAYS)
def test_after_a_crash_step_b2_has_a_recorded_result(framework: str) -> None:
    if not installed(framework):
        pytest.skip(f"make elsewhere installs {framework}")
    assert features.replay(framework)["results"]["B2"] in RECORDED["B2"][framework]


@pytest.mark.weekly
@pytest.mark.slow
@pytest.mark.parametrize(
    ("environment", "file"),
    [("dask", "tests/workers/test_dask.py"), ("dbos", "tests/elsewhere/test_dbos_tickets.py")],
)
def test_clusters_and_queues_of_others_pass_their_tests(environment: str, file: str) -> None:
    if not installed(environment):
        pytest.skip(f"make elsewhere installs {environment}")
    packages = next((suite.HERE / ".envs" / environment / "lib").glob("python*/site-packages"))
    command = [sys.executable, "-m", "pytest", "-p", "no:xdist", "-p", "no:cacheprovider", "-v", file]
    environ = {**os.environ, "PYTHONPATH": f"{packages}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
    ended = subprocess.run(
        command, env=environ, cwd=suite.ROOT, capture_output=True, text=True, check=False, timeout=850
    )
    assert ended.returncode == 0, ended.stdout[-5000:]
    assert "skipped" not in ended.stdout
