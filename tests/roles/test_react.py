"""The ReAct executor: one step, a model, its tools and a bound; and prices."""

import time
from typing import Any

import pytest

from mock_llm import MockLLM
from planexec_lite import HybridExecutor, ReActExecutor, Step, Toolbox, ToolExecutor, tool
from planexec_lite.meter import Meter, ModelCall
from planexec_lite.model import prices
from planexec_lite.model.text_calls import has_call
from planexec_lite.run.events import Action, Observation, Thought

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
    [
        ({"were": "x"}, "did you mean 'where'"),
        ({"where": 5}, "valid string"),
        ('{"where": ', "Error"),
        ('{"where": "here", "where": "there"}', "'where' occurs twice"),
        ('{"where": NaN}', "expected value at line 1"),
        ('"{\\"where\\": \\"here\\"}"', "a JSON str, not an object"),
        ("[]", "a JSON list, not an object"),
        ("null", "'where'"),
        ("", "'where'"),
    ],
)
def test_wrong_arguments_are_explained_and_the_tool_is_not_called(arguments: Any, words: str) -> None:
    value, meter, _ = done(
        scene("look", call(arguments, broken=True), turn=1), scene("say", {"text": "I give up"}, turn=2)
    )
    assert (value, CALLED) == ("I give up", [])
    seen = [event for _, _, event in meter.events if isinstance(event, Observation)]
    assert seen[0].error
    assert words in seen[0].text


CALL = '{"name": "look", "arguments": {"where": "the hall"}}'
CALLS_AS_TEXT = [
    CALL,
    f"I look.\n{CALL}\nThen I say it.",
    f"```json\n{CALL}\n```",
    f"<tool_call>\n{CALL}\n</tool_call>",
    f"Let me look. <tool_call>{CALL}",
    "<tool_call>look\n<arg_key>where</arg_key><arg_value>the hall</arg_value></tool_call>",
    "<tool_call><function=look><parameter=where>the hall</parameter></function></tool_call>",
    '<function=look>{"where": "the hall"}</function>',
    '<minimax:tool_call><invoke name="look"></invoke></minimax:tool_call>',
    '<function_calls><invoke name="look"></invoke></function_calls>',
    f"<|tool_call|>[{CALL}]",
    f"<|python_tag|>{CALL}",
    '<|python_tag|>look.call(where="the hall")',
    f"[TOOL_CALLS][{CALL}]",
    '[TOOL_CALLS]look[ARGS]{"where": "the hall"}',
    '<|tool_calls_section_begin|><|tool_call_begin|>functions.look:0<|tool_call_argument_begin|>{"where": "the hall"}',
    "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>look",
    '<|channel|>commentary to=functions.look <|message|>{"where": "the hall"}',
    '```tool_code\nprint(look(where="the hall"))\n```',
    '```python\nlook(where="the hall")\n```',
    '[look(where="the hall"), look(where="the cellar")]',
    'look(where="the hall")',
    'Thought: I look.\nAction: look\nAction Input: {"where": "the hall"}',
    '{"tool": "look", "tool_input": {"where": "the hall"}}',
    '{"action": "look", "action_input": "the hall"}',
    '{"name": "look", "parameters": {"where": "the hall"}, "thought": "a key"}',
    '{"name": "lok", "parameters": {"where": "the hall"}}',
    '{"type": "function", "function": {"name": "look", "arguments": "{}"}}',
    f'{{"tool_calls": [{CALL}]}}',
    f"[{CALL}, {CALL}]",
    '{"name": "look"}',
    "<start_function_call>call:look{where:<escape>the hall<escape>}<end_function_call>",
    f"<TOOLCALL>[{CALL}]</TOOLCALL>",
    f"functools[{CALL}]",
    f"<|action_start|><|plugin|>{CALL}<|action_end|>",
    '<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "look", "parameters": {}}]<|END_ACTION|>',
    '<|tools_prefix|>[{"look": {"where": "the hall"}}]<|tools_suffix|>',
    'to=look code<|message|>{"where": "the hall"}',
    'look\n{"where": "the hall"}',
    "<look>\n<where>the hall</where>\n</look>",
    "tool: look\narguments:\n  where: the hall",
    "<code>\nfound = look(where='the hall')\n</code>",
    '{"toolUse": {"toolUseId": "a", "name": "look", "input": {"where": "the hall"}}}',
    '{"functionCall": {"name": "look", "args": {"where": "the hall"}}}',
    '{"role": "assistant", "content": null, "tool_calls": [{"id": "1"}]}',
    '{"type": "function_call", "call_id": "c", "name": "look", "arguments": "{}"}',
    '{"tool_uses": [{"recipient_name": "functions.look", "parameters": {"where": "the hall"}}]}',
    '{"recipient_name": "functions.look", "parameters": {"where": "the hall"}}',
    CALL[:-1],
    CALL.replace('"', "'"),
    CALL.replace("}}", "},}"),
    f"Sure: {CALL}",
    f"I look around now. {CALL}",
    f"1. {CALL}",
    f"assistant: {CALL}<|im_end|>",
    f'{{"calls": [{CALL}]}}',
    '{"thought": "I {look}", "action": {"name": "look", "input": {}}}',
    f'{{"jsonrpc": "2.0", "method": "tools/call", "params": {CALL}}}',
    '{"command": "look", "args": {"where": "the hall"}}',
    '{"look": {"where": "the hall"}}',
    '{name: "look", arguments: {where: "the hall"}}',
    '"{\\"name\\": \\"look\\", \\"arguments\\": {}}"',
    'look: {"where": "the hall"}',
    '✿FUNCTION✿: look\n✿ARGS✿: {"where": "the hall"}',
    '<|recipient|> look\n<|content|>{"where": "the hall"}',
    '<invoke name="look"><parameter name="where">the hall</parameter></invoke>',
    '<｜DSML｜invoke name="look">',
    "<use_mcp_tool>\n<tool_name>look</tool_name>",
    "<tool>look</tool>\n<args>",
    '<call name="look">',
    "<execute_tool> look(where='the hall') </execute_tool>",
    "print(default_api.look(where='the hall'))",
    "functions.look({where: 'the hall'})",
    "I look.\nawait look(where='the hall')",
    "I look.\n```js\nconst found = await look({where: 'the hall'})\n```\nThen I say it.",
    "I'll use look(where='the hall')",
    '[Calling tool look with {"where": "the hall"}]',
    "- tool: look\n  arguments:\n    where: the hall",
    "**Action:** look",
    "Act 1: look[the hall]",
    f"Sure: {CALL} done.",
    f"OK [{CALL}] for you",
    'Let me check {"parameters": {"where": "the hall"}, "name": "look"} for you.',
    'Sure: {"functionCall": {"name": "look", "args": {"where": "the hall"}}} ok.',
    f"Sure: {CALL.replace('look', 'lok')} done.",
    "I should run look(where='the hall') first.",
    "tool_code: look(where='the hall')",
    "**Tool call:** `look`\n```json\n{}\n```",
    "Tool: look\nInput: the hall",
    "Thought: I look.\n<code>\nfound = look(where='the hall')\nfinal_answer(found)\n</code>",
    '<look where="the hall"/>',
    'call: look {"where": "the hall"}',
]


@pytest.mark.parametrize("said", CALLS_AS_TEXT)
def test_a_call_written_as_text_is_neither_made_nor_a_result(said: str) -> None:
    value, meter, llm = done(scene("text", {"text": said}, turn=1), scene("say", {"text": "found"}, turn=2))
    assert (value, CALLED) == ("found", [])
    assert [event.error for _, _, event in meter.events if isinstance(event, Observation)] == [True]
    assert "a tool call written as text calls nothing" in llm.calls[1].request["messages"][-1]["content"]


@pytest.mark.parametrize(
    "said",
    [
        "The look tool says: a key in the hall.",
        "I called look(where='the hall') and found a key (in a box).",
        'The hall has {"name": "key", "place": "a box", "parameters": {"teeth": 5}} in it.',
        "Qwen writes `<tool_call>`, Mistral writes `[TOOL_CALLS]`.",
        '{"name": "Ann", "age": 5}',
        '{"found": {"name": "look", "where": "the hall"}}',
        "[1] a key\n[2] a box",
        "{not JSON}",
        '{"content": "the hall", "name": "a key"}',
        "look: a key\nThe <look> of the hall",
        "Action: none",
        "I look (carefully). The <b>look</b> is dim.",
        "I used look(where='the hall').",
        '{"hall": {"keys": 1}}',
        "look\n\nThe hall has a key.",
        "Call: look closely, and you see a key.",
    ],
)
def test_words_and_data_are_results(said: str) -> None:
    value, *_ = done(scene("say", {"text": said}))
    assert value == said


@pytest.mark.parametrize(
    "said",
    [
        "[\n" * 16_000,
        "look(" + ")" * 32_000 + "x",
        "look(\n" * 5_000,
        '"name": "look", ' * 2_000,
        '{"name": "look", "a' * 1_700,
        "<" * 32_000,
    ],
)
def test_calls_are_looked_for_in_time(said: str) -> None:
    began = time.perf_counter()
    assert not has_call(said, TOOLS.names)
    assert time.perf_counter() - began < 3


def test_calls_that_are_only_ever_text_are_the_reason_of_the_failure() -> None:
    value, *_ = done(scene("text", {"text": CALL}))
    assert "5 iterations (max_iterations); a tool call written as text calls nothing" in str(value)


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
