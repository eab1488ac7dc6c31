"""The project's unit tests, run in a separate process where possible, with their outcome as data."""

import importlib
import io
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from types import ModuleType
from typing import Any

_COMMAND = ["-I", "-S", "-B", "-X", "utf8", "-m", "unittest", "discover", "-s", "tests", "-t", "."]
_SECONDS = 30
_RULE = "=" * 70 + "\n"


def run(folder: Path, order: list[str]) -> dict[str, Any]:
    """Run the tests of the project in `folder` and return how many passed, which failed and a summary.

    Args:
        order: paths of endpoints, such as /profile, in the order in which the summary names them.

    Raises `RuntimeError` when no test ran, or they did not come to an end.
    """
    output = _here(folder) if sys.platform == "emscripten" else _apart(folder)
    ran = re.findall(r"^Ran (\d+) tests? in", output, re.M)
    blocks = output.split(_RULE)[1:]
    failed = [_failure(block, folder) for block in blocks]
    if not ran or (int(ran[-1]) == 0 and not failed):
        raise RuntimeError("no test ran; put the tests back with restore")
    skipped = sum(map(int, re.findall(r"skipped=(\d+)", output.splitlines()[-1])))
    return _report(max(0, int(ran[-1]) - len(failed) - skipped), failed, order)


def _apart(folder: Path) -> str:
    """The output of unittest in a separate process."""
    environment = {**os.environ, "NO_COLOR": "1"}
    try:
        process = subprocess.run(
            [sys.executable, *_COMMAND],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            timeout=_SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"the tests did not end within {_SECONDS} s; look for an endless loop") from None
    return process.stderr


def _here(folder: Path) -> str:
    """The output of unittest in this process, for a browser tab without processes. An endless loop can't be stopped there."""
    import unittest

    printed, place = io.StringIO(), Path.cwd()
    with _modules_of("shop", "tests"), redirect_stdout(io.StringIO()):
        os.chdir(folder)
        try:
            tests = unittest.TestLoader().discover("tests", top_level_dir=".")
            unittest.TextTestRunner(printed).run(tests)
        finally:
            os.chdir(place)
    return printed.getvalue()


@contextmanager
def _modules_of(*packages: str) -> Iterator[None]:
    """While the project runs, these names mean its packages, read afresh; afterwards what they meant before."""

    def taken() -> dict[str, ModuleType]:
        return {name: sys.modules.pop(name) for name in list(sys.modules) if name.partition(".")[0] in packages}

    before, path, compiled = taken(), list(sys.path), sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    importlib.invalidate_caches()
    try:
        yield
    finally:
        taken()
        sys.modules |= before
        sys.path[:], sys.dont_write_bytecode = path, compiled


def _failure(block: str, folder: Path) -> str:
    """One failed test on one line: its name, and the last line of its traceback."""
    head, _, rest = block.partition("\n")
    test = head.partition(": ")[2].partition(" (")[0]
    trace = [line for line in rest.split("\n" + "-" * 70)[0].splitlines() if line.strip("- ")]
    last = trace[-1].strip() if trace else "no reason is given"
    return f"{test}: {_without_paths(last, folder).removeprefix('AssertionError: ')}"


def _without_paths(text: str, folder: Path) -> str:
    """An error without paths of this machine: a file of the project is named as shop/auth.py, others not at all."""
    for place in (folder.resolve(), folder):
        for written in (str(place), str(place).replace("\\", "\\\\"), place.as_posix()):
            text = re.sub(re.escape(written) + r"[\\/]*", "", text)
    return re.sub(r"\s*\((?:[A-Za-z]:)?[\\/][^)]*\)", "", text)


def _report(passed: int, failed: list[str], order: list[str]) -> dict[str, Any]:
    unauthorized = [match for line in failed for match in re.findall(r"(/\w+) answers 401", line)]
    paths = sorted(dict.fromkeys(unauthorized), key=lambda path: order.index(path) if path in order else len(order))
    others = [line.partition(":")[0] for line in failed if " answers 401" not in line]
    parts = []
    if paths:
        names = ", ".join(path.strip("/") for path in paths)
        parts.append(f"{len(paths)} endpoint{'s return' if len(paths) > 1 else ' returns'} 401: {names}")
    if others:
        parts.append(f"{len(others)} test{'s fail' if len(others) > 1 else ' fails'}: {', '.join(others)}")
    total = f"{passed} tests passed"
    return {"passed": passed, "failed": failed, "summary": "; ".join(parts) or total}
