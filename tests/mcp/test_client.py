"""Tools of a server behind the plain face: schemas, effects, results, errors, ends, and nothing left over.

The servers are separate processes (`servers`), which use stdin and stdout.
"""

import gc
import pickle
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from threading import Event
from time import monotonic, sleep
from typing import Any

import pytest

from planexec_lab.mcp import ListedTool, ServerGoneError, ToolFailedError, ToolServer
from planexec_lab.mcp.listing import hints_of
from planexec_lite import Inline, Plan, Policy, Pool, Simulated, ToolExecutor, execute
from planexec_lite.capabilities.once_calls import OnceCalls
from planexec_lite.run.events import Inside, Observation
from planexec_lite.tools import Tool, Toolbox
from tests.mcp.conftest import ROOT, Start, children, command, lines
from tests.rounds import few

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("mcp")]  # the good server is started once


def plan(*steps: dict[str, object]) -> Plan:
    return Plan.parse([{"id": number, **step} for number, step in enumerate(steps, 1)])


def test_listed_tools_are_a_toolbox_with_schemas_and_effects(good: ToolServer) -> None:
    tools = good.toolbox
    assert tools["add"].signature == "add(a: number, b: number)"
    assert tools["add"].description == "good says: “Add two numbers.”"
    assert tools["add"].schema["properties"]["a"] == {"type": "number", "description": "“one of them”"}
    faults = tools["add"].faults({"a": "x", "c": 1})
    assert [fault.code for fault in faults] == ["missing_parameter", "wrong_parameter", "unknown_parameter"]
    assert {one.name: one.effects for one in tools} == {
        "add": "none", "note": "unknown", "set_title": "idempotent", "look": "none", "count": "none", "fail": "none",
        "lie": "unknown", "environment": "none",
    }  # fmt: skip
    assert {one.name: one.destructive for one in tools if one.effects != "none"} == {
        "note": False, "set_title": None, "lie": None
    }  # fmt: skip


def test_hints_are_believed_only_of_those_who_are_trusted(start: Start) -> None:
    doubted = start("good", trusted=False, effects={"add": "none"}).toolbox
    assert {one.effects for one in doubted if one.name != "add"} == {"unknown"}
    assert doubted["add"].effects == "none"
    assert {one.destructive for one in doubted} == {None}
    assert not ToolServer(["any"]).trusted


@pytest.mark.parametrize(
    ("annotations", "effects", "destructive"),
    [
        ({}, "unknown", None),
        ({"readOnlyHint": True}, "none", False),
        ({"readOnlyHint": False}, "unknown", None),
        ({"idempotentHint": True, "destructiveHint": True}, "idempotent", True),
        ({"idempotentHint": False, "destructiveHint": False}, "once", False),
        ({"readOnlyHint": "yes", "idempotentHint": 1.5, "destructiveHint": "no"}, "unknown", None),
    ],
)
def test_hints_decide_the_effects(annotations: dict[str, object], effects: str, destructive: bool | None) -> None:
    def nothing() -> None:
        """Do nothing."""

    listed = ListedTool("t", annotations=annotations)
    assert (listed.effects, listed.destructive) == (effects, destructive)
    if annotations:
        tool = Tool(nothing, effects=listed.effects, destructive=listed.destructive)
        again = ListedTool("t", annotations=hints_of(tool))
        assert (again.effects, again.destructive) == (effects, destructive)


def test_results_are_data_that_later_steps_refer_to(good: ToolServer) -> None:
    tools = good.toolbox
    words = {"words": "{step_1_result.pages[1].title}: {step_2_result}"}
    steps = [
        {"tool": "look"},
        {"tool": "add", "params": {"a": "{step_1_result.count}", "b": 0.5}, "depends_on": [1]},
        {"tool": "note", "params": words, "depends_on": [1, 2]},
    ]
    run = execute(plan(*steps), ToolExecutor(tools))
    assert run.results == {
        "1": {"pages": [{"title": "wind"}, {"title": "rain"}], "count": 2, "content": ["2 pages"]},
        "2": 2.5,
        "3": "kept: rain: 2.5",
    }


def test_errors_and_progress_of_a_call_are_told_in_its_step(good: ToolServer) -> None:
    run = execute(plan({"tool": "fail"}), ToolExecutor(good.toolbox))
    assert run.board.errors == {"1": "ToolFailedError: fail: the disk is full"}
    with pytest.raises(ToolFailedError, match="lie: Invalid structured content"):
        good.toolbox["lie"].call({})
    run = execute(plan({"tool": "count"}), ToolExecutor(good.toolbox))
    inside = [event.event for event in run.events if isinstance(event, Inside)]
    assert inside == [Observation(f"{number} of 3: number {number}") for number in (1, 2, 3)]


def test_steps_side_by_side_share_one_server(start: Start) -> None:
    server = start("good")
    steps = [{"tool": "add", "params": {"a": number, "b": 1}} for number in range(8)]
    with ThreadPoolExecutor(4) as threads:
        run = execute(plan(*steps), ToolExecutor(server.toolbox), workers=Pool(threads))
    assert [run.results[str(number)] for number in range(1, 9)] == [1, 2, 3, 4, 5, 6, 7, 8]
    assert (server.starts, len(children())) == (1, 1)


def test_a_server_gets_named_variables_and_ends_with_its_block(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    with start("good") as server:
        assert len(children()) == 1
    assert children() == []
    assert server.toolbox["add"].call({"a": 1, "b": 1}) == 2
    assert server.starts == 2
    monkeypatch.setenv("MY_SECRET_KEY", "x")
    names = start("good", env={"LEVEL": "3"}).toolbox["environment"].call({})["names"]
    assert "LEVEL" in names
    assert "MY_SECRET_KEY" not in names


def test_a_server_that_nobody_holds_is_ended() -> None:
    server = ToolServer(command("good"), cwd=ROOT)
    assert server.toolbox["add"].call({"a": 1, "b": 1}) == 2
    connection = server._connection
    assert connection is not None
    del server
    gc.collect()
    assert connection.ended.wait(60)
    assert children() == []


def test_a_program_that_ends_takes_its_servers_along_without_a_word() -> None:
    program = f"""
import sys
from planexec_lab.mcp import ToolServer
server = ToolServer({command("good")!r}, cwd={str(ROOT)!r})
print(server.toolbox["add"].call({{"a": 1, "b": 1}}), server._connection is not None)
"""
    python = [sys.executable, "-W", "error", "-c", program]
    done = subprocess.run(python, capture_output=True, text=True, timeout=120, cwd=ROOT)
    assert (done.returncode, done.stdout, done.stderr) == (0, "2 True\n", "")
    assert children() == []


def test_a_server_that_can_not_be_started_says_why(start: Start, capfd: pytest.CaptureFixture[str]) -> None:
    assert start("chatty").toolbox["add"].call({"a": 1, "b": 1}) == 2
    assert capfd.readouterr() == ("", ""), "output that is no message is passed over"
    with pytest.raises(ServerGoneError, match="its last words: no module named tools"), start("broken"):
        pass
    for at in (["no-such-program"], "http://127.0.0.1:9/mcp"):
        with (
            pytest.raises(ServerGoneError, match=r"(no-such-program|127.0.0.1:9/mcp) can't be reached"),
            ToolServer(at),
        ):
            pass
    with pytest.raises(ValueError, match="a command is a list of its parts"):
        ToolServer("python -m server")
    with pytest.raises(ValueError, match="at least one part"):
        ToolServer([])


@pytest.mark.parametrize(
    ("kind", "seconds", "why"),
    [
        ("silent", 0.5, r"no answer within 0\.5 s"),
        ("mute", 12.0, "does not list its tools: Request 'tools/list' timed out"),
    ],
)
def test_silence_times_out(kind: str, seconds: float, why: str, start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("planexec_lab.mcp.connection.STARTS_WITHIN", seconds)
    with pytest.raises(ServerGoneError, match=why), start(kind):
        pass


def test_a_server_that_ends_in_a_call_fails_the_step_and_is_restarted(start: Start, trace: Path) -> None:
    server = start("dying")
    steps = plan({"tool": "read"}, {"tool": "live"})
    run = execute(steps, ToolExecutor(server.toolbox), policy=Policy(failure="skip"))
    assert "ended or closed the connection; its last words: out of memory, before it had" in run.board.errors["1"]
    assert run.board.state == {"1": "failed", "2": "done"}
    assert server.starts == 2
    assert lines(trace) == ["read", "live"]


@pytest.mark.parametrize(("tool", "trusted", "calls"), [("read", True, 3), ("read", False, 1), ("pay", True, 1)])
@pytest.mark.parametrize("by_policy", few([True, False], 1))
def test_harmless_calls_repeat(
    tool: str, trusted: bool, calls: int, by_policy: bool, start: Start, trace: Path
) -> None:
    tools = ToolExecutor(start("dying", trusted=trusted).toolbox)  # it hints that `read` only reads
    retries, policy = ({}, Policy(retries=2)) if by_policy else ({"retries": 2}, Policy())
    run = execute(plan({"tool": tool, **retries}), tools, policy=policy)
    assert run.board.state == {"1": "failed"}
    assert lines(trace) == [tool] * calls
    assert [spent.sure for spent in run.board[OnceCalls].spent.values()] == [False] * (tool == "pay")


def test_a_server_that_ended_between_two_calls_is_started_again(start: Start, trace: Path) -> None:
    server = start("dying")
    first = server.toolbox["answer"].call({})
    connection = server._connection
    assert connection is not None
    until = monotonic() + 30
    while not connection.gone and monotonic() < until:
        connection.ended.wait(0.05)
    assert server.toolbox["live"].call({}) != first
    assert lines(trace) == ["answer", "live"]
    assert server.starts == 2


def test_a_call_that_takes_longer_than_the_server_may_is_cancelled(start: Start, trace: Path) -> None:
    tools = start("slow", timeout=2).toolbox
    steps = plan({"tool": "wait"}, {"tool": "send", "retries": 1})
    run = execute(steps, ToolExecutor(tools), workers=Inline(), policy=Policy(failure="skip"))
    assert run.board.errors["1"] == "TimeoutError: wait: no answer within 2 s; the client asked the server to cancel it"
    wait_for(trace, ["wait began", "wait cancelled", "send began", "send cancelled"])


def wait_for(trace: Path, expected: list[str]) -> None:
    """Wait until the server has noted what is expected, for half a minute at most."""
    until = monotonic() + 30
    while len(lines(trace)) < len(expected) and monotonic() < until:
        sleep(0.02)
    assert lines(trace) == expected


def test_a_tool_of_a_server_runs_in_another_process_with_its_own(start: Start) -> None:
    tools = start("good").toolbox
    again = pickle.loads(pickle.dumps(tools["add"]))
    assert (again.signature, again.pin) == (tools["add"].signature, tools["add"].pin)
    again.function.func.__self__.close()
    steps = [{"tool": "add", "params": {"a": 1, "b": 2}}, {"tool": "environment"}]
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as processes:
        run = execute(plan(*steps), ToolExecutor(tools), workers=Pool(processes))
    assert run.results["1"] == 3


def test_the_package_is_loaded_when_a_server_is_used() -> None:
    program = "import planexec_lab.mcp, sys; print({'mcp', 'anyio', 'httpx2'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout == "set()\n"


def test_declared_latency_and_prefix_of_a_server(start: Start, good: ToolServer) -> None:
    for server, seconds in ((start("good", latency={"add": 2.5}), 2.5), (good, 0.0)):
        tools = ToolExecutor(server.toolbox)
        run = execute(plan({"tool": "add", "params": {"a": 1, "b": 2}}), tools, workers=Simulated())
        assert (run.answer, run.makespan) == (3, seconds)
    left = start("good", prefix="left.")
    assert left.toolbox["left.add"].call({"a": 1, "b": 1}) == good.toolbox["add"].call({"a": 1, "b": 1})
    with pytest.raises(ValueError, match="prefix"):
        start("good", prefix="a b")


def test_an_async_tool_that_blocks_its_loop_delays_no_server(good: ToolServer) -> None:
    tools, over = good.toolbox, Event()

    async def blocks() -> None:
        over.wait()

    steps = [{"tool": "blocks"}, {"tool": "add", "params": {"a": 1, "b": 1}}, {"tool": "release", "depends_on": [2]}]
    toolbox = Toolbox([*tools, blocks, Tool(over.set, name="release")])
    with ThreadPoolExecutor(2) as threads:
        run = execute(plan(*steps), ToolExecutor(toolbox), workers=Pool(threads))
    assert run.results == {"1": None, "2": 2, "3": None}


@pytest.mark.parametrize(
    ("tool", "answer", "reply", "shown"),
    [
        ("delete", True, "accept {}", ""),
        ("delete", False, "decline a person was asked, and did not say yes", ""),
        ("form", True, "decline a person said yes, and did not answer age", " form(age: integer); a yes does not answer age"),
        ("form", {"age": "7"}, "accept {'age': 7}", None),
        ("form", {"age": True}, "decline a person's answer does not fit the form: parameter 'age'", None),
        ("defaults", True, "accept {'scope': 'all', 'backup': True}",
         ' form(scope: one of one, all = "all", backup: boolean = true, note: string, colour: one of #f00 or one of #0f0);'
         ' note: “Note; why; format email; maxLength 9”; colour: “#f00 is red, #0f0 is green”; a yes sends the defaults'),
        ("defaults", {"scope": "one"}, "accept {'scope': 'one'}", None),
        ("switch", True, "decline a person said yes, and did not answer wipe",
         " form(wipe: boolean = false); a yes does not answer wipe"),
        ("switch", {"wipe": False}, "accept {'wipe': False}", None),
        ("hidden", True, "decline its form can't be shown to a person: a parameter is called", None),
    ],
)  # fmt: skip
def test_a_server_asks_a_person_and_is_given_what_the_person_chose(
    tool: str, answer: Any, reply: str, shown: str | None, start: Start
) -> None:
    asked: list[str] = []

    def person(question: str) -> Any:
        asked.append(question)
        return answer

    assert start("asking", answer=person).toolbox[tool].call({}).startswith(reply)
    if shown is not None:
        assert asked == [f"asking asks: may I {tool} it?{shown}"]


def test_a_server_learns_that_nobody_can_be_asked(start: Start) -> None:
    with pytest.raises(ToolFailedError, match="delete: Handler returned an invalid result"):
        start("asking").toolbox["delete"].call({})


def test_what_the_protocol_does_not_allow_costs_one_tool_and_no_result(start: Start) -> None:
    server = start("careless")
    assert server.toolbox.names == ("good",)
    assert server.left_out == {
        "untyped": "the protocol does not allow inputSchema.type: Field required",
        "hints": "the protocol does not allow annotations.readOnlyHint: Input should be a valid boolean, "
        "unable to interpret input",
        "5": "the protocol does not allow name: Input should be a valid string",
        "x": "the protocol does not allow this: Input should be a valid dictionary or instance of Tool",
        "kind": """n: its schema has a type that can't be read: {"type": "int"}""",
    }
    run = execute(plan({"tool": "good"}), ToolExecutor(server.toolbox))
    assert run.results["1"][:2] == ["good", '{"type": "video", "uri": "a"}']
    beside = (
        '{"cost": 3, "usage": 5, "content[0]": {"annotations": {"priority": 1}}, "content[2]": {"width": 5, '
        '"annotations": {"by": "A"}}, "content[3]": {"resource": {"etag": "e"}}}'
    )
    assert [event.event for event in run.events if isinstance(event, Inside)] == [
        Observation(f"beside the result: {beside}")
    ]


def test_questions_come_one_at_a_time_and_a_few_per_call(start: Start) -> None:
    asked: list[str] = []
    at_once, most = 0, 0

    def answer(question: str) -> bool:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        sleep(0.01)
        at_once -= 1
        asked.append(question)
        return True

    nag = start("nagging", answer=answer).toolbox["nag"]
    for call in (1, 2):
        replies = nag.call({}).split("; ")
        assert sorted(replies) == ["accept "] * 3 + ["decline a person answers at most 3 questions of a call"] * 2
        assert (len(asked), most) == (3 * call, 1)


def test_json_in_the_text_of_a_result_is_data_where_that_is_asked_for(start: Start) -> None:
    steps = [{"tool": "raw"}, {"tool": "tell", "params": {"name": "{step_1_result.name}"}, "depends_on": [1]}]

    def tell(name: str) -> str:
        return name

    for json_text, answer in ((True, "Ada"), (False, None)):
        tools = Toolbox([*start("nagging", json_text=json_text).toolbox, Tool(tell)])
        assert execute(plan(*steps), ToolExecutor(tools)).results.get("2") == answer
