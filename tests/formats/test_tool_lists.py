"""Published tool lists check what they publish and no more; the sample is 12 plans that can run and 8 that can't."""

import json
import pickle

import pytest

from planexec_lab import formats
from planexec_lite import tool
from planexec_lite.plan import Plan, PlanError
from planexec_lite.tools import Tool, Toolbox, ToolError

SPECS = [
    {
        "name": "Flights",
        "description": "Find flights.",
        "query_parameters": {
            "from": {"type": "string", "required": True},
            "class": {"type": "String", "enum": ["economy", "first"], "required": False},
            "adults": {"type": "number"},
        },
    }
]


def codes(params: str, tools: Toolbox, tool: str = "Flights") -> list[str]:
    plan = Plan.parse([{"id": 1, "tool": tool, "params": json.loads(params)}])
    return sorted(problem.code for problem in plan.problems(tools))


def test_nestful_tools_check_names_types_and_choices() -> None:
    tools = formats.nestful_tools(json.dumps(SPECS))
    assert tools["Flights"].description == "Find flights."
    assert tools["Flights"].signature == "Flights(from: string, class: one of economy, first, adults: number)"
    assert codes('{"from": "OSL", "class": "first", "adults": 2}', tools) == []
    assert codes("{}", tools) == ["missing_parameter"]
    assert codes('{"from": 5, "class": "third", "to": "x"}', tools) == [
        "unknown_parameter",
        "wrong_parameter",
        "wrong_parameter",
    ]
    assert codes("{}", tools, tool="Flight") == ["unknown_tool"]


@pytest.mark.parametrize("key", ["query_parameters", "path_parameters", "parameters", "arguments"])
def test_nestful_parameters_are_read_under_each_of_their_names(key: str) -> None:
    spec = {"name": "Buses.Find", key: {"from": {"required": True}, "fare": {"allowed_values": ["day", "night"]}}}
    tools = formats.nestful_tools(json.dumps([spec]))
    assert codes('{"from": "OSL", "fare": "day"}', tools, "Buses.Find") == []
    assert codes('{"fare": "noon", "to": 5}', tools, "Buses.Find") == [
        "missing_parameter",
        "unknown_parameter",
        "wrong_parameter",
    ]


def test_nestful_tool_without_published_parameters_checks_the_name_alone() -> None:
    tools = formats.nestful_tools('[{"name": "News"}, {"name": "Joke", "parameters": {}}]')
    assert codes('{"topic": "wind"}', tools, "News") == []
    assert codes('{"topic": "wind"}', tools, "Joke") == ["unknown_parameter"]


def test_nestful_tool_listed_twice_takes_what_either_entry_takes() -> None:
    twice = [{"name": "say", "parameters": {"text": {"type": "string", "required": True}, "loud": {"type": "boolean"}}},
             {"name": "say", "parameters": {"text": {"type": "number", "required": True}, "to": {"required": True}}}]  # fmt: skip
    tools = formats.nestful_tools(json.dumps([*SPECS, *SPECS, *twice]))
    assert [tool.name for tool in tools] == ["Flights", "say"]
    assert tools["Flights"].signature == formats.nestful_tools(json.dumps(SPECS))["Flights"].signature
    assert codes('{"text": "a", "loud": true}', tools, "say") == []
    assert codes('{"text": 5, "to": "all"}', tools, "say") == []
    assert codes("{}", tools, "say") == ["missing_parameter"]
    assert codes('{"text": "a", "from": "b"}', tools, "say") == ["unknown_parameter"]


def test_taskbench_tools_without_parameter_names_check_the_name_alone() -> None:
    tools = formats.taskbench_tools('{"nodes": [{"id": "Image-to-Text", "desc": "d", "input-type": ["image"]}]}')
    assert codes('{"whatever": 5}', tools, "Image-to-Text") == []
    assert codes("{}", tools, "Text-to-Text") == ["unknown_tool"]


def test_published_tool_cannot_be_called_and_can_be_pickled() -> None:
    flights = formats.nestful_tools(json.dumps(SPECS))["Flights"]
    copy = pickle.loads(pickle.dumps(flights))
    assert (copy.signature, copy.description) == (flights.signature, flights.description)
    with pytest.raises(ToolError, match="can't be called"):
        copy.call({"from": "OSL"})


@pytest.mark.parametrize("text", ["", "{}x", '{"nodes": 5}', '{"nodes": [{"desc": "d"}]}'])
def test_bad_tool_list_is_a_plan_error(text: str) -> None:
    with pytest.raises(PlanError):
        formats.taskbench_tools(text)
    with pytest.raises(PlanError):
        formats.nestful_tools(text)


def test_named_gives_positional_arguments_the_names_of_the_parameters() -> None:
    def math(problem: str, context: list[str]) -> float:
        raise NotImplementedError

    def search(input: str) -> str:
        raise NotImplementedError

    tools = Toolbox([Tool(math, effects="none"), Tool(search, effects="none")])
    plan = formats.read('1. search("Oslo")\n2. math("half of it", ["$1"])\n3. math("x", context=[])\n4. fly("x", "y")')
    ready = formats.named(plan, tools)
    assert [step.params for step in ready.steps] == [
        {"input": "Oslo"},
        {"problem": "half of it", "context": ["{step_1_result}"]},
        {"problem": "x", "context": []},
        {"arg1": "x", "arg2": "y"},
    ]
    assert [problem.code for problem in ready.problems(tools)] == ["unknown_tool"]
    assert ready.hash != plan.hash


def test_named_never_overwrites_an_argument() -> None:
    @tool(effects="none")
    def f(a: int, b: int) -> int:
        raise NotImplementedError

    plan = formats.read("1. f(1, a=2)\n2. f(1, 2, 3)")
    steps = formats.named(plan, Toolbox([f])).steps
    assert [step.params for step in steps] == [{"input": 1, "a": 2}, {"a": 1, "b": 2, "arg3": 3}]
