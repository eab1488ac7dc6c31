"""The ReAct executor: one step, a model, its tools and a bound; and prices."""

from typing import Any

import pytest

from mock_llm import MockLLM
from planexec_lite import HybridExecutor, ReActExecutor, Step, Toolbox, ToolExecutor, tool
from planexec_lite.events import Action, Observation, Thought
from planexec_lite.meter import Meter, ModelCall
from planexec_lite.model import prices

CALLED: list[str] = []


@tool(latency=1.0, effects="none")
def look(where: str) -> str:
    CALLED.append(where)
    if where == "nowhere":
        raise LookupError("there is nothing")
    return f"a key in {where}"


@tool(effects="none")
def drop(what: str) -> str:
    raise AssertionError("this step may not drop anything")


TOOLS = Toolbox([look, drop])


def scene(name: str, reply: dict[str, Any], **when: Any) -> dict[str, Any]:
    return {"name": name, "when": {"system": "Role: executor", **when}, "reply": reply}


def call(where: Any, **more: Any) -> dict[str, Any]:
    return {"text": f"I look {where}.", "calls": [{"tool": "look", "arguments": where}], "latency": 0.5, **more}


FIND = Step(id="1", description="find the key")


def done(*scenes: Any, step: Step = FIND, tools: Toolbox = TOOLS, **options: Any) -> tuple[Any, Meter, MockLLM]:
    CALLED.clear()
    llm = MockLLM(list(scenes))
    executor = ReActExecutor(llm.client(), tools, "cheap", **options)
    with Meter() as meter:
        try:
            value = executor.execute(step, {})
        except RuntimeError as error:
            value = error
    return value, meter, llm


def test_thoughts_actions_observations_and_the_answer_are_recorded() -> None:
    value, meter, _ = done(
        scene("look", call({"where": "the hall"}), turn=1), scene("say", {"text": "found", "latency": 0.5}, turn=2)
    )
    assert (value, CALLED, meter.seconds) == ("found", ["the hall"], 2.0)
    assert [event for _, _, event in meter.events] == [
        Thought("I look {'where': 'the hall'}."),
        Action("look", {"where": "the hall"}),
        Observation("a key in the hall"),
        Thought("found"),
    ]


def test_the_model_sees_the_error_of_a_tool() -> None:
    value, _, llm = done(
        scene("look", call({"where": "nowhere"}), turn=1),
        scene("again", call({"where": "the hall"}), last="LookupError: there is nothing"),
        scene("say", {"text": "found"}, last="a key"),
    )
    assert (value, CALLED) == ("found", ["nowhere", "the hall"])
    llm.assert_all_used()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [({"were": "x"}, "did you mean 'where'"), ({"where": 5}, "valid string"), ('{"where": ', "Error")],
)
def test_wrong_arguments_are_explained_and_the_tool_is_not_called(arguments: Any, words: str) -> None:
    value, meter, _ = done(
        scene("look", call(arguments, broken=True), turn=1), scene("say", {"text": "I give up"}, turn=2)
    )
    assert (value, CALLED) == ("I give up", [])
    seen = [event for _, _, event in meter.events if isinstance(event, Observation)]
    assert seen[0].error
    assert words in seen[0].text


def test_an_endless_model_is_stopped_by_a_bound_that_is_named() -> None:
    value, meter, _ = done(scene("look", call({"where": "the hall"})), max_iterations=3)
    assert isinstance(value, RuntimeError)
    assert "3 iterations (max_iterations)" in str(value)
    assert len(meter.calls) == 3


def test_the_model_gets_only_the_tools_of_the_step() -> None:
    executor = ReActExecutor(None, TOOLS)
    assert executor.tools_for(Step(id="1")).names == ("look", "drop")
    assert executor.tools_for(Step(id="1", tool="look")).names == ("look",)
    assert ReActExecutor(None, TOOLS, allow=lambda step: ["look"]).tools_for(Step(id="1")).names == ("look",)
    forbidden = {"text": "I drop it.", "calls": [{"tool": "drop", "arguments": {"what": "key"}}], "broken": True}
    value, meter, llm = done(
        scene("drop", forbidden, turn=1), scene("say", {"text": "not allowed"}, turn=2), step=Step(id="1", tool="look")
    )
    assert value == "not allowed"
    assert [one["function"]["name"] for one in llm.calls[0].request["tools"]] == ["look"]
    assert any(isinstance(event, Observation) and "no tool 'drop'" in event.text for _, _, event in meter.events)


def test_the_hybrid_calls_the_tool_that_a_step_names_without_a_model() -> None:
    llm = MockLLM([scene("say", {"text": "thought about it"})])
    hybrid = HybridExecutor(ToolExecutor(TOOLS), ReActExecutor(llm.client(), TOOLS))
    assert hybrid.execute(Step(id="1", tool="look", params={"where": "the hall"}), {}) == "a key in the hall"
    assert len(llm.calls) == 0
    assert hybrid.execute(Step(id="2", description="think"), {}) == "thought about it"
    assert hybrid.tools.names == ("look", "drop")


def test_a_price_is_per_million_tokens_and_a_model_without_a_price_is_named() -> None:
    table = {"cheap": prices.Price(1.0, 10.0)}
    assert prices.cost([ModelCall("cheap", 1_000_000, 0), ModelCall("cheap", 0, 500_000)], table) == 6.0
    with pytest.raises(KeyError, match="dear"):
        prices.cost([ModelCall("dear", 1, 1)], table)
