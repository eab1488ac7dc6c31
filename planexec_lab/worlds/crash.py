"""A program that is killed at a definite moment. In a browser tab, which has no processes, its disk is treated as if."""

import os
import runpy
import shutil
import subprocess
import sys
import tempfile
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any, NoReturn


def killed(module: str, folder: Path | str, *options: str, at: str) -> list[str]:
    """Run ``python -m module folder options`` in a separate process, and kill it when it prints the line `at`.

    After each printed line the program waits for a line on its standard input, which it gets until then. SIGKILL ends it; no
    program can handle this signal, so nothing more is written. It uses this process's import path.

    In a browser tab the program runs in this process: at that line its folder is copied, the program is abandoned, and the copy
    replaces the folder, which then looks as after a killed process.

    Returns the printed lines, ending with `at`. Raises `RuntimeError` with the program's output if it ended before that.
    """
    run = _here if sys.platform == "emscripten" else _apart
    lines, error = run(module, [str(folder), *options], at)
    if lines[-1:] != [at]:
        raise RuntimeError(f"the program ended before {at!r}; it said: {'; '.join([*lines, *error.splitlines()[-1:]])}")
    return lines


def _apart(module: str, arguments: list[str], at: str) -> tuple[list[str], str]:
    lines: list[str] = []
    pipe = subprocess.PIPE
    command = [sys.executable, "-m", module, *arguments]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8") as errors,
        subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=errors, encoding="utf-8", env=environment) as child,
    ):
        assert child.stdin is not None
        assert child.stdout is not None
        try:
            for line in child.stdout:
                lines.append(line.rstrip("\n"))
                if lines[-1] == at:
                    break
                print(file=child.stdin, flush=True)
        finally:
            child.kill()
            child.wait()
        errors.seek(0)
        return lines, errors.read()


class _PowerCut(KeyboardInterrupt):
    """The program is left at once: no tool and no worker takes an interrupt for its own error."""


class _Lines(StringIO):
    """The standard output of a program in a tab, and its standard input."""

    def __init__(self, folder: Path, disk: Path, at: str) -> None:
        super().__init__()
        self.folder, self.disk, self.at = folder, disk, at

    def readline(self, *_: Any) -> str:  # type: ignore[override]
        if self.getvalue().splitlines()[-1:] == [self.at]:
            self._cut()
        return "\n"

    def _cut(self) -> NoReturn:
        shutil.copytree(self.folder, self.disk)
        raise _PowerCut


def _here(module: str, arguments: list[str], at: str) -> tuple[list[str], str]:
    folder, before = Path(arguments[0]), (sys.argv, sys.stdin)
    with tempfile.TemporaryDirectory() as room:
        disk = Path(room) / "disk"
        lines = _Lines(folder, disk, at)
        sys.argv, sys.stdin = [module, *arguments], lines
        try:
            with redirect_stdout(lines):
                runpy.run_module(module, run_name="__main__")
        except _PowerCut:
            shutil.rmtree(folder)
            shutil.copytree(disk, folder)
        finally:
            sys.argv, sys.stdin = before
    return lines.getvalue().splitlines(), ""
