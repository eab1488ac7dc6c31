"""What can't be read is a PlanError that says where and how to mend it; any text gives a plan or a PlanError."""

import json
import re
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from planexec_lab import formats
from planexec_lite.plan import Plan, PlanError, Problem
from tests.rounds import rounds

FAULTS: dict[str, tuple[str, Any, str]] = {
    "call without a name": ("nestful", [{"label": "a", "arguments": {}}], r"plan: output\.0\.name: .*required"),
    "no list": ("nestful", 5, "output: .*valid list"),
    "bad json in output": ("nestful", {"output": "[{"}, "not JSON.*line 1"),
    "no graph": ("worfbench", {"id": 1}, "there is no graph"),
    "text among nodes": ("worfbench", "Node:\n1: a\nthen b\nEdge: (1,END)", "line 3: 'then b' is no node"),
    "node outside the graph": (
        "worfbench",
        "Node:\n1: a\n2: b\nEdge: (START,1) (1,END)",
        r"line 3: no edge names node 2.*add \(START,2\)",
    ),
    "no edges": ("worfbench", "Node:\n1: a\nWhere:\n2: b", "line 2: no edge names node 1"),
    "broken edge": ("worfbench", "Node:\n1: a\nEdge: (START,1) (1,END", r"line 3: .* is no edge"),
    "edge to nowhere": (
        "worfbench",
        "Node:\n1: a\n\nEdge: (1,2)",
        r"line 4: the edge \(1,2\) leads to no node.*add node 2",
    ),
    "node without a task": ("taskbench", {"task_nodes": [{"arguments": []}]}, r"task_nodes\.0\.task"),
    "link without a target": (
        "taskbench",
        {"task_nodes": [{"task": "a"}], "task_links": [{"source": "a"}]},
        r"task_links\.0\.target",
    ),
    "link to nowhere": (
        "taskbench",
        {"task_nodes": [{"task": "a"}], "task_links": [{"source": "a", "target": "Emotion"}]},
        r"task_links\.0: no node has the tool 'Emotion'",
    ),
    "bracket left open": ("llmcompiler", '1. a("x")\n2. math("how fast?", ["$1"]', "line 2: .*close every bracket"),
    "no quotes": ("llmcompiler", "1. search(Oslo)", r"line 1: .*\(in quotes\)"),
    "code": ("llmcompiler", '1. search(__import__("os").getcwd())', "line 1"),
    "call of a call": ("llmcompiler", "1. a()()", "line 1: .*no call"),
    "stars": ("llmcompiler", '1. a(**{"x": 1})', "line 1: .*no argument"),
    "a set": ("llmcompiler", "1. a({1, 2})", "line 1: .*not JSON serializable"),
    "infinity": ("llmcompiler", "1. a(1e999)", "line 1"),
    "half a character": ("llmcompiler", r'1. a("\ud800")', "line 1"),
    "prose": ("llmcompiler", "1. a()\nand then\n2. b()", "line 2: 'and then' is no numbered call"),
    "plan without evidence": ("rewoo", "Plan: a\n#E1 = T[x]\nPlan: conclude.", "line 3: 'Plan: conclude.'"),
    "evidence left open": ("rewoo", "Plan: a\n\n#E1 = T[x", "line 3: .*bracket closed"),
    "two on one line": ("rewoo", "#E1 = T[x] Plan: b #E2 = T[y]", "line 1: .*one evidence"),
    "two plans in a row": ("rewoo", "Plan: a\nPlan: b\n#E1 = T[x]", "line 2"),
    "prose before": ("rewoo", "Sure!\nPlan: a\n#E1 = T[x]", "line 1: 'Sure!'"),
    "task without an id": ("hugginggpt", [{"task": "a", "dep": [-1], "args": {}}], r"tasks\.0\.id"),
    "half a character in json": ("hugginggpt", '[{"task": "\\ud800"}]', "not JSON"),
    "two plans": ("taskbench", '{"task_nodes": []}\n{"task_nodes": []}', "not JSON.*line 2.*one plan at a time"),
}


@pytest.mark.parametrize(("name", "written", "message"), FAULTS.values(), ids=list(FAULTS))
def test_fault_is_named_with_its_place_and_mend(name: str, written: Any, message: str) -> None:
    with pytest.raises(PlanError, match=message) as caught:
        formats.read(written, name)
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
