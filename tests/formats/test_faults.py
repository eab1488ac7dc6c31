"""What can't be read is a PlanError that says where and how to mend it; any text gives a plan or a PlanError."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from planexec_lab import formats
from planexec_lite.plan import Plan, PlanError, Problem
from tests.rounds import rounds

FAULTS = yaml.safe_load(Path(__file__).with_name("faults.yaml").read_text("utf-8"))


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault["message"][:50])
def test_fault_is_named_with_its_place_and_mend(fault: dict[str, Any]) -> None:
    written = fault["written"]
    with pytest.raises(PlanError, match=fault["message"]) as caught:
        formats.read(written, fault.get("format"))
    assert all(problem.hint for problem in caught.value.problems)
    assert caught.value.text == (written if isinstance(written, str) else "")


@pytest.mark.parametrize("written", ["", "hello", "{}", "[]", "3", "null", '{"a": 1}', None, 3])
def test_text_of_no_known_format_names_the_formats_tried(written: Any) -> None:
    with pytest.raises(PlanError, match="one of the formats " + ", ".join(formats.names)) as caught:
        formats.read(written)
    assert caught.value.problems[0].code == "unknown_format"


@pytest.mark.parametrize(
    ("written", "names"),
    [
        ('1. a("x")\n#E1 = b[x]', "llmcompiler or rewoo"),
        ('{"steps": [], "task_nodes": []}', "native or taskbench"),
        ('{"output": [], "graph": "Node:\\nEdge:"}', "nestful or worfbench"),
    ],
)
def test_ambiguous_text_names_the_formats_that_it_may_be(written: str, names: str) -> None:
    with pytest.raises(PlanError, match=f"this could be {names}.*format="):
        formats.read(written)


def test_unknown_format_name_gets_a_suggestion() -> None:
    with pytest.raises(PlanError, match="no format 'rewo'; did you mean 'rewoo'"):
        formats.read("#E1 = a[x]", "rewo")


def test_deep_nesting_is_a_fault_not_a_crash() -> None:
    deep: Any = "$v$"
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(PlanError, match="deep"):
        formats.read([{"name": "a", "arguments": {"x": deep}, "label": "v"}])
    for text in ("[" * 5000, "1. a(" + "-" * 5000 + "1)", "1. a(" + "[" * 5000 + ")", '1. a("' + "(" * 5000 + ' $1")'):
        with pytest.raises(PlanError):
            formats.read(text + "\n2. join(")


WORDS = st.sampled_from(
    """Plan: #E1 #E10 = [ ] Search[ Node: Edge: (START,1) (1,2) 1: 2: 1. 2. search( math( join() ) $1 ${1} $5 " ' , \\
    flowchart graph TD A B [" "] --> -- & | {{ }} subgraph end ([ %% digraph -> ; label= (after - * Goal: ``` #quot; <br/>
    <node-0> <GENERATED>-0 {step_1_result} { } Task: Thought: Question: <END_OF_PLAN> -1 None \ud800""".split(" ")
)
LOOSE = st.lists(WORDS | st.just("\n") | st.text(max_size=3), max_size=30).map("".join)


@given(LOOSE | st.text(), st.sampled_from([None, *formats.names]))
@example("1. a($1", None)
@example("\ud800", "native")
def test_any_text_gives_a_plan_or_a_plan_error(text: str, name: str | None) -> None:
    check(text, name)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | LOOSE,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(LOOSE, inner, max_size=4),
    max_leaves=8,
)
KEYS = ["task", "id", "dep", "args", "name", "arguments", "label", "output", "input", "task_nodes", "task_links",
        "source", "target", "value", "result", "graph", "steps", "tool", "params", "depends_on"]  # fmt: skip
LIKE_A_PLAN = st.recursive(
    VALUES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=6),
    max_leaves=20,
)


@given(LIKE_A_PLAN, st.sampled_from([None, *formats.names]))
def test_any_json_gives_a_plan_or_a_plan_error(data: Any, name: str | None) -> None:
    check(json.dumps(data), name)


TEXTS = ("worfbench", "llmcompiler", "rewoo", "mermaid", "dot", "list")
HEADS = {
    "worfbench": "Node:\n1: x\n",
    "mermaid": "flowchart TD\n",
    "dot": "digraph {\n",
    "llmcompiler": '1. a("x")\n',
    "rewoo": "Plan: x\n",
    "list": "1. x\n",
}


@given(LOOSE, st.sampled_from(TEXTS))
@rounds(500)
def test_fault_in_a_text_format_names_a_line_of_the_text(text: str, name: str) -> None:
    whole = HEADS.get(name, "") + text
    problems: tuple[Problem, ...] = ()
    try:
        formats.read(whole, name)
    except PlanError as error:
        problems = error.problems
    for problem in problems:
        line = re.match(r"line (\d+): ", problem.message)
        assert line, problem
        assert 1 <= int(line[1]) <= 1 + len(whole.splitlines())


def check(text: str, name: str | None) -> None:
    try:
        plan = formats.read(text, name)
    except PlanError:
        return
    plan.problems()
    if name not in (None, "native"):
        assert Plan.parse(plan.to_json()) == plan
