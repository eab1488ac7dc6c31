"""References: resolved once with their types, literal braces, missing results, and references as other libraries write them."""

import gc
import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from planexec_lite import Plan, Toolbox, ToolExecutor, execute, tool
from planexec_lite.plan import Problem
from planexec_lite.tools import references
from planexec_lite.tools.references import MissingResultError, Reference
from tests.core.shapes import json_values
from tests.rounds import rounds

ids = st.from_regex(r"[A-Za-z0-9_.-]{1,8}", fullmatch=True).filter(lambda id: "_result" not in id)
paths = st.lists(st.from_regex(r"\.[a-z_0-9]{1,4}|\[[0-9]{1,3}\]", fullmatch=True), max_size=3).map("".join)
PIECES = "{|}|{{|}}|{step_|_result}|{step_1_result}|{{step_1_result}}|{literal |$|<step_1_output>|.a|1".split("|")
bracy = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=8).map("".join)


RESULTS = {
    "1": {"files": [{"name": "a.py"}, {"name": "b.py"}], "n": 2, "grid": [[1, 2], [3]], "Exchange Rate": 7},
    "2": ["a", 48, 2.5, None, True, {"ä": [1]}],
    "3": 5,
}
RESOLVED: list[tuple[str, Any]] = [
    ("{step_1_result.files[0].name}", "a.py"),
    ("{step_1_result.files[1]}", {"name": "b.py"}),
    ("{step_1_result.n}", 2),
    ("{step_1_result.grid[1][0]}", 3),
    ("{step_1_result.Exchange Rate}", 7),
    ("{ step_1_result.grid[-1][-1] }", 3),
    ("it is { step_3_result }, {step_3_result}.", "it is 5, 5."),
    (
        "{step_2_result[0]} {step_2_result[1]} {step_2_result[2]} {step_2_result[3]} {step_2_result[4]}",
        "a 48 2.5 null true",
    ),
    ("so: {step_2_result[5]}", 'so: {"ä": [1]}'),
    ("{step_4} and {result}", "{step_4} and {result}"),
    ("write {literal {step_1_result}} to use it", "write {step_1_result} to use it"),
    ('{literal {step_1_result["f"]}}', '{step_1_result["f"]}'),
    ("{literal {{ steps.1.output }}}", "{{ steps.1.output }}"),
    ("{literal $1} and {literal $}{step_3_result}", "$1 and $5"),
    ("{literal {literal $1}}", "{literal $1}"),
    ("{literal {a} {b}}", "{literal {a} {b}}"),
]


@pytest.mark.parametrize(("text", "value"), RESOLVED)
def test_a_text_is_resolved_to_a_value_or_to_a_text(text: str, value: Any) -> None:
    assert references.resolve(text, RESULTS) == value
    assert references.resolve([(text,)], RESULTS) == [[value]]


@rounds(200)
@given(ids, paths)
def test_a_written_reference_is_read_back(id: str, path: str) -> None:
    assume("_result" not in path)
    reference = Reference(id, path)
    assert references.whole(str(reference)) == reference
    assert list(references.find({"a": [f"x{reference}y"]})) == [reference]


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
    text = f"{before}{{step_1_result}}|{{step_2_result}}{after}"
    plain_before, plain_after = references.resolve(before, {}), references.resolve(after, {})
    resolved = references.resolve({"a": "{step_1_result}", "b": text}, results)
    assert resolved == {"a": first, "b": f"{plain_before}{first}|{second}{plain_after}"}


@rounds(100)
@given(json_values)
def test_any_data_passes_through_a_reference_unchanged(value: Any) -> None:
    resolved = references.resolve(["{step_1_result}"], {"1": value})[0]
    assert json.dumps(resolved) == json.dumps(value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{step_9_result}", ["{step_9_result}", "step 9 has no result"]),
        ("{step_1_result.size}", ["{step_1_result.size}", "no field 'size'", "name, tags"]),
        ("{step_1_result.tags[2]}", ["no item [2]", "a list of 2"]),
        (f"{{step_1_result.tags[{'9' * 900}]}}", ["no item"]),
        ("{step_1_result.name.first}", ["no field 'first'", "a str"]),
        ("so {step_1_result.name[0]}", ["no item [0]", "a str"]),
        ("{step_2_result.name}", ["no field 'name'", "a str, a text that looks like JSON", "json_text=True"]),
        ("{step_3_result.name}", ["no field 'name'", "it is a str"]),
    ],
)
def test_a_missing_part_is_named_with_the_existing_ones(text: str, words: list[str]) -> None:
    with pytest.raises(MissingResultError) as caught:
        references.resolve(text, {"1": {"name": "x", "tags": ["a", "b"]}, "2": '{"name": "x"}', "3": "{name}"})
    assert all(word in str(caught.value) for word in words)


@tool
def search(query: str) -> str:
    return query


TOOLS = Toolbox([search])


def problems(text: str, *, waits: bool = True) -> list[Problem]:
    """The problems of a plan whose second step has `text` as its parameter."""
    first = {"id": "1", "tool": "search", "params": {"query": "Oslo"}}
    second = {"id": "last", "tool": "search", "params": {"query": text}, "depends_on": ["1"] if waits else []}
    return Plan.parse([first, second]).problems(TOOLS)


ALONE = [
    ("{step_1}", ""), ("{{step_1_result}}", ""), ("{{{step_1_result}}}", ""), ("${step_1_result}", ""),
    ("{steps.1.result}", ""), ("{{ steps.1.output }}", ""), ("{step_1_output}", ""), ("{STEP_1_RESULT}", ""),
    ("<step_1_result>", ""), ("$1", ""), ("#E1", ""), ("{1}", ""), ("{{1}}", ""), ("${1}", ""), ("$1.name", ".name"),
    ("#E1[0]", "[0]"), ("{E1}", ""), ("<node-1>", ""), ("<GENERATED>-1", ""), ("$var_1.result$", ""),
    ("{results[1]}", ""), ("{result of step 1}", ""), ("{step_1_result['name']}", ".name"),
    ("${{ steps.1.outputs.sha }}", ".sha"), ("{step 1}", ""), ("{1.name}", ".name"),
    ("$(steps.1.results.sha)", ".sha"), ("{step_1_response}", ""), ("{{ needs.1.outputs.sha }}", ".sha"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "path"), ALONE)
def test_another_library_s_reference_is_a_problem_with_its_fix(text: str, path: str) -> None:
    (problem,) = problems(text)
    assert (problem.code, problem.step) == ("unreadable_reference", "last")
    assert f"write {{step_1_result{path}}};" in problem.hint
    literal = problem.hint.split("write ")[-1]
    assert problems(literal) == []
    plan = Plan.parse([{"id": "1", "tool": "search", "params": {"query": literal}}])
    assert execute(plan, ToolExecutor(TOOLS)).answer == text


WITHIN = [
    ("see {{ step_1.output }} now", "1"), ("echo $step_1_result", "1"), ("echo $(steps.1.results.sha)", "1"),
    ("Total: ${step_1_result}", "1"), ("from <step_1_output> on", "1"), ("sum {fetch.output} up", "fetch"),
    ("{Fetch_result}", "fetch"), ("{fetch}", "fetch"), ("$fetch", "fetch"), ("{{steps.fetch.output.name}}", "fetch"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "step"), WITHIN)
def test_it_is_a_problem_at_every_place_of_a_plan(text: str, step: str) -> None:
    call = {"tool": "search", "params": {"query": text}}
    first = {"id": step, "tool": "search", "params": {"query": "a"}}
    second = {**first, "id": "2", "depends_on": [step]}
    plans: dict[str, Any] = {
        "a parameter": [first, {**second, **call}],
        "inside a parameter": [first, {**second, "params": {"query": [{"deep": text}]}}],
        "a name": [first, {**second, "params": {"query": {text: 1}}}],
        "an undo": [first, {**second, "undo": call}],
        "the rollback": {"steps": [first], "rollback": [call]},
        "the answer": {"steps": [first], "answer": text},
    }
    if text == "$fetch":  # in an answer that is money, or a word
        del plans["the answer"]
    for place, plan in plans.items():
        assert [one.code for one in Plan.parse(plan).problems()] == ["unreadable_reference"], place


FINE = [
    "costs $1", "$1.50", "$1,000", "$1k", "$10", "{0} and {1}", "{name}: {value:.2f}", "{}", "{:>10}", "%s", "{1,2}",
    "echo $HOME ${HOME} $1", "awk '{print $1}'", "$result", "#1", "#e1e1e1", "body { color: #E1E1E1 }", "see exit #E1",
    "a { animation: x 1s steps(1, end) }", '{"a": {"b": 1}}', '{"step": "1"}', '{"step_1_result": 5}', '{"1": 2}',
    "{{ user.name }}", "{% for step in steps %}{{ step.result }}{% endfor %}", "{result[0]}", "{step}", "{result}",
    "<b>", "<step>1</step>", '<div class="step-1">', "1 < 2 > 1", "x^{1}", "[1]", "step 1", "step_1_result.json",
    "the result of step 1",
]  # fmt: skip


@pytest.mark.parametrize("text", FINE)
def test_a_text_that_only_resembles_a_reference_reaches_the_tool(text: str) -> None:
    assert problems(text) == []
    assert references.resolve(text, {"1": "!"}) == text


@pytest.mark.parametrize("text", ["$1", "#E1", "#e1"])
def test_a_price_or_a_colour_is_a_reference_only_to_a_dependency(text: str) -> None:
    assert problems(text, waits=False) == []
    assert Plan.parse({"steps": [{"id": "1"}], "answer": text}).problems() == []


HOSTILE: dict[str, Callable[[int], str]] = {
    "many ids": lambda n: "{step_" + "a_result." * n,
    "many ids, closed": lambda n: "{step_" + "a_result." * n + "}",
    "braces": lambda n: "{" * 9 * n,
    "begun": lambda n: "{step_1_result" * n,
    "ended": lambda n: "{step_1_result" + "}" * 9 * n,
    "fields": lambda n: "{step_1_result" + ".a b" * n + "!}",
    "blanks": lambda n: "{ step_" + " " * 9 * n + "}",
    "literals": lambda n: "{literal {" * n,
    "angles": lambda n: "<step" + "result" * n,
    "dollars": lambda n: "$step.result" * n,
    "words": lambda n: "{the_steps_steps_steps_result}" * n,
    "references": lambda n: "{step_1_result}" * n,
}


def seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


@pytest.mark.slow
@pytest.mark.parametrize("kind", HOSTILE)
def test_the_time_of_reading_is_proportional_to_the_text(kind: str) -> None:
    def read(text: str) -> None:
        problems(text)
        references.translate(references.escape(text), str)
        references.resolve(text, {"1": "v", "a": {}})

    small, large = (HOSTILE[kind](size) for size in (500, 4_000))
    gc.disable()
    try:
        took = [min(seconds(lambda text=text: read(text)) for _ in range(3)) for text in (small, large)]  # type: ignore[misc]
    finally:
        gc.enable()
    assert took[1] < 24 * took[0] + 0.001  # eight times the size: 8 is linear, 64 is quadratic
