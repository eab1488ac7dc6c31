"""Environments of their own, with other packages than the tests' one."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest


def carry_out(wanted: str, *commands: list[str], seconds: float = 600, **options: Any) -> None:
    """Run commands, one after the other; the test is skipped if one of them fails."""
    for command in commands:
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=seconds, **options)
        except subprocess.TimeoutExpired:
            pytest.skip(f"no {wanted}: it took too long")
        if done.returncode:
            pytest.skip(f"no {wanted}: {(done.stderr.strip().splitlines() or ['no reason given'])[-1]}")


def install_from_npm(folder: Path, *packages: str, seconds: float = 600) -> Path:
    """The folder of the programs that these packages bring; the test is skipped if they can't be had."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip(f"no {' '.join(packages)}: there is no npm on this machine")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "package.json").write_text("{}")
    command = [npm, "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", *packages]
    carry_out(" ".join(packages), command, seconds=seconds, cwd=folder)
    return folder / "node_modules" / ".bin"


def make_environment(
    folder: Path, *packages: str, of: str | Path = sys.executable, cwd: Path | None = None, seconds: float = 600
) -> Path:
    """A fresh environment of a Python with these packages, named as seen from `cwd`; the test is skipped if it can't be made."""
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    uv = shutil.which("uv")
    if uv:
        steps = [[uv, "venv", "-q", "--python", str(of), str(folder)]]
        steps += [[uv, "pip", "install", "-q", "--python", str(python), *packages]]
    else:
        steps = [[str(of), "-m", "venv", str(folder)]]
        steps += [[str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check", *packages]]
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    carry_out(f"environment with {' '.join(packages)}", *steps, seconds=seconds, env=environment, cwd=cwd)
    return python
