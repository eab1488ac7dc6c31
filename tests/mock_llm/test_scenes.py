"""Which scene answers, its reply, and the error when no scene answers."""

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mock_llm import Answer, ApiError, Reply, Request, Scene, When
from mock_llm.engine import answer, occurs
from mock_llm.script import read_scenes
from mock_llm.script.replies import fill
from tests.mock_llm.asking import closed, function_tool
from tests.rounds import rounds


def request(*turns_said: str, system: str = "", **body: Any) -> Request:
    """A conversation: user and assistant in turn, under the instructions."""
    instructions = [{"role": "system", "content": system}] if system else []
    turns = [{"role": role, "content": text} for role, text in zip(itertools.cycle(["user", "assistant"]), turns_said)]
    return Request({"model": "m", "messages": instructions + turns, **body})


def scene(name: str, text: str = "", **when: Any) -> Scene:
    return Scene(name, Reply(text=text or name), When(**when))


def text_of(scenes: list[Scene], asked: Request) -> str:
    outcome = answer(scenes, asked)
    assert isinstance(outcome, Answer), outcome
    return outcome.text or ""


def error_of(scenes: list[Scene], asked: Request) -> ApiError:
    outcome = answer(scenes, asked)
    assert isinstance(outcome, ApiError), outcome
    return outcome


@pytest.mark.parametrize(
    ("when", "fits", "does_not"),
    [
        ({"system": "be brief"}, request("x", system="Do be brief."), request("be brief", system="be long")),
        ({"user": ["4 + 5"]}, request("4 + 5", "nine", "thanks"), request("go", "4 + 5", "thanks", system="4 + 5")),
        ({"says": ["4 + 5"]}, request("4 + 5", "nine", "thanks"), request("4 + 6", system="4 + 5")),
        ({"says": ["a", "b"]}, request("a", "b"), request("a", "c")),
        ({"last": "thanks"}, request("hi", "hello", "thanks"), request("thanks", "welcome")),
        ({"never": "refused"}, request("it went well"), request("go", "it was refused")),
        ({"find": {"n": r"n=(\d+)"}}, request("n=4"), request("n=four")),
        ({"format": "text"}, request("x"), request("x", response_format={"type": "json_object"})),
        ({"format": "json"}, request("x", response_format={"type": "json_object"}), request("x")),
        ({"format": "json_schema"}, request("x", response_format={"type": "json_schema"}), request("x")),
        ({"tools": "a"}, request("x", tools=[function_tool({"name": "a"})]), request("x")),
    ],
)
def test_each_condition_decides(when: dict[str, Any], fits: Request, does_not: Request) -> None:
    only = Scene("only", Reply(json={"ok": True}), When(**when))
    assert isinstance(answer([only], fits), Answer)
    assert error_of([only], does_not).code == "no_scene_fits"


def test_texts_are_found_as_whole_words_only() -> None:
    for text, within in {"4": "= 4.", "12 * 4": "(12 * 4)", "(a)": "f(a)b"}.items():
        assert occurs(text, within)
    for text, within in [("4", "48"), ("4", "4.5"), ("5", "4.5"), ("done", "undone")]:
        assert not occurs(text, within)


def test_the_scene_with_the_most_conditions_answers() -> None:
    script = [scene("fallback"), scene("one", says="a"), scene("two", says=["a", "b"])]
    for scenes in (script, script[::-1]):
        assert [text_of(scenes, request(said)) for said in ("a b", "a", "c")] == ["two", "one", "fallback"]


def test_replies_use_what_was_found_in_the_newest_message() -> None:
    reply = Reply(json={"text": "it is {{total}}", "value": "{{total|json}}", "all": "{{whole}}"})
    scene = Scene("sum", reply, When(find={"total": r"total=(\d+)", "whole": r"total=\d+"}))
    asked = request("total=4", "and now?", "total=53")
    assert json.loads(text_of([scene], asked)) == {"text": "it is 53", "value": 53, "all": "total=53"}


def test_json_inside_a_json_string_is_read_twice() -> None:
    assert fill({"cause": "{{it|json|json}}"}, {"it": json.dumps(json.dumps({"a": [1]}))}) == {"cause": {"a": [1]}}
    assert fill("{{it|json}}", {"it": '"[1]"'}) == "[1]"


@given(st.text())
def test_found_texts_are_never_expanded_again(text: str) -> None:
    assert fill("<{{a}}>", {"a": text, "b": "secret"}) == f"<{text}>"
    assert fill("<{{a}}>", {"a": "{{b}}", "b": text}) == "<{{b}}>"


def test_a_reply_in_python_is_written_as_json_and_refused_where_it_fails() -> None:
    assert text_of([Scene("sum", Reply(python=lambda asked: {"of": asked.last.text}))], request("3")) == '{"of": "3"}'
    for function, told in ((lambda _: 1 / 0, "ZeroDivisionError"), (lambda _: None, "a return statement missing")):
        error = error_of([Scene("bad", Reply(python=function))], request("x"))
        assert error.code == "scene_failed"
        assert told in error.message


FIELDS = [
    {"calls": [{"tool": "add", "arguments": {}}]},
    {"text": "53"},
    {"json": {"of": 3}},
    {"text": "53", "latency": 2},
    {"refusal": "No."},
    {"choices": [{"text": "53"}]},
    {"fault": "timeout"},
    {"calls": [{"tool": "add", "arguments": {}}], "goal": "x"},
    {"tool_calls": [{"function": {"name": "add", "arguments": "{}"}}]},
    {"role": "assistant", "content": "53"},
]


@pytest.mark.parametrize("value", FIELDS, ids=str)
def test_a_dict_in_the_form_of_a_reply_is_no_answer_of_a_function(value: dict[str, Any]) -> None:
    scenes = [Scene("s", Reply(python=lambda _: value))]
    error = error_of(scenes, request("x"))
    assert f"the fields of a reply ({', '.join(value)}); return Reply(…), or Reply(json=…)" in error.message
    assert text_of([Scene("s", Reply(python=lambda _: Reply(json=value)))], request("x")) == json.dumps(value)


@pytest.mark.parametrize(
    "value", [{"tool": "add", "arguments": {}}, [{"tool": "add", "arguments": {}, "id": "a"}]], ids=str
)
def test_a_call_is_no_answer_of_a_function(value: Any) -> None:
    error = error_of([Scene("s", Reply(python=lambda _: value))], request("x"))
    assert "the function returned a call of a tool; return Reply(calls=…), or Reply(json=…)" in error.message
    assert text_of([Scene("s", Reply(python=lambda _: Reply(json=value)))], request("x")) == json.dumps(value)


@pytest.mark.parametrize(
    "value", [{}, [{"tool": "add"}], {"city": "Oslo"}, {"text": "53", "city": "Oslo"}, {"items": []}], ids=str
)
def test_other_data_of_a_function_are_json(value: Any) -> None:
    assert text_of([Scene("s", Reply(python=lambda _: value))], request("x")) == json.dumps(value)


def test_a_dict_of_a_function_is_json_if_the_request_asks_for_json() -> None:
    scenes = [Scene("s", Reply(python=lambda _: {"text": "53"}))]
    assert text_of(scenes, request("x", response_format={"type": "json_object"})) == '{"text": "53"}'


SCHEMA = closed(tool={"type": "string", "enum": ["add", "multiply"]})
WANTED = {"type": "json_schema", "json_schema": {"name": "step", "strict": True, "schema": SCHEMA}}


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        ({"json": {"tool": "bake"}}, "tool: 'bake' is not one of 'add', 'multiply'"),
        ({"json": {}}, "'tool' is missing"),
        ({"json": [1]}, "not a JSON object"),
        ({"text": "Sure! Here is the plan."}, "not JSON"),
        ({"text": '{"tool": "ad'}, "not JSON"),
    ],
)
def test_a_reply_must_fit_the_format_unless_it_is_broken_on_purpose(reply: dict[str, Any], told: str) -> None:
    asked = request("x", response_format=WANTED)
    error = error_of([Scene("s", Reply(**reply))], asked)
    assert (error.status, error.code) == (422, "reply_does_not_fit")
    assert told in error.message
    assert isinstance(answer([Scene("s", Reply(**reply, broken=True))], asked), Answer)
    assert isinstance(answer([Scene("s", Reply(json={"tool": "add"}))], asked), Answer)


@rounds(80)
@given(
    texts=st.lists(st.text(), min_size=1, max_size=3),
    system=st.text(),
    wanted=st.sampled_from([None, WANTED, {"type": "json_object"}]),
    tools=st.sampled_from([(), ("search",), ("a", "b")]),
)
def test_the_scene_to_paste_answers_the_request_that_it_was_made_for(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], system: str, wanted: Any, tools: tuple[str, ...]
) -> None:
    body: dict[str, Any] = {
        "response_format": wanted,
        "tools": [function_tool({"name": tool}) for tool in tools],
    }
    asked = request(*texts, system=system, **body)
    message = error_of([], asked).message
    path = Path(tmp_path_factory.getbasetemp()) / "pasted.yaml"
    path.write_text("scenes:\n" + message.split("write the reply:\n")[1], encoding="utf-8")
    (pasted,) = read_scenes(path)
    assert isinstance(answer([pasted], asked), Answer)
    assert pasted.when.format == (wanted and wanted["type"])
