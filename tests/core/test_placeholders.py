"""References in the spellings of other libraries are problems of the plan, and texts that only resemble them are not."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

import pytest

from planexec_lite import Plan, Toolbox, ToolExecutor, execute, references, tool
from planexec_lite.plan import Problem


@tool
def search(query: str) -> str:
    """Search."""
    return query


TOOLS = Toolbox([search])


def problems(text: str, first: str = "1", *, waits: bool = True) -> list[Problem]:
    """The problems of a plan whose second step has `text` as its parameter."""
    second = {"id": "last", "tool": "search", "params": {"query": text}, "depends_on": [first] if waits else []}
    return Plan.parse([{"id": first, "tool": "search", "params": {"query": "Oslo"}}, second]).problems(TOOLS)


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
    assert problem.code == "unreadable_reference"
    assert problem.step == "last"
    assert f"write {{step_1_result{path}}};" in problem.hint
    literal = problem.hint.split("write ")[-1]
    assert problems(literal) == []
    assert (
        execute(Plan.parse([{"id": "1", "tool": "search", "params": {"query": literal}}]), ToolExecutor(TOOLS)).answer
        == text
    )


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ("see {{ step_1.output }} now", "1"),
        ("echo $step_1_result", "1"),
        ("echo $(steps.1.results.sha)", "1"),
        ("Total: ${step_1_result}", "1"),
        ("from <step_1_output> on", "1"),
        ("sum {fetch.output} up", "fetch"),
        ("{Fetch_result}", "fetch"),
        ("{fetch}", "fetch"),
        ("$fetch", "fetch"),
        ("{{steps.fetch.output.name}}", "fetch"),
    ],
)
@pytest.mark.parametrize("where", ["params", "inside", "name", "answer", "rollback", "undo"])
def test_it_is_found_wherever_a_plan_has_texts(text: str, step: str, where: str) -> None:
    params = {"inside": {"query": [{"deep": text}]}, "name": {"query": {text: 1}}}.get(where, {"query": text})
    call = {"tool": "search", "params": params}
    first = {"id": step, "tool": "search", "params": {"query": "a"}}
    last = {**call, "id": "2", "depends_on": [step]}
    if where in ("answer", "rollback"):
        plan = Plan.parse({"steps": [first], where: text if where == "answer" else [call]})
        money = where == "answer" and text == "$fetch"
    else:
        plan = Plan.parse(
            [first, {**first, "id": "2", "depends_on": [step], "undo": call} if where == "undo" else last]
        )
        money = False
    assert [one.code for one in plan.problems()] == ["unreadable_reference"] or money


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
def test_a_price_or_a_colour_alone_names_no_step_that_is_not_waited_for(text: str) -> None:
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
def test_reading_takes_time_in_proportion_to_the_text(kind: str) -> None:
    def read(text: str) -> None:
        problems(text)
        references.translate(references.escape(text), str)
        references.resolve(text, {"1": "v", "a": {}})

    small, large = (HOSTILE[kind](size) for size in (1_000, 8_000))
    gc.disable()
    try:
        took = [min(seconds(lambda text=text: read(text)) for _ in range(3)) for text in (small, large)]  # type: ignore[misc]
    finally:
        gc.enable()
    assert took[1] < 24 * took[0] + 0.001  # eight times the size: 8 is linear, 64 is quadratic
