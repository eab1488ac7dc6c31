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


@pytest.mark.parametrize(
    ("programs", "words"),
    [
        ({}, ["there is no python3 on this machine", "Install Python 3.11 or newer"]),
        ({"python3": TOO_OLD}, ["python3 is Python 3.9.2, and Python 3.11 or newer is needed"]),
        ({"python3": NO_VENV}, ["python3 has no venv module", "apt-get install python3-venv"]),
        ({"python3.13": NO_VENV, "python3.12": FAKE_PYTHON}, ["python -m venv "]),
        ({"python3": FAKE_PYTHON}, ["check --requirement requirements.lock\n", f"check --no-deps {OURS}\n"]),
        (
            {"python3": NO_VENV, "uv": FAKE_UV},
            [
                "uv venv --quiet --seed --python python3 ",
                "\nuv pip install --quiet --requirement requirements.lock\n",
                f"\nuv pip install --quiet --no-deps {OURS}\n",
            ],
        ),
        ({"uv": FAKE_UV}, ["--python >=3.11 "]),
    ],
)
def test_a_suitable_python_is_taken_or_a_fix_named(programs: dict[str, str], words: list[str], tmp_path: Path) -> None:
    """The script has only these programs and a few common ones on PATH."""
    (folder := tmp_path / "bin").mkdir()
    for tool in ("sh", "dirname", "rm", "mkdir", "ln", "cp"):
        (folder / tool).symlink_to(str(shutil.which(tool)))
    for name, body in programs.items():
        (folder / name).write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
        (folder / name).chmod(0o755)
    done = subprocess.run(
        ["sh", ROOT / ".ci" / "environment", tmp_path / "env"],
        env={"PATH": str(folder), "LOG": str(tmp_path / "log"), "REAL": sys.executable, "PYTHON": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    works = FAKE_UV in programs.values() or FAKE_PYTHON in programs.values()
    written = (tmp_path / "log").read_text(encoding="utf-8") if works else done.stderr
    assert (done.returncode == 0, [one for one in words if one not in written]) == (works, [])
