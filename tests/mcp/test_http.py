"""A server over HTTP that goes away, in a call or between two, and one that is slow: separate processes on 127.0.0.1."""

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from planexec_lab.mcp import ServerGoneError, ToolsChangedError, ToolServer
from planexec_lite import Plan, ToolExecutor, execute
from planexec_lite.capabilities.once_calls import OnceCalls
from planexec_lite.run.events import Inside, Observation
from tests.mcp.conftest import ROOT, command, lines

pytestmark = pytest.mark.wide  # servers of our own in other processes

Host = Callable[..., "tuple[subprocess.Popen[str], int]"]


@pytest.fixture
def host(trace: Path) -> Iterator[Host]:
    """Starts a server of a kind on a port, and ends it with the test."""
    hosts: list[subprocess.Popen[str]] = []

    def one(kind: str, port: int = 0) -> tuple[subprocess.Popen[str], int]:
        process = subprocess.Popen(command(kind, trace, port), cwd=ROOT, stdout=subprocess.PIPE, text=True)
        hosts.append(process)
        return process, int(process.stdout.readline())

    yield one
    for process in hosts:
        process.kill()
        process.communicate()


def at(port: int, **options: object) -> ToolServer:
    return ToolServer(f"http://127.0.0.1:{port}/mcp", trusted=True, **options)  # type: ignore[arg-type]


def plan(tool: str, **more: object) -> Plan:
    return Plan.parse([{"id": 1, "tool": tool, **more}])


def test_progress_and_results_come_over_http(host: Host) -> None:
    with at(host("good")[1]) as server:
        run = execute(plan("count"), ToolExecutor(server.toolbox))
    assert next(event.event for event in run.events if isinstance(event, Inside)) == Observation("1 of 3: number 1")
    assert run.answer == "three"


def test_a_host_that_ends_in_a_call_fails_the_step_and_pays_once(host: Host, trace: Path) -> None:
    with at(host("dying")[1]) as server:
        run = execute(plan("pay", retries=2), ToolExecutor(server.toolbox))
    assert run.board.errors["1"].startswith(("ServerGoneError: pay: ", "ToolFailedError: pay: "))
    assert lines(trace) == ["pay"]
    assert [spent.sure for spent in run.board[OnceCalls].spent.values()] == [False]


def test_a_host_that_is_back_is_gone_on_with_unless_it_lists_something_else(host: Host) -> None:
    process, port = host("good")
    with at(port) as server:
        add = server.toolbox["add"]
        assert add.call({"a": 1, "b": 1}) == 2
        process.kill()
        process.wait()
        with pytest.raises(ServerGoneError):
            add.call({"a": 1, "b": 1})
        again, _ = host("good", port)
        assert add.call({"a": 1, "b": 2}) == 3
        again.kill()
        again.wait()
        host("hostile", port)
        with pytest.raises(ToolsChangedError, match="add has another description and another input schema"):
            add.call({"a": 1, "b": 1})
