"""Judge a program by the tests of its hunt: right, wrong, raised an error, or did not end.

This file imports nothing of the project, so that it can judge a program in a separate process with a time limit.
"""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import traceback
from dataclasses import asdict, dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

LIMIT = 5.0  # seconds of CPU time, where the system can bound them
PATIENCE = (
    4.0  # factor for the wall-clock limit: a program can wait, and a busy machine must not stop a correct program
)


@dataclass(frozen=True)
class Verdict:
    """The result of the tests: "right", "wrong", "error" or "late"; the name of the deciding test; and its message."""

    word: str
    test: str = ""
    message: str = ""


@dataclass(frozen=True)
class Output:
    """The output of a program, whether it ended in time, and its error."""

    text: str
    ended: bool
    error: str = ""


def load(path: Path) -> ModuleType:
    """Load a file as a fresh module, without writing a compiled file."""
    module = sys.modules["hunted"] = ModuleType("hunted")
    module.__file__ = str(path)
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec", dont_inherit=True), vars(module))
    return module


def judge(tests: Path, program: Path) -> Verdict:
    """Call each test with a freshly loaded program, in this process; the first failing test gives the verdict."""
    asked = [(name, test) for name, test in vars(load(tests)).items() if name.startswith("test_")]
    for name, test in asked:
        words = name.removeprefix("test_").replace("_", " ")
        try:
            test(load(program))
        except AssertionError as error:
            return Verdict("wrong", words, str(error))
        except Exception as error:
            return Verdict("error", words, _where(error, program))
    return Verdict("right", "", f"all {len(asked)} tests pass")


def judge_apart(tests: Path, program: Path, limit: float = LIMIT) -> Verdict:
    """Judge in a separate process with `limit` seconds of CPU time."""
    done = _run([str(Path(__file__)), str(tests), str(program)], limit)
    if not done.ended:
        return Verdict("late", "the program comes to an end", "it did not end, and was stopped")
    try:
        return Verdict(**json.loads(done.text.splitlines()[-1]))
    except (IndexError, ValueError, TypeError):
        return Verdict("error", "the program can be read", done.error or "it ended without a word")


def run(program: Path, limit: float = LIMIT) -> Output:
    """Run a program in a separate process with `limit` seconds of CPU time; return its output so far."""
    return _run([str(program)], limit)


def _run(command: list[str], limit: float) -> Output:
    world = os.environ | {"PYTHONUTF8": "1", "PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-P", *command], env=world, **pipes) as child:
        _bound_cpu(child.pid, limit)
        try:
            printed, errors = child.communicate(timeout=PATIENCE * limit)
        except subprocess.TimeoutExpired:
            child.kill()
            printed, errors = child.communicate()
            return Output(_text(printed), False)
    if child.returncode in _KILLED:
        return Output(_text(printed), False)
    lines = _text(errors).strip().splitlines()
    return Output(_text(printed), True, lines[-1] if lines and child.returncode else "")


_KILLED = [-number for name in ("SIGXCPU", "SIGKILL") if (number := getattr(signal, name, None))]


def _bound_cpu(pid: int, seconds: float) -> None:
    """Limit a process's CPU time. Only Linux can do this for another process."""
    try:
        import resource

        resource.prlimit(pid, resource.RLIMIT_CPU, (math.ceil(seconds), math.ceil(seconds) + 1))  # type: ignore[attr-defined, unused-ignore]
    except (ImportError, AttributeError, OSError):
        pass


def _text(printed: bytes | None) -> str:
    return (printed or b"").decode("utf-8", "replace").replace("\r\n", "\n")


def _where(error: Exception, program: Path) -> str:
    """Describe an error, with the last line of the program in its traceback."""
    message = f"raised {type(error).__name__}: {error}"
    if isinstance(error, SyntaxError):
        return f"{message} (line {error.lineno})"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(program)]
    return f"{message} (line {lines[-1]})" if lines else message


if __name__ == "__main__":
    print("\n" + json.dumps(asdict(judge(Path(sys.argv[1]), Path(sys.argv[2])))))
