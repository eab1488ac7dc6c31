"""Servers and clients that others wrote, in environments of their own: the toolbox from those, the worlds for these."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from planexec_lab.mcp import ToolFailedError, ToolServer
from planexec_lab.worlds import deploy
from planexec_lite import Plan, ToolExecutor, execute
from planexec_lite.events import Inside, Observation
from tests.environments import install_from_npm, make_environment
from tests.mcp.conftest import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.weekly, pytest.mark.xdist_group("mcp_others")]

SERVE = [sys.executable, "-m", "planexec_lab.mcp", "serve"]


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The reference servers."""
    names = ("server-filesystem", "server-everything")
    return install_from_npm(tmp_path_factory.mktemp("npm"), *(f"@modelcontextprotocol/{name}" for name in names))


def node(program: Path, *arguments: str) -> list[str]:
    found = shutil.which("node")
    if found is None:
        pytest.skip("there is no node on this machine")
    return [found, str(program), *arguments]


def test_the_time_server_is_a_toolbox(tmp_path: Path) -> None:
    python = make_environment(tmp_path / "time", "mcp-server-time")
    with ToolServer([str(python), "-m", "mcp_server_time", "--local-timezone", "UTC"], name="time") as server:
        assert server.left_out == {}
        assert server.toolbox.names == ("get_current_time", "convert_time")
        noon = {"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"}
        run = execute(Plan.parse([{"id": 1, "tool": "convert_time", "params": noon}]), ToolExecutor(server.toolbox))
        told: Any = run.answer
        converted = told if isinstance(told, dict) else json.loads(told)
        assert converted["time_difference"] == "+9.0h"
        with pytest.raises(ToolFailedError, match="Nowhere/X"):
            server.toolbox["get_current_time"].call({"timezone": "Nowhere/X"})


def test_the_filesystem_server_is_a_toolbox(programs: Path, tmp_path: Path) -> None:
    allowed = tmp_path.resolve() / "allowed"
    allowed.mkdir()
    (allowed / "a.txt").write_text("three words here")
    with ToolServer(node(programs / "mcp-server-filesystem", str(allowed)), name="files", trusted=True) as server:
        assert server.left_out == {}
        tools = server.toolbox
        effects = [tools[name].effects for name in ("read_text_file", "write_file", "move_file")]
        assert effects == ["none", "idempotent", "once"]
        wanted = {"path": str(allowed / "b.txt"), "content": "{step_1_result.content}!"}
        steps = [
            {"id": 1, "tool": "read_text_file", "params": {"path": str(allowed / "a.txt")}},
            {"id": 2, "tool": "write_file", "params": wanted, "depends_on": [1]},
        ]
        assert execute(Plan.parse(steps), ToolExecutor(tools)).status == "finished"
        assert (allowed / "b.txt").read_text() == "three words here!"
        with pytest.raises(ToolFailedError, match="outside allowed directories"):
            tools["read_text_file"].call({"path": str(tmp_path / "c.txt")})


def test_the_everything_server_is_a_toolbox(programs: Path) -> None:
    with ToolServer(node(programs / "mcp-server-everything"), name="everything", answer=lambda _: True) as server:
        assert server.left_out == {}
        tools = server.toolbox
        assert tools["echo"].call({"message": "hi"}) == "Echo: hi"
        weather = tools["get-structured-content"].call({"location": "Chicago"})
        assert set(weather) == {"temperature", "conditions", "humidity"}
        picture = next(part for part in tools["get-tiny-image"].call({}) if isinstance(part, dict))
        assert (picture["type"], picture["mimeType"]) == ("image", "image/png")
        slow = {"id": 1, "tool": "trigger-long-running-operation", "params": {"duration": 1, "steps": 2}}
        run = execute(Plan.parse([slow]), ToolExecutor(tools))
        reported = [event.event for event in run.events if isinstance(event, Inside)]
        assert reported == [Observation("1 of 2"), Observation("2 of 2")]
        with pytest.raises(ToolFailedError, match="taskSupport"):
            tools["simulate-research-query"].call({"topic": "wind"})


def test_fastmcp_calls_a_world(tmp_path: Path) -> None:
    python = make_environment(tmp_path / "fastmcp", "fastmcp>=4,<5")
    program = [str(python), str(Path(__file__).with_name("fastmcp_client.py"))]
    done = subprocess.run([*program, *SERVE, "deploy"], capture_output=True, text=True, timeout=300, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["names"] == list(deploy.World().tools.names)
    assert seen["built"]["image"] == "shop:v2.3.1"
    assert seen["deployed"] == {"env": "staging", "version": "v2.3.1", "previous": "v2.3.0"}
    assert seen["failed"] == [True, "ValueError: the source is at v2.3.1, so it can't be tagged v9"]
    assert len(seen["asked"]) == 1
