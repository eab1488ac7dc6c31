"""Short runs with a journal, and programs that work with the same journal in another process."""

import subprocess
import sys
import textwrap
from collections.abc import Callable
from typing import Any

from planexec_lite import Decision, Journal, Plan, PlannerExecutor, Run, Tool, Toolbox, ToolExecutor, execute
from tests.core.shapes import step

TWO = [step("1", "add", a=1, b=2), step("2", "add", "1", a="{step_1_result}", b=4)]
GATED = [TWO[0], TWO[1] | {"gate": True}]
YES = Decision("approve", by="Ada")


def add(a: int, b: int) -> int:
    return a + b


def look() -> str:
    return "seen"


def executor_of(*functions: Callable[..., object], effects: Any = "unknown") -> ToolExecutor:
    return ToolExecutor(Toolbox([Tool(function, effects=effects) for function in functions]))


ADDS = executor_of(add, effects="none")


def carried_out(journal: Journal, *steps: dict[str, Any], **settings: Any) -> Run:
    return execute(Plan.parse(list(steps or TWO)), ADDS, journal=journal, **settings)


def agent(**settings: Any) -> PlannerExecutor:
    return PlannerExecutor(None, ADDS, **settings)


def additions(count: int) -> list[dict[str, Any]]:
    return [step(str(n), "add", *([str(n - 1)] if n else []), a=n, b=1) for n in range(count)]


def chain(*tools: str) -> Plan:
    """Calls of these tools without parameters, one after the other."""
    return Plan.parse([step(str(n), tool, *([str(n - 1)] if n else [])) for n, tool in enumerate(tools)])


def started(code: str, *arguments: object) -> subprocess.Popen[str]:
    """Start a program that reads and writes lines."""
    command = [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def printed(code: str, *arguments: object) -> str:
    """The output of a program that ends without an error."""
    command = [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def line_of(process: subprocess.Popen[str]) -> str:
    return process.stdout.readline().rstrip("\n")


def tell(process: subprocess.Popen[str]) -> None:
    """Let a program continue that waits for a line."""
    print("go on", file=process.stdin, flush=True)
