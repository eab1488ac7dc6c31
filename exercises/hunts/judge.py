"""Run a program and judge it by the test of its hunt: right, wrong, raised an error, or did not end.

Everything happens in this process, because a browser tab has no other. So `asyncio.run` gets an event loop that needs neither
sockets nor time: its clock jumps to the next timer, and it also runs inside a notebook's own loop.
"""

from __future__ import annotations

import asyncio
import sys
import traceback
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from exercises.checker.guard import Printed, TimeUp, guarded

LIMIT = 0.5  # seconds of CPU time; a program needs milliseconds
FILE = "<program>"


@dataclass(frozen=True)
class Verdict:
    """The result of a test: "right", "wrong", "raised" or "late"; the name of the deciding test; and its message."""

    word: str
    test: str = ""
    message: str = ""


@dataclass(frozen=True)
class Output:
    """The printed text of a program, whether the program ended in time, and its error."""

    text: str
    ended: bool
    error: str = ""


def judge(test: str, program: str | bytes, limit: float = LIMIT) -> Verdict:
    """Call each test function with a freshly loaded program; the first that fails gives the verdict."""
    words = "the program can be read"

    def tried() -> int:
        nonlocal words
        tests = [(name, value) for name, value in vars(load(test, "<test>")).items() if name.startswith("test_")]
        for name, function in tests:
            words = "the program can be read"
            loaded = load(program)
            words = name.removeprefix("test_").replace("_", " ")
            function(loaded)
            function(loaded)  # a program that keeps a state between two runs fails now
        return len(tests)

    with _own_loop():
        ended = guarded(tried, limit, ())
    match ended.error:
        case None:
            return Verdict("right", "", f"all {ended.value} tests pass")
        case TimeUp():
            return Verdict("late", words, f"it did not end, and was stopped {ended.error}")
        case AssertionError() as error if not words.startswith("the program"):
            return Verdict("wrong", words, str(error))
        case error:
            return Verdict("raised", words, _where(error))


def run(program: str | bytes, limit: float = LIMIT) -> Output:
    """Run a program as `python` does, and return its output so far."""
    printed = Printed(20_000)

    def main() -> None:
        with redirect_stdout(printed):
            load(program, name="__main__")

    with _own_loop():
        error = guarded(main, limit, ()).error
    late = isinstance(error, TimeUp)
    return Output(printed.kept, not late, _where(error) if error and not late else "")


def load(source: str | bytes, file: str = FILE, name: str = "hunted") -> ModuleType:
    """Load a source as a fresh module."""
    module = ModuleType(name)
    if name != "__main__":
        sys.modules[name] = module  # dataclasses look for it there
    exec(compile(source, file, "exec", dont_inherit=True), vars(module))
    return module


class _Loop(asyncio.BaseEventLoop):
    """An event loop whose clock jumps to the next timer."""

    def __init__(self) -> None:
        super().__init__()
        self._now, self._selector = 0.0, self
        self.set_exception_handler(lambda *_: None)  # tasks of a stopped program leave no message

    def time(self) -> float:
        return self._now

    def select(self, timeout: float | None) -> list[Any]:
        if timeout is None:
            raise TimeUp("because it waits for an event that can't happen any more")
        self._now += timeout
        return []

    def _process_events(self, events: list[Any]) -> None:
        pass

    def _write_to_self(self) -> None:
        pass


def _run(main: Coroutine[Any, Any, Any], *, debug: bool | None = None) -> Any:
    loop = _Loop()
    try:
        return loop.run_until_complete(main)
    finally:
        loop.close()


@contextmanager
def _own_loop() -> Iterator[None]:
    """Let `asyncio.run` use `_Loop`, also inside a task of another loop, such as a notebook's."""
    usual: Callable[..., Any] = asyncio.run
    outer = asyncio._get_running_loop()
    task = asyncio.current_task() if outer else None
    if outer and task:
        asyncio.tasks._leave_task(outer, task)
    asyncio._set_running_loop(None)
    asyncio.run = _run
    try:
        yield
    finally:
        asyncio.run = usual
        asyncio._set_running_loop(outer)
        if outer and task:
            asyncio.tasks._enter_task(outer, task)


def _where(error: BaseException) -> str:
    """Describe an error, with the program's last line in its traceback."""
    message = f"raised {type(error).__name__}: {error}".rstrip(": ")
    if isinstance(error, SyntaxError):
        return f"{message} (line {error.lineno})"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == FILE]
    return f"{message} (line {lines[-1]})" if lines else message
