"""Every command of the kit: wrong use ends with status 2 and a sentence; no fault, Ctrl-C or closed pipe shows a traceback."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.guards.books import ROOT

RUN = [sys.executable, "-m"]
COMMANDS: dict[
    str, tuple[list[str], list[str]] | None
] = {  # the command -> the arguments before the file that it reads, and those behind it
    "planexec_lab": (["runs"], []),
    "planexec_lab.formats": (["convert"], ["--to", "mermaid"]),
    "planexec_lab.gantz": (["serve"], []),
    "planexec_lab.mcp": None,
    "mock_llm": (["check"], []),
    "exercises.grade": ([], ["-o", "results"]),
    "exercises.hunts": None,
    "exercises.interview": None,
    "exercises.interview.cards": None,
    "exercises.interview.drill": ([], []),
    "exercises.teachers.slides": None,
}
READ = {name: around for name, around in COMMANDS.items() if around is not None}
FULL = ["planexec_lab --help", "planexec_lab.formats --help", "mock_llm --help", "exercises.hunts"]
NOT_COMMANDS = {"exercises.grade.worker", "exercises.interview.drill.rubric", "exercises.authors.generate"}
READABLE = {("exercises.grade", "folder"), ("exercises.interview.drill", "binary")}  # the drill marks any answer


def ended(*words: str, cwd: Path) -> tuple[int, str]:
    """The exit status of a command, and what it says on stderr."""
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run([*RUN, *words], cwd=cwd, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
    return done.returncode, done.stderr.decode()


def test_every_command_is_in_the_table() -> None:
    paths = [path for name in ("planexec_lab", "mock_llm", "exercises") for path in (ROOT / name).rglob("*.py")]
    paths = [
        path
        for path in paths
        if not {"worlds", "hunts"} & set(path.parts) or path.parts[-2:] == ("hunts", "__main__.py")
    ]
    begun = {path for path in paths if '__name__ == "__main__"' in path.read_text(encoding="utf-8")}
    names = {".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__main__") for path in begun}
    assert names - NOT_COMMANDS == set(COMMANDS)


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_an_unknown_option_is_wrong_use(name: str, tmp_path: Path) -> None:
    status, words = ended(name, "--nonsense", cwd=tmp_path)
    assert (status, "error: " in words) == (2, True)


@pytest.mark.slow
@pytest.mark.parametrize("name", READ)
def test_what_can_not_be_read_is_named_in_a_sentence(name: str, tmp_path: Path) -> None:
    before, behind = READ[name]
    (tmp_path / "folder").mkdir()
    (tmp_path / "binary").write_bytes(b"\xb0\x00\xff" * 1000)
    for file, statuses in (("missing", {2}), ("folder", {2}), ("binary", {1, 2})):
        if (name, file) in READABLE:
            continue
        status, words = ended(name, *before, file, *behind, cwd=tmp_path)
        assert status in statuses, (file, words)
        said = words.strip().splitlines()[-1]
        assert file in said or "byte 0xb0" in said, words
        assert "Traceback" not in words


@pytest.mark.slow
def test_the_root_of_the_disk_has_a_name(tmp_path: Path) -> None:
    assert ended("planexec_lab", "runs", "/", cwd=tmp_path)[1].startswith("/ is not a file")


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
@pytest.mark.parametrize("lines", [0, 100, 300])
@pytest.mark.parametrize("name", COMMANDS)
def test_ctrl_c_while_a_command_loads_shows_no_traceback(name: str, lines: int, tmp_path: Path) -> None:
    """From the first own module on, so many imports later; what Python loads before that is not ours."""
    command = [sys.executable, "-X", "importtime", "-m", name, "--help"]
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, cwd=tmp_path, env=env, stdout=-1, stderr=-1, text=True) as begun:
        assert begun.stderr is not None
        first = next(line for line in begun.stderr if line.rstrip().endswith(" mock_llm.command"))
        for _ in range(lines):
            begun.stderr.readline()
        begun.send_signal(signal.SIGINT)
        words = begun.communicate(timeout=60)[1]
    assert first
    assert "Traceback" not in words


@pytest.mark.parametrize("kit", ["mock_llm", "planexec_lab", "exercises"])
def test_a_program_that_imports_the_kit_keeps_its_own_ctrl_c(kit: str, tmp_path: Path) -> None:
    (tmp_path / "app").mkdir()
    # a suite that runs in the background begins with an ignored signal
    (tmp_path / "app" / "__init__.py").write_text(f"import signal\nbefore = signal.getsignal(2)\nimport {kit}")
    (tmp_path / "app" / "run.py").write_text("import signal, app\nassert signal.getsignal(2) is app.before")
    assert ended("app.run", "planexec_lab", "-m", kit, cwd=tmp_path) == (0, "")


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="POSIX pipes")
@pytest.mark.parametrize("command", FULL)
@pytest.mark.parametrize("unbuffered", ["", "1"], ids=["buffered", "unbuffered"])
def test_a_reader_that_goes_ends_a_command_quietly(command: str, unbuffered: str, tmp_path: Path) -> None:
    env = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": unbuffered}
    read, write = os.pipe()
    os.close(read)
    with subprocess.Popen([*RUN, *command.split()], cwd=tmp_path, env=env, stdout=write, stderr=-1) as begun:
        os.close(write)
        words = begun.communicate(timeout=120)[1].decode()
    assert begun.returncode in (0, 141)  # 0: without a buffer, argparse passes over a closed pipe
    assert "Error" not in words
