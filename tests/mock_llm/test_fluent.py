"""Scripts written in Python, word by word: the same scenes, the same answers and the same faults as in YAML."""

from pathlib import Path
from typing import Any, get_args

import pytest
import yaml

from mock_llm import MockLLM, Reply, ScriptError, When
from mock_llm.types.faults import PLAIN_ONLY, STREAM_ONLY, Kind

WORDS = yaml.safe_load(Path(__file__).with_name("words.yaml").read_text("utf-8"))
WHENS: list[dict[str, Any]] = WORDS["whens"]
REPLIES: list[dict[str, Any]] = [
    *WORDS["replies"],
    *({"fault": kind} for kind in get_args(Kind) if kind not in (*STREAM_ONLY, *PLAIN_ONLY)),
    *({"text": "one two three", "fault": kind} for kind in sorted((*STREAM_ONLY, *PLAIN_ONLY))),
]


def test_every_word_of_the_yaml_is_tried() -> None:
    assert {name for when in WHENS for name in when} == set(When.__dataclass_fields__)
    assert {name for reply in REPLIES for name in reply} == set(Reply.__dataclass_fields__) - {"python"}


FORMS = [{"name": "only", "reply": reply} for reply in REPLIES]
FORMS += [{"name": "only", "when": when, "reply": {"text": "Hello", "broken": True}} for when in WHENS]


def values(llm: MockLLM) -> list[Any]:
    """The names, conditions and replies of a script's scenes."""
    return [(scene.name, scene.when, scene.reply) for scene in llm.scenes]


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_each_condition_and_reply_comes_back_from_the_yaml(form: dict[str, Any], tmp_path: Path) -> None:
    llm, path = MockLLM([form]), tmp_path / "script.yaml"
    path.write_text(llm.to_yaml(), encoding="utf-8")
    assert values(MockLLM.load(path)) == values(llm)
    assert MockLLM.load(path).to_yaml() == llm.to_yaml()


def test_each_method_of_a_dialogue_is_a_field_of_the_yaml() -> None:
    llm = MockLLM()
    calls = llm.when(name="a", user="x", turn=2).fails("timeout", times=2).calls("search", q="Oslo")
    calls.also("search", '{"q": ').having(text="Look.", broken=True)
    llm.when(name="b", last="y").then("Hi", usage={"output": 3}).fails(times=None, status=503)
    llm.when(name="c").calls("search", {"q": "Rome"})
    uses = [{"tool": "search", "arguments": {"q": "Oslo"}}, {"tool": "search", "arguments": '{"q": '}]
    first = {"calls": uses, "faults": ["timeout", "timeout"], "text": "Look.", "broken": True}
    second = {"text": "Hi", "usage": {"output": 3}, "fault": {"status": 503}}
    forms = [
        {"name": "a", "when": {"user": "x", "turn": 2}, "reply": first},
        {"name": "b", "when": {"last": "y"}, "reply": second},
        {"name": "c", "reply": {"calls": [{"tool": "search", "arguments": {"q": "Rome"}}]}},
    ]
    assert values(llm) == values(MockLLM(forms))


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
