"""In a browser tab the kit's servers run in the same process; they say there what they say as processes."""

import json
import os
import signal
import subprocess
import sys
from typing import Any

import pytest

from planexec_lab.mcp import Pipe, ToolFailedError, ToolServer, tab
from planexec_lab.mcp.pipe import where_the_kit_is
from planexec_lab.mcp.worlds import WORLDS, tools_of
from planexec_lab.worlds import migration
from planexec_lite import Plan, Run, Simulated, Toolbox, ToolExecutor, execute

pytestmark = pytest.mark.wide  # servers of our own in other processes
KINDS = pytest.mark.parametrize("kind", [ToolServer, tab.ToolServer], ids=["a process", "a tab"])


def serve(world: str) -> list[str]:
    return [sys.executable, "-m", "planexec_lab.mcp", "serve", world]


def migrated(server: ToolServer) -> Run:
    return execute(Plan.parse(migration.PLAN), ToolExecutor(server.toolbox), workers=Simulated())


@KINDS
@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (None, "a person has to say yes first, and this client can't ask one"),
        (False, "a person was asked, and did not say yes"),
        (True, ""),
    ],
)
def test_a_person_is_asked_through_the_client(kind: type[ToolServer], answer: bool | None, error: str) -> None:
    asked: list[str] = []

    def answers(question: str) -> bool:
        asked.append(question)
        return bool(answer)

    with kind(serve("migration"), name="shop", answer=None if answer is None else answers) as server:
        run = migrated(server)
        with pytest.raises(ToolFailedError, match="write_migration: RuntimeError: migration script syntax error"):
            server.toolbox["write_migration"].call({"sql": migration.BROKEN_SCRIPT})
    failed = run.board.errors.get("5", "")
    assert error in failed
    assert bool(failed) == (answer is not True)
    calls = ["run_migration be called with {'file': 'migration-1.sql'}", "update_config be called with {'schema': 2}"]
    questions = [f"shop asks: migration: may {call}? It might delete or overwrite." for call in calls]
    assert asked == questions[: {None: 0, False: 1, True: 2}[answer]]


@KINDS
def test_a_served_world_has_its_own_tools_and_results(
    kind: type[ToolServer], capfd: pytest.CaptureFixture[str]
) -> None:
    def declared(tools: Toolbox) -> list[Any]:
        return [(tool.signature, tool.effects, tool.destructive) for tool in tools]

    own = migration.World().tools
    with kind(serve("migration"), name="shop", answer=lambda question: True, trusted=True) as server:
        assert declared(server.toolbox) == declared(own)
        assert [tool.description for tool in server.toolbox] == [f"shop says: “{one.description}”" for one in own]
        assert migrated(server).results == execute(Plan.parse(migration.PLAN), ToolExecutor(own)).results
    assert capfd.readouterr() == ("", "")


def test_every_world_is_served_in_a_tab() -> None:
    for world in WORLDS:
        with tab.ToolServer(serve(world)) as server:
            assert (server.left_out, len(server.toolbox)) == ({}, len(tools_of(world)))


@pytest.mark.parametrize("kind", [Pipe, tab.Pipe], ids=["a process", "a tab"])
def test_lines_are_written_and_read(kind: type[Pipe]) -> None:
    with kind(serve("migration")) as pipe:

        def ask(method: str, **params: Any) -> Any:
            pipe.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))
            return json.loads(pipe.read())

        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "me", "version": "1"}}
        assert ask("initialize", **hello)["result"]["serverInfo"]["name"] == "migration"
        pipe.write(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}))
        own = migration.World().tools
        assert [one["name"] for one in ask("tools/list")["result"]["tools"]] == list(own.names)
        read = ask("tools/call", name="read_schema", arguments={})["result"]
        assert read["structuredContent"] == json.loads(read["content"][0]["text"]) == own["read_schema"].call({})
        refused = ask("tools/call", name="delete_database", arguments={})["result"]
        assert (refused["isError"], "can't ask one" in refused["content"][0]["text"]) == (True, True)
        assert ask("tools/call", name="nothing", arguments={})["error"]["code"] == -32602


def test_a_program_that_has_ended_says_nothing_more() -> None:
    with Pipe([sys.executable, "-c", "print('last')"]) as pipe:
        assert pipe.read() == "last"
        with pytest.raises(EOFError):
            pipe.read()
    with tab.Pipe(serve("kitchen")) as here, pytest.raises(EOFError):
        here.read()
    with tab.Pipe(
        [sys.executable, "-c", "print(input()[::-1])"]
    ) as pipe:  # a process, where the extra alone is missing
        pipe.write("abc")
        assert pipe.read() == "cba"


def test_a_message_is_one_line_and_an_interrupt_leaves_no_program_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    with Pipe(["cat"]) as pipe:
        with pytest.raises(ValueError, match="a message is one line"):
            pipe.write(json.dumps({"id": 1}, indent=2))
        pipe.write("{}")
        assert pipe.read() == "{}"
    pipe = Pipe([sys.executable, "-c", "import time; time.sleep(60)"])
    child, wait = pipe._child, pipe._child.wait

    def interrupted(timeout: float | None = None) -> int:
        if timeout is not None:
            raise KeyboardInterrupt
        return wait()

    monkeypatch.setattr(child, "wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        pipe.close()
    assert child.poll() is not None


def test_no_other_program_runs_there(monkeypatch: pytest.MonkeyPatch) -> None:
    other = ["python", "-m", "http.server"]
    with pytest.raises(
        ImportError, match=r"pip install 'planexec-lab\[mcp\]'; without it the kit's own servers run in"
    ):
        tab.ToolServer(other).toolbox  # noqa: B018 - it is asked what it has
    monkeypatch.setattr(sys, "platform", "emscripten")
    with pytest.raises(RuntimeError, match="no process can be started; the kit's own servers run there"):
        tab.ToolServer(other).toolbox  # noqa: B018 - it is asked what it has
    with pytest.raises(RuntimeError, match="no process can be started"):
        tab.Pipe(other)


WITHOUT_THE_EXTRA = """
import sys
sys.modules["mcp"] = sys.modules["mcp_types"] = None
from planexec_lab.mcp import Pipe, ToolServer, tab
print(Pipe is tab.Pipe, ToolServer is tab.ToolServer, end=" ")
with ToolServer([sys.executable, "-m", "planexec_lab.mcp", "serve", "kitchen"]) as server:
    print(len(server.toolbox) > 0)
"""


def test_the_kit_s_servers_run_here_where_the_extra_is_missing() -> None:
    asked = [sys.executable, "-c", WITHOUT_THE_EXTRA]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    assert done.stdout == "True True True\n", done.stderr


def test_a_server_of_the_kit_finds_it_where_it_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", ["", "/kit", *sys.path])
    assert where_the_kit_is(serve("kitchen"))["PYTHONPATH"].split(os.pathsep)[0] == "/kit"
    assert where_the_kit_is([sys.executable, "-m", "http.server"]) == {}
    assert where_the_kit_is([sys.executable]) == where_the_kit_is(["node", "-m", "planexec_lab.mcp"]) == {}


def test_a_server_in_a_terminal_ends_at_the_first_interrupt() -> None:
    ours, its = os.openpty()
    process = subprocess.Popen(serve("kitchen"), stdin=its, stderr=its, stdout=subprocess.DEVNULL)
    told = b""
    while b"Ctrl-C" not in told:
        told += os.read(ours, 1000)
    process.send_signal(signal.SIGINT)
    assert process.wait(60) in (130, -signal.SIGINT)
    assert told.startswith(b"kitchen: waiting for the messages of an MCP client on stdin")
    os.close(ours)
    os.close(its)
