"""Graphs for Graphviz and plain lists are read as they are written by hand."""

import pytest

from planexec_lab import formats
from planexec_lite.plan import Plan, PlanError

GRAPH = """// from a wiki
strict digraph "the release" {
  rankdir=LR; label="Release it";
  graph [fontname="Arial"]; node [shape=box, style=filled]; edge [color=gray]
  start [shape=Mdiamond]; go [shape=circle, label="Start"]
  /* two
     lines */
  go -> test -> {build backup} [label="then"];
  test [label="run_tests(suite=\\"all\\")"]
  subgraph cluster_0 { label="inside"; build [label="Build\\nthe image"]; }
  build:e -> deploy; backup -> deploy
  deploy [label="Deploy \\"it\\" &amp; watch"]
}
"""


def after(plan: Plan) -> dict[str, tuple[str, ...]]:
    return {step.id: step.depends_on for step in plan.steps}


def test_graph_written_by_hand_is_a_plan() -> None:
    plan = formats.read(GRAPH)
    assert plan.goal == "Release it"
    waits = {"start": (), "test": (), "build": ("test",), "backup": ("test",), "deploy": ("build", "backup")}
    assert after(plan) == waits
    assert (plan.steps[1].tool, plan.steps[1].params) == ("run_tests", {"suite": "all"})
    assert [step.description for step in plan.steps[2:]] == ["Build\nthe image", "backup", 'Deploy "it" & watch']


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        ("digraph {\n a -> \n}", "line 3: '}' is no name"),
        ("digraph {\n a -> b", "line 2: the graph is not closed"),
        ("digraph {\n a [label=<b>]\n}", "line 2: '<' can't be read"),
        ('digraph {\n a [label="b]\n}', "line 2: a quote or a comment is not closed"),
        ("digraph {\n a -- b\n}", "line 2: '--' is no name"),
        ("digraph\n{ a }\nand more", "line 3: 'and' comes after the end of the graph"),
        ('digraph {\n\n a [label="f(x)"]\n}', r"line 3: 'f\(x\)' looks like a call"),
        (
            "digraph {\n a [shape=diamond]\n a -> b [label=yes]\n a -> c [label=no]\n}",
            "line 2: from a one goes 'yes' or 'no'",
        ),
        ("digraph G\n a -> b", "line 2: '{' is missing"),
    ],
)
def test_graph_that_is_no_plan_is_a_fault_on_its_line(graph: str, message: str) -> None:
    with pytest.raises(PlanError, match=message) as caught:
        formats.read(graph)
    assert caught.value.problems[0].hint


@pytest.mark.parametrize(
    "text", ["1. Analyze the schema\n2. Back up\n3. Migrate", "1) Analyze the schema\n2) Back up\n\n3) Migrate\n",
             "- Analyze the schema\n- Back up\n- Migrate", "* Analyze the schema\n  * Back up\n* Migrate"],
)  # fmt: skip
def test_steps_of_a_list_follow_each_other(text: str) -> None:
    text = text.replace("  *", "*")
    plan = formats.read(text)
    assert plan == Plan.parse(["Analyze the schema", "Back up", "Migrate"])
    assert formats.read(formats.write(plan, "list")) == plan
    assert formats.write(plan, "list") == "1. Analyze the schema\n2. Back up\n3. Migrate\n"


def test_items_that_markdown_counts_are_counted() -> None:
    assert after(formats.read("1. a\n1. b\n1. c (after 1)")) == {"1": (), "2": (), "3": ("1",)}


@pytest.mark.parametrize(
    "hint",
    ["(after 1, 2)", "(after 1 and 2)", "(after steps 1 & 2)", "[depends on 1, and 2].", "depends on 1 and 2",
     ", depends on steps 1 and step 2", "needs steps 1, 2.", "(needs 1, 2)", "(requires: #1, #2)", "– waits for steps 1 and 2",
     "(Depends on: 1, 2)", "after steps 1 and 2"],
)  # fmt: skip
def test_words_at_the_end_of_an_item_say_what_it_waits_for(hint: str) -> None:
    plan = formats.read(f"1. Look\n2. Back up\n3. Migrate {hint}")
    assert after(plan) == {"1": (), "2": (), "3": ("1", "2")}
    assert plan.steps[2].description == "Migrate"


@pytest.mark.parametrize(
    "item",
    ["Break 3 eggs", "Wait 5 minutes after 3", "Say what it needs", "Buy what he needs (2 of it)", "Look after 2 dogs"],
)
def test_other_numbers_in_an_item_are_words(item: str) -> None:
    plan = formats.read(f"1. Look\n2. {item}")
    assert after(plan) == {"1": (), "2": ("1",)}
    assert plan.steps[1].description == item


def test_goal_and_lines_that_go_on_are_read() -> None:
    plan = formats.read(
        "## Goal: move the shop\n\n1. Look at\n   the schema\n2. Migrate (after 1)\n3. Cook (after nothing)"
    )
    assert plan.goal == "move the shop"
    assert plan.steps[0].description == "Look at the schema"
    assert after(plan) == {"1": (), "2": ("1",), "3": ()}
    apart = formats.read("1. Cook (after nothing)\n2. Sing")
    assert after(apart) == {"1": (), "2": ()}
    assert formats.read(formats.write(apart, "list")) == apart


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1. Look\nand then\n2. Go", "line 2: 'and then' is no item"),
        ("1. Look\n   - here\n2. Go", "line 2: '- here' is a list within a step"),
        ("1. Look\n- Go", "line 2: '- Go' is mixed with items of another kind"),
    ],
)
def test_list_that_nobody_can_tell_is_a_fault_on_its_line(text: str, message: str) -> None:
    with pytest.raises(PlanError, match=message):
        formats.read(text)


def test_list_comes_through_to_problems() -> None:
    assert "duplicate_id" in {problem.code for problem in formats.read("1. a\n2. b\n2. c").problems()}
    assert {problem.code for problem in formats.read("1. a (after 7)").problems()} == {"unknown_dependency"}


@pytest.mark.parametrize(
    ("written", "seen"),
    [
        ('1. a("x")\n#E1 = b[x]', "line 1 looks like llmcompiler, line 2 like rewoo"),
        ("My plan\n\n1. wash\n2. dry", "line 3 looks like list"),
        ("Node:\n1: wash", "line 1 looks like worfbench"),
        ("a -> b\nb -> c", "line 1 looks like dot"),
        ("", "the text is empty"),
        ("hello\nyou", "line 1, 'hello', is like none of them"),
        ({"task_node": []}, "an object with the fields 'task_node'; did you mean 'task_nodes'"),
        ([{"tasks": 1, "x": 2}], "a list, and its first item is an object with the fields 'tasks', 'x'"),
        ([3], "its first item is 3"),
    ],
)
def test_detection_says_what_it_saw(written: object, seen: str) -> None:
    with pytest.raises(PlanError, match=seen):
        formats.read(written)


def test_fence_around_a_plan_is_taken_off_and_its_lines_count() -> None:
    assert len(formats.read('\n```json\n["wash", "dry"]\n```\n').steps) == 2
    with pytest.raises(PlanError, match="line 4: 'and' is no item"):
        formats.read("```\n1. wash\n\nand\n```")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[\n {"task": "a", "id": 1, "dep": [-1], "args": {}},\n {"task": "b", "dep": [-1],\n  "args": 5}\n]',
         r"line 3: tasks\.1\.id: .*(\n.*)*line 4: tasks\.1\.args"),
        ('{"output": [\n {"label": "a", "arguments": {}}]}', r"line 2: output\.0\.name"),
        ('[\n\n {"name": 5, "arguments": {}}]', r"line 3: output\.0\.name"),
        ('{"result": {\n "task_nodes": [\n  {"task": 7}]}}', r"line 3: task_nodes\.0\.task"),
        ('{"task_nodes": [{"task": "a"}],\n "task_links": [\n  {"source": "a", "target": "b"}]}',
         r"line 3: task_links\.0: no node"),
        ('{"goal": "x", "steps": [\n {"id": 1},\n {"id": 2,\n  "toool": "x"}]}', "step 2: line 3: there is no field 'toool'"),
        ('{"goal": "x", "tasks": [\n {"task": "a"},\n {"task": "{\\"]",\n "retries": "x"}]}', "line 3: 'retries'"),
    ],
)  # fmt: skip
def test_fault_in_json_names_the_item_and_its_line(text: str, message: str) -> None:
    with pytest.raises(PlanError, match=message) as caught:
        formats.read(text)
    assert caught.value.text == text
