"""Small changes to the code of the kit, each of which the tests notice: which ones are kept, and how one is tried.

`killed.json` holds them: the file, the changed line as `old -> new`, and the tests that turn red. They were drawn by chance
from all changes that `tests.exercises.mutants` makes, over the core, the scripted model and the checks.
"""

import compileall
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from py_compile import PycInvalidationMode

from tests.exercises.mutants import mutants
from tests.guards.books import ROOT

KEPT = Path(__file__).with_name("killed.json")
COPIED = ("planexec_lite", "planexec_lab", "mock_llm", "exercises", "tests", "notebooks", ".ci", "pyproject.toml")
COPIED += ("README.md", "CONTRIBUTING.md", "GLOSSARY.md", "distributions")
WORD = re.compile(r"\w{2,}")
LEFT_OUT = shutil.ignore_patterns("__pycache__", "progress.json", ".ipynb_checkpoints")
NO_TESTS = 5  # how pytest says that it found none
OPTIONS = ["-x", "-q", "-p", "no:cacheprovider", "--assert=plain", "--hypothesis-profile=few"]
OPTIONS += ["-m", "not browser and not wide and not weekly and not notebooks"]


@dataclass(frozen=True, order=True)
class Change:
    """One changed line of one file, and the tests that notice it, as arguments of pytest."""

    file: str
    line: str
    tests: str


def kept() -> list[Change]:
    """The changes that are known to be noticed."""
    return [Change(**one) for one in json.loads(KEPT.read_text(encoding="utf-8"))]


def keep(changes: list[Change]) -> None:
    text = json.dumps([asdict(one) for one in sorted(changes)], indent=1, ensure_ascii=False)
    KEPT.write_text(text + "\n", encoding="utf-8")


def source_with(change: Change) -> str | None:
    """The source of the change's file with the change made; None where that line is not there any more."""
    source = (ROOT / change.file).read_text(encoding="utf-8")
    lines, words = source.splitlines(), set(WORD.findall(change.line))
    likely = sorted(range(len(lines)), key=lambda n: -len(words & {*WORD.findall(lines[n])}))[:12]
    for numbers in (
        {n + 1 for n in likely},
        set(range(len(lines) + 1)),
    ):  # all lines of a long file take a quarter of a minute
        for one in mutants(source, numbers):
            if one.label == change.line:
                return one.source
    return None


def copy_to(folder: Path) -> Path:
    """What a test needs of this checkout, in a folder where it may be changed."""
    folder.mkdir(parents=True)
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=LEFT_OUT)
        else:
            shutil.copy(source, folder / name)
    compiled = PycInvalidationMode.CHECKED_HASH  # a changed file is noticed, and no other is compiled again
    compileall.compile_dir(folder, quiet=2, invalidation_mode=compiled)
    return folder


def turns_red(source: str | None, change: Change, checkout: Path, seconds: float = 600) -> bool:
    """Whether the change's tests turn red when its file holds that source; None: as it is. To never end is red too."""
    file = checkout / change.file
    before = file.read_bytes()
    if source is not None:
        file.write_text(source, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", *OPTIONS, *change.tests.split()]
    path = os.pathsep.join([str(checkout), str(ROOT / "tests" / "quick_start")])
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    tests = subprocess.Popen(
        command,
        cwd=checkout,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        return tests.wait(seconds) not in (0, NO_TESTS)
    except subprocess.TimeoutExpired:
        return True
    finally:
        with suppress(ProcessLookupError):
            os.killpg(tests.pid, signal.SIGKILL)
        tests.wait()
        file.write_bytes(before)
