"""Tools that misbehave in many ways, in a module that other processes can import."""

import asyncio
import concurrent.futures
import math
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from planexec_lite import tool
from planexec_lite.meter import charge, emit


class Wordless(Exception):
    """An exception whose text is not a string."""

    def __str__(self) -> str:
        return 404  # type: ignore[return-value]


class Endless(Exception):
    """An exception whose text raises it again."""

    def __str__(self) -> str:
        raise self


class Unpicklable(Exception):
    """An exception that can't be pickled."""

    def __init__(self, one: str, two: str) -> None:
        super().__init__(one)
        self.lock: Any = open


RAISED: dict[str, Callable[[], BaseException]] = {
    "value": lambda: ValueError("no good"),
    "empty": Exception,
    "exit": lambda: SystemExit(3),
    "cancelled": asyncio.CancelledError,
    "future_cancelled": concurrent.futures.CancelledError,
    "generator_exit": GeneratorExit,
    "stop": StopIteration,
    "recursion": lambda: RecursionError("too deep"),
    "memory": MemoryError,
    "wordless": Wordless,
    "endless": Endless,
    "unpicklable": lambda: Unpicklable("a", "b"),
    "group": lambda: BaseExceptionGroup("many", [ValueError("a"), KeyboardInterrupt()]),
    "braces": lambda: ValueError("{step_1_result} {0} %s"),
}


@tool(effects="none")
def raises(what: str) -> str:
    raise RAISED[what]()


class Opaque:
    """A value that JSON does not have."""


def cycle() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


def nested() -> list[Any]:
    value: list[Any] = []
    for _ in range(100_000):
        value = [value]
    return value


RETURNED: dict[str, Callable[[], Any]] = {
    "object": Opaque,
    "function": lambda: print,
    "cycle": cycle,
    "nested": nested,
    "bytes": lambda: b"\xff\xfe",
    "object_in_list": lambda: [1, {"a": Opaque()}],
    "class": lambda: Opaque,
    "no_number": lambda: math.nan,
    "without_end": lambda: [math.inf],
    "equal_names": lambda: {1: "a", "1": "b"},
    "half_a_character": lambda: "\ud800",
    "half_a_character_as_name": lambda: {"\ud800": 1},
    "too_many_digits": lambda: [10**5000],
}


@tool(effects="none")
def returns(what: str) -> Any:
    return RETURNED[what]()


@tool(effects="none")
def interrupts() -> str:
    raise KeyboardInterrupt


@tool(effects="none")
def dies() -> str:
    os._exit(7)


@tool(effects="none")
def fine(value: int) -> int:
    return value * 2


@tool(effects="none")
def process() -> int:
    return os.getpid()


@tool(effects="none")
def waits(seconds: float) -> float:
    time.sleep(seconds)
    return seconds


@tool(effects="none")
def tells(seconds: float) -> str:
    emit("before")
    charge(seconds)
    emit("after")
    return "told"


@tool(effects="none")
def no_number() -> str:
    charge(math.nan)
    return "done"


@tool(effects="none")
def sets() -> dict[str, Any]:
    words = {"red", "green", "blue", "yellow", "black"}
    return {"top": words, "deep": [{"in": frozenset(words)}]}


@tool(effects="none")
async def awaits(value: int, seconds: float = 0.01) -> int:
    charge(2.0)
    await asyncio.sleep(seconds)
    charge(1.0)
    emit("awaited")
    return value * 2


@tool(effects="none")
async def async_raises(what: str) -> str:
    await asyncio.sleep(0)
    raise RAISED[what]()


@tool(effects="none")
async def async_process() -> int:
    await asyncio.sleep(0)
    return os.getpid()


@tool(effects="none")
def dies_once(path: str) -> str:
    if not Path(path).exists():
        Path(path).touch()
        os._exit(1)
    return "alive"


@tool(effects="once")
def books(path: str, bill: str, seconds: float = 0.0) -> str:
    """Append a bill to a file, with the process that booked it."""
    with Path(path).open("a") as file:
        file.write(f"{os.getpid()} {bill}\n")
    time.sleep(seconds)
    return bill


_kept: list[Any] = []


def closes_all(folder: str) -> str:
    """Close all files of this process, as a program does that goes to the background, and open others."""
    os.closerange(3, 200)
    _kept.extend(Path(folder, f"{number}.txt").open("w+") for number in range(20))  # noqa: SIM115
    return "closed"
