"""The optional environment: the frameworks, in a folder of the caller's choice; made once, then used again."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

NEEDED = ["pydantic>=2.11,<3"]
FRAMEWORKS = {  # installed one after the other: one that can't be had does not keep the others away
    "langgraph": ["langgraph>=1,<2"],
    "langgraph-checkpoint-sqlite": ["langgraph-checkpoint-sqlite>=3,<4"],
    "llama-index-workflows": ["llama-index-workflows>=2,<3"],
    "distributed": ["dask", "distributed"],
}
STAMP = "installed.json"
PATIENCE = 900  # seconds for one command


@dataclass(frozen=True)
class Environment:
    """Where its interpreter is, None if it could not be made, and why what is missing is missing, by package."""

    python: Path | None
    missing: dict[str, str] = field(default_factory=dict)


def make(folder: Path) -> Environment:
    """Make the environment in `folder`, with uv if it is on the PATH, else with venv and pip; say what is missing.

    A folder in which all was installed before, by the same Python for the same packages, is used as it is. One that
    holds anything but an environment is left alone.
    """
    wanted, folder = FRAMEWORKS, folder.absolute()
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    stamp, wanted_here = folder / STAMP, json.dumps([sys.version, NEEDED, wanted])
    if python.exists() and stamp.exists() and stamp.read_text(encoding="utf-8") == wanted_here:
        return Environment(python)
    if folder.exists() and any(folder.iterdir()) and not (folder / "pyvenv.cfg").exists():
        return Environment(None, dict.fromkeys(wanted, f"{folder} holds other things; give a new or an empty folder"))
    uv = shutil.which("uv")
    create = [uv, "venv", "--clear", "--python", sys.executable] if uv else [sys.executable, "-m", "venv", "--clear"]
    install = [uv, "pip", "install", "--python", str(python)] if uv else [str(python), "-m", "pip", "install"]
    folder.parent.mkdir(parents=True, exist_ok=True)
    problem = _run([*create, str(folder)]) or _run([*install, "--quiet", *NEEDED])
    if problem:
        return Environment(None, dict.fromkeys(wanted, problem))
    (folder / ".gitignore").write_text("*\n", encoding="utf-8")
    missing = {}
    for name, requirements in wanted.items():
        if problem := _run([*install, "--quiet", *NEEDED, *requirements]):
            missing[name] = problem
    if not missing:
        stamp.write_text(wanted_here, encoding="utf-8")
    return Environment(python, missing)


def _run(command: list[str]) -> str:
    """Run a command and return why it failed, in one line; empty if it did not."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    except (OSError, subprocess.TimeoutExpired) as problem:
        return f"{type(problem).__name__}: {problem}"
    if done.returncode == 0:
        return ""
    lines = [line.strip() for line in (done.stderr or done.stdout).splitlines() if line.strip()]
    return " ".join(lines)[:300] or f"{Path(command[0]).name} ended with {done.returncode} and said nothing"
