"""Scripts written in Python, word by word: the same scenes, the same answers and the same faults as in YAML."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from mock_llm import MockLLM, Reply, ScriptError, When
from mock_llm.script import Dialogue
from mock_llm.types.faults import PLAIN_ONLY, STREAM_ONLY, Kind
from tests.rounds import rounds

SEARCH = {"type": "function", "function": {"name": "search", "parameters": {"type": "object", "properties": {}}}}
PLAN = {
    "steps": [
        {"id": "1", "tool": "add", "params": {"a": 1, "b": 2}, "depends_on": []},
        {"id": "2", "tool": "add", "params": {"a": 3, "b": 4}, "depends_on": ["1"]},
    ]
}
USER = {"role": "user", "content": "Find v2.3.1, please: 4 + 5"}
WORDS = yaml.safe_load(Path(__file__).with_name("words.yaml").read_text("utf-8"))
WHENS: list[dict[str, Any]] = WORDS["whens"]
REPLIES: list[dict[str, Any]] = [
    *WORDS["replies"],
    *({"fault": kind} for kind in get_args(Kind) if kind not in (*STREAM_ONLY, *PLAIN_ONLY)),
    *({"text": "one two three", "fault": kind} for kind in sorted((*STREAM_ONLY, *PLAIN_ONLY))),
]


def fluent(scenes: list[dict[str, Any]]) -> MockLLM:
    """The scripted model of scenes in the YAML's form, written word by word."""
    llm = MockLLM()
    for scene in scenes:
        reply, qualified = dict(scene["reply"]), {}
        dialogue = llm.when(name=scene["name"], **scene.get("when", {}))
        for fault in reply.pop("faults", []):
            dialogue = fails(dialogue, fault)
        if "fault" in reply:
            dialogue = fails(dialogue, reply.pop("fault"), times=None)
        for name in ("latency", "usage", "finish_reason", "broken", "reasoning", "items"):
            if name in reply:
                qualified[name] = reply.pop(name)
        calls = reply.pop("calls", [])
        for number, use in enumerate(calls if isinstance(calls, list) else [calls]):
            word = dialogue.also if number else dialogue.calls
            given = use.get("arguments", {})
            dialogue = word(use["tool"], given) if isinstance(given, str) else word(use["tool"], **given)
        if calls:
            qualified |= reply
        elif reply:
            dialogue = dialogue.then(reply.pop("text"), **reply) if "text" in reply else dialogue.then(**reply)
        if qualified:
            dialogue = dialogue.having(**qualified)
    return llm


def fails(dialogue: Dialogue, fault: Any, **options: Any) -> Dialogue:
    if isinstance(fault, str):
        return dialogue.fails(fault, **options)
    return dialogue.fails(**options, **fault)


def loaded(text: str, folder: Path) -> MockLLM:
    path = folder / "script.yaml"
    path.write_text(text, encoding="utf-8")
    return MockLLM.load(path)


def alike(llm: MockLLM, other: MockLLM) -> None:
    """Both have the same scenes, whatever file they were written in."""
    assert [(s.name, s.when, s.reply) for s in llm.scenes] == [(s.name, s.when, s.reply) for s in other.scenes]


def forms() -> st.SearchStrategy[list[dict[str, Any]]]:
    one = st.fixed_dictionaries({"when": st.sampled_from(WHENS), "reply": st.sampled_from(REPLIES)})
    named = st.lists(one, min_size=1, max_size=4)
    return named.map(lambda scenes: [{"name": f"scene {n}", **scene} for n, scene in enumerate(scenes)])


def test_every_word_of_the_yaml_is_tried() -> None:
    assert {name for when in WHENS for name in when} == set(When.__dataclass_fields__)
    assert {name for reply in REPLIES for name in reply} == set(Reply.__dataclass_fields__) - {"python"}


FORMS = [{"name": "only", "reply": reply} for reply in REPLIES]
FORMS += [{"name": "only", "when": when, "reply": {"text": "Hello", "broken": True}} for when in WHENS]


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_each_condition_and_reply_is_that_of_the_yaml(form: dict[str, Any], tmp_path: Path) -> None:
    in_yaml = loaded(yaml.safe_dump({"scenes": [form]}, sort_keys=False), tmp_path)
    in_python = fluent([form])
    alike(in_python, in_yaml)


@pytest.mark.slow
@rounds(30)
@given(form=forms())
def test_python_to_yaml_and_back_keeps_every_answer(form: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("scripts")
    in_python = fluent(form)
    back = loaded(in_python.to_yaml(), folder)
    alike(in_python, back)
    assert back.to_yaml() == in_python.to_yaml()


def test_another_word_is_refused_as_in_yaml() -> None:
    with pytest.raises(ScriptError, match="unseen is 'refuse' or 'accept', not 'maybe'"):
        MockLLM(unseen="maybe")  # type: ignore[arg-type]


def test_a_dialogue_is_led_to_its_end_by_a_genuine_client() -> None:
    llm = MockLLM()
    llm.when(user="weather").calls("search", q="Oslo").fails(times=2).then("Rain.")
    client = llm.client(max_retries=2)
    messages: list[Any] = [{"role": "user", "content": "How is the weather?"}]
    made = client.chat.completions.create(model="m", messages=messages, tools=[SEARCH]).choices[0].message  # type: ignore[list-item]
    assert made.tool_calls is not None
    assert made.tool_calls[0].to_dict()["function"] == {"name": "search", "arguments": '{"q": "Oslo"}'}
    messages += [made, {"role": "tool", "tool_call_id": made.tool_calls[0].id, "content": "rain"}]
    assert client.chat.completions.create(model="m", messages=messages).choices[0].message.content == "Rain."
    assert [call.scene for call in llm.calls] == ["user: weather, turn 1"] * 3 + ["user: weather, turn 2"]
    llm.assert_all_used()


def test_fails_is_for_the_reply_before_it_or_else_the_first() -> None:
    llm = MockLLM()
    llm.when(user="a").fails(times=2).then("x").then("y").fails("timeout").fails(status=503)
    llm.when(user="b").fails("timeout", times=None)
    first, second, third = (scene.reply for scene in llm.scenes)
    assert [fault.kind for fault in first.faults] == ["server_error", "server_error"]
    assert [(fault.kind, fault.status) for fault in second.faults] == [("timeout", None), ("server_error", 503)]
    assert third.fault is not None
    assert third.fault.kind == "timeout"


def test_a_wrong_word_is_named_in_the_line_that_has_it() -> None:
    llm = MockLLM()
    with pytest.raises(ScriptError, match=r"test_fluent\.py:\d+.*unknown field 'usr' in when; did you mean 'user'"):
        llm.when(usr="a")
    with pytest.raises(ScriptError, match="unknown field 'latecy' in reply; did you mean 'latency'"):
        llm.when(user="a").then("x", latecy=2)
    with pytest.raises(ScriptError, match="unknown fault 'tired'; it is one of"):
        llm.when(user="a").fails("tired")
    with pytest.raises(ScriptError, match="exactly one of"):
        llm.when(user="a").then("x", json={})
    with pytest.raises(ScriptError, match="times is 1 or more, or None for all attempts"):
        llm.when(user="a").fails(times=0)
    with pytest.raises(ScriptError, match=r"also\(…\) adds a call to"):
        llm.when(user="a").also("search")
    with pytest.raises(ScriptError, match=r"having\(…\) changes the reply before it"):
        llm.when(user="a").having(latency=2)


def test_a_dialogue_without_a_reply_is_named_when_it_is_needed() -> None:
    llm = MockLLM()
    llm.when(user="a").fails(times=2)
    with pytest.raises(ScriptError, match=r"test_fluent\.py:\d+: 'user: a' has no reply; add \.then"):
        assert llm.scenes
