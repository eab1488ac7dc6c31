"""Building the distributions of this tree, and environments that hold them and nothing else of it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import venv
from collections.abc import Iterable, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

from tests.guards import books


def needed(name: str, extras: set[str], seen: set[str] | None = None) -> set[str]:
    """The distributions that one needs, as they are installed here."""
    seen = set() if seen is None else seen
    for line in metadata.requires(name) or []:
        wanted = Requirement(line)
        if wanted.marker and not any(wanted.marker.evaluate({"extra": extra}) for extra in extras or {""}):
            continue
        if wanted.name not in seen:
            seen.add(wanted.name)
            needed(wanted.name, wanted.extras, seen)
    return seen


def unpack(archive: Path, folder: Path) -> None:
    """Unpack an archive of a source."""
    safely: dict[str, Any] = (
        {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
    )  # the first releases of 3.11 have none
    with tarfile.open(archive) as packed:
        packed.extractall(folder, **safely)


def copy_distribution(name: str, folder: Path) -> None:
    """Put an installed distribution's files into another environment, as an installation would."""
    for file in metadata.files(name) or []:
        source = Path(str(file.locate()))
        if ".." not in file.parts and "__pycache__" not in file.parts and source.is_file():
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, folder / file)


def stdout_of(*command: str | Path, cwd: Path, scratch: Path, **changes: str) -> str:
    """What a command prints, with the network cut."""
    environment = books.environment(scratch, **{"PYTHONPATH": "", **changes})
    done = subprocess.run(
        list(map(str, command)), cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def built(folder: Path, scratch: Path, *options: str) -> Path:
    """The wheel of a folder, built without the network."""
    done = books.run("-m", "hatchling", "build", *options, "-d", scratch / "dist", scratch=scratch, cwd=folder)
    assert done.returncode == 0, done.stdout
    assert books.attempts(scratch) == ""
    (wheel,) = (scratch / "dist").glob("*.whl")
    return wheel


def empty_environment(folder: Path, names: Iterable[str], wheels: Sequence[str]) -> Path:
    """Make an environment of the named distributions, copied from this one, and of the wheels; return where its programs are."""
    venv.create(folder, symlinks=os.name != "nt")
    programs = folder / ("Scripts" if os.name == "nt" else "bin")
    asks = "import sysconfig; print(sysconfig.get_path('purelib'))"
    libraries = Path(stdout_of(programs / "python", "-c", asks, cwd=folder, scratch=folder).strip())
    for name in names:
        copy_distribution(name, libraries)
    here = [sys.executable, "-m", "pip", "--python", programs / "python", "install", "--quiet", "--no-index"]
    stdout_of(*here, *wheels, cwd=folder, scratch=folder)
    return programs
