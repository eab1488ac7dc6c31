"""Servers for the tests, each a separate process that ends with its test."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from planexec_lab.mcp import ToolServer

ROOT = Path(__file__).resolve().parents[2]
Start = Callable[..., ToolServer]
_shared: list[psutil.Process] = []


def command(kind: str, *rest: object) -> list[str]:
    return [sys.executable, "-m", "tests.mcp.servers", kind, *map(str, rest)]


def children() -> list[psutil.Process]:
    """The servers that this process has started for one test and that have not ended, or have not been waited for."""
    started = psutil.Process().children(recursive=True)
    return [one for one in started if one not in _shared and "tests.mcp" in " ".join(_command(one))]


def _command(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline() or ["tests.mcp"] if process.status() == psutil.STATUS_ZOMBIE else process.cmdline()
    except psutil.Error:
        return []


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """The file in which a server records its calls."""
    path = tmp_path / "trace.txt"
    path.touch()
    return path


@pytest.fixture(scope="session")
def shared_servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], tuple[ToolServer, Path]]]:
    started: dict[str, tuple[ToolServer, Path]] = {}

    def one(kind: str) -> tuple[ToolServer, Path]:
        if kind not in started:
            path = tmp_path_factory.mktemp(kind) / "trace.txt"
            server = ToolServer(command(kind, path), cwd=ROOT, name=kind, trusted=True)
            assert server.listed
            _shared.extend(children())
            started[kind] = server, path
        server, path = started[kind]
        path.write_text("", encoding="utf-8")
        return server, path

    yield one
    for server, _ in started.values():
        server.close()
    _shared.clear()


@pytest.fixture
def good(shared_servers: Callable[[str], tuple[ToolServer, Path]]) -> ToolServer:
    """The good server, which many tests share."""
    return shared_servers("good")[0]


@pytest.fixture
def start(trace: Path) -> Iterator[Start]:
    """Starts a server of a kind; after the test it is closed, and no process is left."""
    started: list[ToolServer] = []

    def one(kind: str, **options: Any) -> ToolServer:
        server = ToolServer(command(kind, trace), cwd=ROOT, **({"name": kind, "trusted": True} | options))
        started.append(server)
        return server

    yield one
    for server in started:
        server.close()
    assert children() == []


def lines(trace: Path) -> list[str]:
    return trace.read_text(encoding="utf-8").splitlines()
