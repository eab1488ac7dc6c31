"""A manifest is served as an MCP server, and its tools come back through the client as they were."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from planexec_lab.mcp import ToolServer
from planexec_lab.mcp.errors import ToolFailedError
from planexec_lab.worlds import manifest
from planexec_lite import Simulated, ToolExecutor, execute
from tests.gantz.shells import NEEDS_A_SHELL

pytestmark = [NEEDS_A_SHELL, pytest.mark.wide]
RUN = [sys.executable, "-m", "planexec_lab.gantz"]
READS = ["--effects", "read_schema=none", "--effects", "verify_integrity=none"]
ENV = ["--env", "PATH", "--env", "DAY", "--env", "DATABASES"]


def server(world: manifest.World, *options: str, **more: Any) -> ToolServer:
    command = [*RUN, "serve", str(world.manifest), *READS, *ENV, *options]
    return ToolServer(command, env=world.env, cwd=Path.cwd(), trusted=True, **more)


def test_a_manifest_is_served_and_its_plan_runs_through_a_client() -> None:
    world = manifest.World()
    with server(world, answer=lambda question: True) as there:
        assert there.toolbox.names == ("read_schema", "backup_database", "run_migration", "verify_integrity")
        assert there.toolbox["run_migration"].signature == "run_migration(file: string)"
        assert [tool.effects for tool in there.toolbox] == ["none", "unknown", "unknown", "none"]
        run = execute(manifest.PLAN, ToolExecutor(there.toolbox), workers=Simulated())
        for value, why in {
            "x; touch CANARY": "run_migration ended with code",
            "a\0b": "contains a NUL character",
        }.items():
            with pytest.raises(ToolFailedError, match=why):
                there.toolbox["run_migration"].call({"file": value})
    assert not list(world.folder.rglob("CANARY"))
    assert run.status == "finished", run.reason
    assert "11 of 11 e-mail addresses are there" in str(run.results["4"])
    assert world.backups == {"backup_20251204.sql": 11}


def test_what_may_destroy_asks_a_person() -> None:
    world, questions = manifest.World(), list[str]()
    refuse = server(world, answer=lambda question: bool(questions.append(question)))
    with refuse as there, pytest.raises(ToolFailedError, match="did not say yes"):
        there.toolbox["run_migration"].call({"file": "broken.sql"})
    assert "run_migration" in questions[0]
    assert world.addresses() == 11


REFUSED = {
    "--effects=read_schema": "write TOOL=EFFECTS, where EFFECTS is none, idempotent, unknown, once",
    "--effects=reed_schema=none": "no tool 'reed_schema'; did you mean 'read_schema'?",
    "--env=NOT_THERE_AT_ALL": "the environment has no such variable",
}


@pytest.mark.parametrize(("option", "why"), REFUSED.items())
def test_what_the_command_can_not_do_is_said(option: str, why: str) -> None:
    world = manifest.World()
    command = [*RUN, "serve", str(world.manifest), option]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert (done.returncode, done.stdout) == (2, "")
    assert why in done.stderr
