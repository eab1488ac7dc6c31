"""References: found, resolved once, types kept, braces written literally, and clear words for what is missing."""

from __future__ import annotations

import gc
import json
import weakref
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from planexec_lite import references
from planexec_lite.references import MissingResultError, Reference
from tests.core.shapes import json_values
from tests.rounds import rounds

ids = st.from_regex(r"[A-Za-z0-9_.-]{1,8}", fullmatch=True).filter(lambda id: "_result" not in id)
pieces = st.sampled_from(
    [
        "{",
        "}",
        "{{",
        "}}",
        "{step_",
        "_result}",
        "{step_1_result}",
        "{{step_1_result}}",
        "{literal ",
        "$",
        "<step_1_output>",
        ".a",
        "1",
    ]
)
bracy = st.lists(pieces | st.text(max_size=3), max_size=8).map("".join)


@pytest.mark.parametrize("result", [48, 2.5, True, None, "text", ["a", 1], {"a": [1, {"b": None}]}, "", [], {}])
def test_a_reference_that_stands_alone_keeps_the_type(result: Any) -> None:
    resolved = references.resolve({"a": "{step_1_result}"}, {"1": result})
    assert resolved == {"a": result}
    assert type(resolved["a"]) is type(result)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (".files[0].name", "a.py"),
        (".files[1]", {"name": "b.py"}),
        (".n", 2),
        (".grid[1][0]", 3),
        (".files[0].size", 1),
        (".Exchange Rate", 7),
    ],
)
def test_a_path_goes_into_the_result(path: str, value: Any) -> None:
    result = {
        "files": [{"name": "a.py", "size": 1}, {"name": "b.py"}],
        "n": 2,
        "grid": [[1, 2], [3]],
        "Exchange Rate": 7,
    }
    assert references.resolve(f"{{step_1_result{path}}}", {"1": result}) == value
    assert references.resolve([(f"{{step_1_result{path}}}",)], {"1": result}) == [[value]]


@pytest.mark.parametrize(
    ("result", "written"),
    [("a", "a"), (48, "48"), (2.5, "2.5"), (None, "null"), (True, "true"), ({"ä": [1]}, '{"ä": [1]}')],
)
def test_inside_a_longer_text_the_result_is_written_out(result: Any, written: str) -> None:
    assert references.resolve("got {step_1_result}, {step_1_result}", {"1": result}) == f"got {written}, {written}"


@pytest.mark.parametrize("id", ["1", "5b", "1.1", "a-b", "x_y", "a_result", "step_1", "1_result", "-", "."])
def test_every_legal_id_can_be_referred_to(id: str) -> None:
    assert list(references.find(f"<{{step_{id}_result.x[2]}}>")) == [Reference(id, ".x[2]")]
    assert references.resolve(f"{{step_{id}_result}}", {id: 7}) == 7


@rounds(200)
@given(ids, st.lists(st.from_regex(r"\.[a-z_0-9]{1,4}|\[[0-9]{1,3}\]", fullmatch=True), max_size=3).map("".join))
def test_a_written_reference_is_read_back(id: str, path: str) -> None:
    assume("_result" not in path)
    reference = Reference(id, path)
    assert references.whole(str(reference)) == reference
    assert list(references.find({"a": [f"x{reference}y"]})) == [reference]


@pytest.mark.parametrize(
    "text",
    ["{}", "{step_1}", "{step_1_results}", "{step__result", "$5", "#E1", "{step_1_result.}",
     "{step_1_result[a]}", "{step_1 2_result}", "{{}}", '{"a": {"b": 1}}'],
)  # fmt: skip
def test_other_braces_mean_themselves(text: str) -> None:
    assert references.resolve(text, {"1": "!"}) == text
    assert list(references.find(text)) == []


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("write {literal {step_1_result}} to use it", "write {step_1_result} to use it"),
        ("{literal {step_1_result}}", "{step_1_result}"),
        ("{literal {{ steps.1.output }}}", "{{ steps.1.output }}"),
        ("{literal $1} and {literal $}{step_1_result}", "$1 and $5"),
        ("{literal {literal $1}}", "{literal $1}"),
        ("{literal {a} {b}}", "{literal {a} {b}}"),
    ],
)
def test_a_literal_stands_for_the_text_in_it(text: str, meant: str) -> None:
    assert references.resolve(text, {"1": 5}) == meant
    assert references.resolve(references.escape(text), {}) == text


@rounds(400)
@given(bracy)
@example("{{step_1_result}")
@example("{step_1_result}}")
@example("{{{step_1_result}}}")
@example("{literal {literal {step_1_result}}}")
@example("{<step_1_result>}")
def test_an_escaped_text_comes_back_unchanged(text: str) -> None:
    assert references.resolve(references.escape(text), {}) == text
    assert list(references.find(references.escape(text))) == []


@rounds(300)
@given(bracy, bracy, bracy, bracy)
def test_a_result_is_never_expanded_again(first: str, second: str, before: str, after: str) -> None:
    results = {"1": first, "2": second}
    before, after = references.escape(before), references.escape(after)
    assume(not before.endswith(("{", "$", "{literal ")) and not after.startswith("}"))
    resolved = references.resolve(
        {"a": "{step_1_result}", "b": f"{before}{{step_1_result}}|{{step_2_result}}{after}"}, results
    )
    plain_before, plain_after = references.resolve(before, {}), references.resolve(after, {})
    assert resolved == {"a": first, "b": f"{plain_before}{first}|{second}{plain_after}"}


@rounds(100)
@given(json_values)
def test_any_data_passes_through_a_reference_unchanged(value: Any) -> None:
    resolved = references.resolve(["{step_1_result}"], {"1": value})[0]
    assert json.dumps(resolved) == json.dumps(value)


def test_a_tool_that_changes_its_argument_does_not_change_the_result() -> None:
    results = {"1": {"names": ["a"]}}
    references.resolve("{step_1_result.names}", results).append("b")
    references.resolve({"x": "{step_1_result}"}, results)["x"]["names"].append("b")
    assert results == {"1": {"names": ["a"]}}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{step_9_result}", ["{step_9_result}", "step 9 has no result"]),
        ("{step_1_result.size}", ["{step_1_result.size}", "no field 'size'", "name, tags"]),
        ("{step_1_result.tags[2]}", ["no item [2]", "a list of 2"]),
        ("{step_1_result.name.first}", ["no field 'first'", "a str"]),
        ("so {step_1_result.name[0]}", ["no item [0]", "a str"]),
        ("{step_2_result.name}", ["no field 'name'", "a str, a text that looks like JSON", "json_text=True"]),
        ("{step_3_result.name}", ["no field 'name'", "it is a str"]),
    ],
)
def test_what_is_missing_is_named_with_what_is_there(text: str, words: list[str]) -> None:
    with pytest.raises(MissingResultError) as caught:
        references.resolve(text, {"1": {"name": "x", "tags": ["a", "b"]}, "2": '{"name": "x"}', "3": "{name}"})
    assert all(word in str(caught.value) for word in words)


def test_an_index_beyond_all_bounds_is_missing_too() -> None:
    with pytest.raises(MissingResultError):
        references.resolve(f"{{step_1_result[{'9' * 900}]}}", {"1": [1]})


def test_a_long_text_is_read_and_not_kept_in_memory() -> None:
    class Text(str):
        """A text that can be watched."""

    long = Text("{step_1_result}" + "x" * 1_000_000)
    watched = weakref.ref(long)
    assert references.find(long) == [Reference("1")]
    assert references.resolve(long, {"1": "y"}) == "y" + "x" * 1_000_000
    del long
    gc.collect()
    assert watched() is None
