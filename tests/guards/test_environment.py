"""The script behind `make`: which Python it takes, and its message if no Python is suitable."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.guards.books import ROOT

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows goes by conda")

TOO_OLD = 'case "$1" in --version) echo "Python 3.9.2";; *) exit 1;; esac'
NO_VENV = 'case "$2" in *ensurepip*) exit 1;; *) exit 0;; esac'
OURS = "--editable . --editable distributions/mock-llm --editable distributions/planexec-lab"
FAKE_UV = """echo "uv $*" >> "$LOG"
if [ "$1" = venv ]; then
    for folder in "$@"; do :; done
    mkdir -p "$folder/bin" && ln -s "$REAL" "$folder/bin/python"
fi"""
FAKE_PYTHON = """echo "python $*" >> "$LOG"
if [ "$1 $2" = "-m venv" ]; then mkdir -p "$3/bin" && cp "$0" "$3/bin/python"; fi"""


def ask(tmp_path: Path, **programs: str) -> subprocess.CompletedProcess[str]:
    """Run the script with only these programs and a few common ones on PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for tool in ("sh", "dirname", "rm", "mkdir", "ln", "cp"):
        (folder / tool).symlink_to(str(shutil.which(tool)))
    for name, body in programs.items():
        program = folder / name.replace("_", ".")
        program.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
        program.chmod(0o755)
    return subprocess.run(
        ["sh", ROOT / ".ci" / "environment", tmp_path / "env"],
        env={"PATH": str(folder), "LOG": str(tmp_path / "log"), "REAL": sys.executable, "PYTHON": ""},
        capture_output=True,
        text=True,
        check=False,
    )


def commands(tmp_path: Path, **programs: str) -> list[str]:
    done = ask(tmp_path, **programs)
    assert done.returncode == 0, done.stderr
    return (tmp_path / "log").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize(
    ("programs", "words"),
    [
        ({}, ["there is no python3 on this machine", "Install Python 3.11 or newer"]),
        ({"python3": TOO_OLD}, ["python3 is Python 3.9.2, and Python 3.11 or newer is needed"]),
        ({"python3": NO_VENV}, ["python3 has no venv module", "apt-get install python3-venv"]),
    ],
)
def test_a_python_that_will_not_do_is_named(programs: dict[str, str], words: list[str], tmp_path: Path) -> None:
    done = ask(tmp_path, **programs)
    assert (done.returncode, [one for one in words if one not in done.stderr]) == (1, [])


def test_a_python_without_venv_is_passed_over(tmp_path: Path) -> None:
    ran = commands(tmp_path, python3_13=NO_VENV, python3_12=FAKE_PYTHON)
    assert any(line.startswith("python -m venv ") for line in ran)


def test_venv_and_pip_are_used_without_uv(tmp_path: Path) -> None:
    ran = commands(tmp_path, python3=FAKE_PYTHON)
    installs = [line.split("check ")[1] for line in ran if line.startswith("python -m pip install ")]
    assert installs == ["--requirement requirements.lock", f"--no-deps {OURS}"]


def test_uv_is_used_when_present_and_needs_no_venv_module(tmp_path: Path) -> None:
    assert commands(tmp_path, python3=NO_VENV, uv=FAKE_UV) == [
        f"uv venv --quiet --seed --python python3 {tmp_path / 'env'}",
        "uv pip install --quiet --requirement requirements.lock",
        f"uv pip install --quiet --no-deps {OURS}",
    ]


def test_uv_finds_a_python_when_there_is_none(tmp_path: Path) -> None:
    assert "--python >=3.11 " in commands(tmp_path, uv=FAKE_UV)[0]
