"""The kit's worlds as a server: driven by the official client, in both generations of the protocol, and over HTTP."""

from typing import Any

import mcp_types as types
import pytest
from jsonschema import Draft202012Validator
from mcp import Client, MCPError

from planexec_lab.mcp.__main__ import WORLDS, main, tools_of
from planexec_lab.mcp.server import served
from planexec_lab.worlds import deploy
from planexec_lite import Tool, Toolbox
from planexec_lite.meter import emit
from planexec_lite.run.events import Inside

pytestmark = [pytest.mark.slow, pytest.mark.anyio]

ERAS = pytest.mark.parametrize("mode", ["auto", "legacy"])
DEPLOY = ("deploy_staging", {"tag": "v2.3.1"})
Action = str


def asking(tools: Toolbox, mode: str, action: Action | None, asked: list[str]) -> Client:
    """The official client, without a process between; `action` is what its person does, None: it can't ask one."""

    async def answer(context: Any, params: Any) -> types.ElicitResult:
        asked.append(params.message)
        return types.ElicitResult.model_validate({"action": action, "content": {} if action == "accept" else None})

    server = served(tools, "deploy")
    return Client(server, mode=mode, cache=None, elicitation_callback=None if action is None else answer)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def words(result: types.CallToolResult) -> str:
    return " ".join(part.text for part in result.content if part.type == "text")


@ERAS
async def test_tools_and_their_results_have_schemas(mode: str) -> None:
    async with asking(deploy.World().tools, mode, None, []) as client:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
    own = deploy.World().tools
    assert list(listed) == list(own.names)
    assert listed["build_docker"].input_schema == own["build_docker"].schema
    assert listed["build_docker"].description == "Build the image of the source and put it into the registry."
    hints = {name: tool.annotations.model_dump(exclude_none=True) for name, tool in listed.items() if tool.annotations}
    assert hints["run_tests"] == {"read_only_hint": True, "idempotent_hint": True, "destructive_hint": False}
    assert hints["notify_team"] == {"read_only_hint": False, "idempotent_hint": False, "destructive_hint": False}
    assert hints["deploy_staging"] == {"read_only_hint": False, "idempotent_hint": True, "destructive_hint": True}
    world = deploy.World()
    async with asking(world.tools, mode, None, []) as client:
        built = await client.call_tool("build_docker", {"tag": "v2.3.1"})
        assert built.structured_content == {"image": "shop:v2.3.1", "digest": built.structured_content["digest"]}
        assert not built.is_error
        for arguments, reason in (
            ({"tag": "v9"}, "ValueError: the source is at v2.3.1, so it can't be tagged v9"),
            ({"tagg": "v9"}, "build_docker: parameter 'tag' is missing"),
        ):
            failed = await client.call_tool("build_docker", arguments)
            assert failed.is_error
            assert reason in words(failed)
        with pytest.raises(MCPError, match="there is no tool 'bild_docker'; did you mean 'build_docker'"):
            await client.call_tool("bild_docker", {})


async def test_an_answer_counts_for_the_call_that_it_was_asked_about_and_once() -> None:
    world = deploy.World()
    yes = {"may_it": types.ElicitResult(action="accept", content={})}
    async with asking(world.tools, "auto", "accept", []) as client:
        await client.call_tool("build_docker", {"tag": "v2.3.1"})
        question = await client.session.call_tool(*DEPLOY, allow_input_required=True)
        assert isinstance(question, types.InputRequiredResult)
        state = question.request_state
        for other in (("rollback_staging", {}), ("deploy_staging", {"tag": "v2.3.0"})):
            again = await client.session.call_tool(*DEPLOY, allow_input_required=True)
            assert isinstance(again, types.InputRequiredResult)
            refused = await client.call_tool(*other, input_responses=yes, request_state=again.request_state)
            assert "is not the question about this call" in words(refused)
        assert not (await client.call_tool(*DEPLOY, input_responses=yes, request_state=state)).is_error
        for used in (state, "guessed", None):
            refused = await client.call_tool(*DEPLOY, input_responses=yes, request_state=used)
            assert "is not the question about this call" in words(refused)


def test_the_command_refuses_a_world_that_it_does_not_know(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["serve", "kitchn"])
    assert "kitchn" in capsys.readouterr().err


@ERAS
@pytest.mark.parametrize("action", ["accept", "decline", "cancel", None])
async def test_what_may_destroy_is_done_once_a_person_has_said_yes(mode: str, action: Action | None) -> None:
    world, asked = deploy.World(), list[str]()
    async with asking(world.tools, mode, action, asked) as client:
        await client.call_tool("build_docker", {"tag": "v2.3.1"})
        assert asked == []
        done = await client.call_tool(*DEPLOY)
    question = "deploy: may deploy_staging be called with {'tag': 'v2.3.1'}? It might delete or overwrite."
    assert asked == [question] * (action is not None)
    assert world.deployed("staging") == ("v2.3.1" if action == "accept" else "v2.3.0")
    assert done.is_error == (action != "accept")
    assert action == "accept" or ("did not say yes" if action else "this client can't ask one") in words(done)


@ERAS
async def test_what_happens_inside_a_call_is_reported(mode: str) -> None:
    def half() -> str:
        emit(Inside(0.0, "3", "half of it"))
        return "done"

    heard: list[tuple[float, str | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, message))

    async with asking(Toolbox([Tool(half)]), mode, None, []) as client:
        done = await client.call_tool("half", {}, progress_callback=hear)
    assert done.structured_content == {"result": "done"}
    assert heard == [(1, "half: Inside 3")]


async def test_whatever_a_tool_returns_goes_out_and_comes_in_as_it_was() -> None:
    def returning(name: str, value: Any, kind: Any) -> Tool:
        def give():  # type: ignore[no-untyped-def]
            return value

        give.__annotations__ |= {} if kind is None else {"return": kind}
        return Tool(give, name=name)

    given = {
        "number": (3, int),
        "texts": (["a", "b"], list[str]),
        "nothing": (None, type(None)),
        "odd": (object(), object),
    }
    given |= {"unknown": ({"a": [1, None]}, None), "any": ({"a": 1}, Any), "object": ({"a": 1}, dict[str, int])}
    tools = Toolbox([returning(name, *value) for name, value in given.items()])
    async with asking(tools, "auto", None, []) as client:
        answers = {name: await client.call_tool(name, {}) for name in given}
    assert {name: answer.structured_content for name, answer in answers.items()} == {
        "number": {"result": 3}, "texts": {"result": ["a", "b"]}, "nothing": {"result": None},
        "unknown": {"a": [1, None]}, "odd": None, "any": {"result": {"a": 1}}, "object": {"a": 1},
    }  # fmt: skip
    assert words(answers["texts"]) == '["a", "b"]'
    assert answers["odd"].is_error


@pytest.mark.parametrize("world", WORLDS)
async def test_each_world_is_listed_as_it_is(world: str) -> None:
    async with Client(served(tools_of(world), world), cache=None) as client:
        listed = (await client.list_tools()).tools
    assert [tool.name for tool in listed] == list(tools_of(world).names)
    for tool in listed:
        Draft202012Validator.check_schema(tool.input_schema)
        Draft202012Validator.check_schema(tool.output_schema)
