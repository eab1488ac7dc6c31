"""Servers of other authors, in separate environments, as a toolbox."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from planexec_lab.mcp import ToolFailedError, ToolServer
from planexec_lite import Plan, ToolExecutor, execute
from tests.environments import install_from_npm, make_environment

pytestmark = [pytest.mark.slow, pytest.mark.weekly, pytest.mark.xdist_group("mcp_others")]


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


def test_the_filesystem_server_is_a_toolbox(tmp_path: Path) -> None:
    if (node := shutil.which("node")) is None:
        pytest.skip("there is no node on this machine")
    program = install_from_npm(tmp_path / "npm", "@modelcontextprotocol/server-filesystem") / "mcp-server-filesystem"
    allowed = tmp_path.resolve() / "allowed"
    allowed.mkdir()
    (allowed / "a.txt").write_text("three words here")
    with ToolServer([node, str(program), str(allowed)], name="files", trusted=True) as server:
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
