"""llm.calls as a table, llm.explain, and python -m mock_llm check."""

import contextlib
import re
from pathlib import Path
from typing import Any

import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mock_llm import Answer, MockLLM
from mock_llm.__main__ import main
from mock_llm.authoring import check
from mock_llm.authoring.minimal_request import minimal_request, sample
from mock_llm.engine import answer
from mock_llm.script import read_scenes
from tests.rounds import rounds

SCRIPT = """\
scenes:
  - name: anything
    reply: {text: Hm.}
  - name: greet
    when: {says: hello}
    reply: {text: Good day., fault: {kind: dropped}}
  - name: greet back
    when: {says: [hello, friend]}
    reply: {text: Good day, faults: [rate_limit]}
  - name: wave
    when: {says: hello, turn: 2, system: clerk}
    reply: {text: "*waves*"}
"""


def ask(llm: MockLLM, text: str, **options: Any) -> None:
    with contextlib.suppress(openai.APIError):
        client = llm.client(max_retries=1)
        client.chat.completions.create(model="m", messages=[{"role": "user", "content": text}], **options)


def test_an_explanation_says_which_scene_why_and_what_would_have_changed_it(tmp_path: Path) -> None:
    path = tmp_path / "greet.yaml"
    path.write_text(SCRIPT, encoding="utf-8")
    llm = MockLLM.load(path)
    ask(llm, "hello my friend")
    explained = llm.explain(-1)
    assert str(explained).splitlines() == [
        "Call 1 (silent retry 1): no instructions, format text, last message user 'hello my friend'.",
        "The scene 'greet back' (greet.yaml:7) answered: its 2 conditions hold, and no scene that fits has more.",
        "  fits     says: hello",
        "  fits     says: friend",
        "Runner-up: the scene 'greet' (greet.yaml:4).",
        "  It fits too, with 1 fewer condition.",
        "It would have answered if one of these were false:",
        "  says: friend",
    ]
    assert (explained.scene, explained.runner_up) == ("greet back", "greet")
    assert repr(explained) == str(explained)
    assert "At attempt 0 the script orders a fault: rate_limit." in str(llm.explain(0))


def test_calls_that_no_scene_answered_are_explained_too(tmp_path: Path) -> None:
    says = {"tie 0": "tie", "tie 1": "tie", "one": "one", "both": ["one", "two"]}
    llm = MockLLM([{"name": name, "when": {"says": says[name]}, "reply": {"text": "x"}} for name in says])
    ask(llm, "tie")
    ask(llm, "else")
    ask(llm, "tie", temperature=9)
    told = [str(llm.explain(n)) for n in range(3)]
    assert "Call 0: several scenes fit." in told[0]
    error = llm.calls[0].error
    assert error is not None
    assert (error.status, error.code) == (422, "ambiguous_scenes")
    assert re.findall("'tie .'", error.message) == ["'tie 0'", "'tie 1'"]
    assert "Call 1: no scene fits." in told[1]
    assert "The nearest scene is" in told[1]
    assert "Call 2 was refused before any scene was checked." in told[2]
    assert "Expected a value <= 2" in told[2]
    with pytest.raises(IndexError):
        llm.explain(3)
    ask(llm, "one")
    assert str(llm.explain(3)).endswith("It would have answered if this were also true: says: two.")


def test_check_names_what_can_not_answer_with_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    path = Path(__file__).with_name("faulty_scenes.yaml")
    numbered = [line.partition(" # ") for line in path.read_text(encoding="utf-8").splitlines()]
    expected = [f"faulty_scenes.yaml:{n}: {told}" for n, (_, _, told) in enumerate(numbered, 1) if told]
    assert main(["check", str(path)]) == 1
    found = [line for line in capsys.readouterr().out.splitlines() if line.startswith("faulty_scenes.yaml:")]
    assert [line for line, told in zip(found, expected, strict=True) if not line.startswith(told)] == []


HINTED = """scenes:
- {name: a, when: {says: x, never: y}, reply: {text: a}}
- {name: b, when: {says: x, last: z}, reply: {text: b}}
"""


def test_check_is_content_with_a_good_script_and_hints_do_not_fail(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "greet.yaml"
    for text in (SCRIPT, HINTED):
        path.write_text(text, encoding="utf-8")
        assert main(["check", str(path)]) == 0
    first, hint, last = capsys.readouterr().out.splitlines()
    assert (first, last) == ("4 scenes, no problems", "2 scenes, no problems")
    assert hint.startswith("greet.yaml:3: hint: scene 'b' is ambiguous: 'a' (greet.yaml:2) fits its minimal")


TEXTS = st.lists(st.sampled_from(["a", "b", "a b", "c"]), min_size=1, max_size=2, unique=True)
WHENS = st.fixed_dictionaries(
    {},
    optional={
        "says": TEXTS,
        "last": TEXTS,
        "system": st.sampled_from(["p", "q"]),
        "turn": st.integers(1, 3),
        "called": st.just(["t"]),
        "find": st.sampled_from([{"n": r"n=(\d+)"}, {"n": "[abc]+"}]),
    },
)


@rounds(150)
@given(whens=st.lists(WHENS, max_size=4))
def test_a_script_without_findings_answers_each_scenes_own_minimal_request(whens: list[Any]) -> None:
    scenes = read_scenes([{"name": f"s{n}", "when": when, "reply": {"text": "x"}} for n, when in enumerate(whens)])
    if check(scenes):
        return
    for scene in scenes:
        asked = minimal_request(scene)
        assert asked is not None
        answered = answer(scenes, asked)
        assert isinstance(answered, Answer)
        other = next(other for other in scenes if other.name == answered.scene)
        assert other is scene or other.when.turn is not None


PATTERNS = [r"v([\d.]+)", r"total=(\d+)", r"^step (\w+) (?:failed|done)$", r"[^ ]+ x{2,3}y?z*", r"(-?[\d.]+)", r"a|b"]


@pytest.mark.parametrize("pattern", [*PATTERNS, r"\s\S\W\D.", r"[a-f]+?"])
def test_a_text_is_made_up_for_a_pattern(pattern: str) -> None:
    assert re.search(pattern, sample(pattern) or "")
    assert sample(r"(a)\1") is None, "some patterns are left alone"
