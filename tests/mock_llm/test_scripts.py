"""Problems of a script are reported when it is loaded, each with file, line, field and fix."""

import contextlib
import json
import textwrap
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, example, given
from hypothesis import strategies as st

from mock_llm import MockLLM, ScriptError
from mock_llm.script import as_yaml, read_yaml
from tests.rounds import rounds


def write(folder: Path, text: str, name: str = "deploy.yaml") -> Path:
    path = folder / name
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    return path


def faults(folder: Path, text: str) -> list[str]:
    with pytest.raises(ScriptError) as caught:
        MockLLM.load(write(folder, text))
    return str(caught.value).splitlines()


def test_every_fault_is_named_with_its_line_and_mend(tmp_path: Path) -> None:
    text = """\
    scenes:
      - name: plan
        when:
          sayz: [x]
          last: 42
        reply:
          text: hello
      - when: {format: xml}
        replay:
          text: hello
    """
    assert faults(tmp_path, text) == [
        "deploy.yaml:4: unknown field 'sayz' in when; did you mean 'says'?",
        "deploy.yaml:5: last must be a text, not 42; put it in quotes: '42'",
        "deploy.yaml:9: unknown field 'replay' in a scene; did you mean 'reply'?",
        "deploy.yaml:8: unknown format 'xml'; it is one of text, json, json_object, json_schema",
        "deploy.yaml:8: a scene needs a field 'name'",
        "deploy.yaml:8: a scene needs a field 'reply'",
    ]


@pytest.mark.parametrize("faulty", yaml.safe_load(Path(__file__).with_name("faulty_scripts.yaml").read_text("utf-8")))
def test_a_single_fault_is_named(tmp_path: Path, faulty: dict[str, str]) -> None:
    assert faulty["told"] in "\n".join(faults(tmp_path, faulty["script"].rstrip()))


def test_a_long_value_is_cut_in_its_problem(tmp_path: Path) -> None:
    [problem] = faults(tmp_path, f"scenes: [{'x' * 100_000}]")
    assert "this is 'xx" in problem
    assert len(problem) < 1_000


def test_two_scenes_of_one_name_are_refused_even_across_files(tmp_path: Path) -> None:
    text = "scenes:\n- name: a\n  reply: {text: x}\n"
    with pytest.raises(ScriptError) as caught:
        MockLLM.load(write(tmp_path, text, "one.yaml"), write(tmp_path, text, "two.yaml"))
    assert str(caught.value) == "two.yaml:2: the name 'a' is already used by the scene at one.yaml:2"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda part: st.lists(part, max_size=3) | st.dictionaries(st.text(max_size=8), part, max_size=3),
    max_leaves=8,
)
WORDS = st.sampled_from(
    "name when reply says find text json usage latency format python calls tool arguments choices fault faults kind "
    "status after reasoning items turn counter called".split()
)
SCRIPTS = st.recursive(JSON, lambda part: st.lists(part, max_size=3) | st.dictionaries(WORDS, part, max_size=4))


@rounds(80, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(scenes=SCRIPTS)
def test_any_script_loads_or_is_a_script_error(tmp_path: Path, scenes: Any) -> None:
    path = tmp_path / "any.yaml"
    path.write_text(
        yaml.safe_dump({"scenes": [scenes, {"name": "a", "when": scenes, "reply": scenes}]}), encoding="utf-8"
    )
    for source in (path, [{"name": "a", "when": scenes, "reply": {"text": "x"}}, {"name": "b", "reply": scenes}]):
        with contextlib.suppress(ScriptError):
            assert MockLLM(source).scenes is not None


@rounds(100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(alphabet=st.sampled_from("scenes:name reply&*![]{}-'\"\n|>#?%@`,0.~<\t")))
def test_any_text_loads_or_is_a_script_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "any.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ScriptError, match=r"any\.yaml:\d+: "):
        MockLLM.load(path)


@rounds(100)
@given(
    value=st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
        lambda part: st.lists(part, max_size=3) | st.dictionaries(st.text(), part, max_size=3),
    )
)
@example(
    value={"a\x85b": ["\u2028", " \u2029 ", "\ufeff", "\x00", "\r", "<<", "=", "0123", "12:30", "1e5", 1e20, 1e-7]}
)
def test_any_value_comes_back_from_the_yaml_that_is_written(value: Any) -> None:
    again = read_yaml(as_yaml({"scenes": value}))[0]["scenes"]
    assert again == value
    assert json.dumps(again) == json.dumps(value)
