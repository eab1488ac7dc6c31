"""Each published format is read: the same plan, what is odd in each, drawings and lists written by hand, and references."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import assume, given
from hypothesis import strategies as st

from planexec_lab import formats
from planexec_lite import references
from planexec_lite.plan import Plan, PlanError

SAME_PLAN: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("same_plan.yaml").read_text("utf-8"))
IN_WORDS = ("worfbench", "jobs", "list")
OURS = ("native", "mermaid", "dot", "graph")  # these write references as the kit does


def source(name: str) -> str:
    plan = SAME_PLAN[name]
    return plan if isinstance(plan, str) else json.dumps(plan)


def shape(plan: Plan) -> tuple[list[list[int]], list[str | None]]:
    place = {step.id: n for n, step in enumerate(plan.steps)}
    return [sorted(place[id] for id in step.depends_on) for step in plan.steps], [step.tool for step in plan.steps]


def test_every_format_has_an_example() -> None:
    assert tuple(SAME_PLAN) == formats.names


@pytest.mark.parametrize("name", SAME_PLAN)
def test_the_same_plan_comes_out_of_every_format(name: str) -> None:
    plan = formats.read(source(name))
    assert plan.problems() == []
    waits_for, tools = shape(plan)
    assert waits_for == (
        [[], [0], [1]] if name == "tool_calls" else [[], [0], [0, 1]]
    )  # which wait for the last answer
    assert tools == ([None] * 3 if name in IN_WORDS else ["find", "map", "tell"])
    plan = formats.read(source(name))
    assert formats.read(source(name), name) == plan
    assert formats.read(SAME_PLAN[name]) == plan
    assert formats.read(source(name).encode()) == plan
    assert Plan.parse(plan.to_json()) == plan


@pytest.mark.parametrize("name", [name for name in SAME_PLAN if name not in (*IN_WORDS, *OURS)])
def test_text_that_looks_like_our_reference_stays_literal(name: str) -> None:
    plan = formats.read(source(name).replace("Oslo", "{step_9_result}"))
    assert plan.problems() == []
    assert list(plan.steps[0].params.values()) == ["{literal {step_9_result}}"]


def test_nestful_reads_fields_labels_and_outputs() -> None:
    row = {
        "input": "Where is it?",
        "output": [
            {"name": "find", "arguments": {"query": "Oslo"}, "label": "the place"},
            {"name": "route", "arguments": {"to": "$the place.spots[0].name$", "price": "$5"}, "label": "var2"},
            {"name": "var_result", "arguments": {"route": "$var2$", "from": "$the place.name$"}},
        ],
    }
    plan = formats.read(row)
    assert plan.goal == "Where is it?"
    assert [step.id for step in plan.steps] == ["call_1", "var2"]
    assert plan.steps[1].params == {"to": "{step_call_1_result.spots[0].name}", "price": "$5"}
    assert plan.answer == "route: {step_var2_result}\nfrom: {step_call_1_result.name}"


@pytest.mark.parametrize(
    "head", ["Edge:", "Edges:", "Edge :", "edges:", "Graph:\nEdge:", "Graph:\n\nEdges:\n", "Graph:"]
)
def test_worfbench_edges_are_no_step_however_they_are_headed(head: str) -> None:
    plan = formats.read(f"Node:\n1: shop\n2: cook\n{head} (START,1) (1,2) (2,END)", "worfbench")
    assert [(step.id, step.description, step.depends_on) for step in plan.steps] == [
        ("1", "shop", ()),
        ("2", "cook", ("1",)),
    ]


def nodes(*pairs: tuple[str, Any], links: Any = ()) -> Plan:
    listed = [{"task": task, "arguments": arguments} for task, arguments in pairs]
    return formats.read({"task_nodes": listed, "task_links": [{"source": a, "target": b} for a, b in links]})


@pytest.mark.parametrize("written", ["<node-0>", "<node-0>.output", "<output of node-0>", "<output from node-0>"])
def test_taskbench_node_is_read_as_models_write_it(written: str) -> None:
    assert nodes(("a", []), ("b", [written])).steps[1].params == {"input": "{step_0_result}"}


def test_taskbench_links_and_results_are_read() -> None:
    plan = nodes(("a", []), ("b", []), ("a", []), ("b", []), links=[("a", "b"), ("a", "b"), ("b", "a")])
    assert [step.depends_on for step in plan.steps] == [(), ("0",), ("1",), ("2",)]
    plan = nodes(
        ("a", []), ("b", []), ("c", []), links=[("a", ["b", "c"]), ("c", "none"), ("b", "Output"), ("a", None)]
    )
    assert [step.depends_on for step in plan.steps] == [(), ("0",), ("0",)]
    row = {"id": "7", "user_request": "go", "result": {**SAME_PLAN["taskbench"], "task_steps": ["x", "y", "z"]}}
    plan = formats.read(row)
    assert plan.goal == "go"
    assert [step.description for step in plan.steps] == ["x", "y", "z"]


def test_llmcompiler_arguments_are_literals() -> None:
    text = """Question: How far?
    Thought: I look it up.
    1. search('Oslo', limit=3, deep=True, near=["a", -1.5, None, {"k": (1, 2)}])
    2. math("$1 / 2", [$1, ${1}])
    Thought: I can answer now.
    3. join()<END_OF_PLAN>
    this is not read"""
    plan = formats.read(text)
    assert plan.goal == "How far?"
    assert plan.steps[0].description == "I look it up."
    near = ["a", -1.5, None, {"k": [1, 2]}]
    assert plan.steps[0].params == {"input": "Oslo", "limit": 3, "deep": True, "near": near}
    assert plan.steps[1].params == {"arg1": "{step_1_result} / 2", "arg2": ["{step_1_result}", "{step_1_result}"]}


@pytest.mark.parametrize(
    ("argument", "steps"),
    [
        ("$2", "2"),  # the whole argument
        (" $2 ", "2"),
        ("$9", "9"),  # dangling, but meant as a result: `problems` tells
        ("${2} people", "2"),
        ("US${2}00", "2"),
        ("max($1, $2) / min($2,$1)", "12"),
        ("($2 - 32) * 5 / 9", "2"),
        ("sqrt($9)", "9"),
        ("costs $5", ""),  # no step 5 before: money
        ("costs $2.50", ""),
        ("costs $2k", ""),
        ("$2.50", ""),
        ("$20,000 a year", ""),
        ("it cost $3 then", ""),  # this very step and later ones can't be meant
        ("$ 2, $x, $-1, {2}, $2a", ""),
    ],
)
def test_dollar_number_is_a_result_or_money(argument: str, steps: str) -> None:
    plan = formats.read(f'1. a()\n2. a()\n3. b("{argument}")', "llmcompiler")
    assert sorted(plan.steps[2].depends_on) == list(steps)


@pytest.mark.parametrize("argument", ["costs $2", "$1 or $2", "the mayor of $1", "$1,000", "x = $2"])
def test_dollar_number_that_nobody_can_tell_is_a_fault(argument: str) -> None:
    with pytest.raises(PlanError, match=r"line 3: .* can be money or the result of step \d.* write \$\{\d\}") as caught:
        formats.read(f'1. a()\n2. a()\n3. b("{argument}")', "llmcompiler")
    assert caught.value.problems[0].code == "ambiguous_reference"


def test_rewoo_lines_may_be_shared_or_wrapped_and_braces_stay() -> None:
    text = """Task: How many hours?
    Plan: Put it into algebra
    and solve it. #E1 = WolframAlpha[x + (2x - 10) = 157]
    Plan: Given #E1, ask.
    #E2 = LLM[What is x [in hours], given
    #E1?]"""
    plan = formats.read(text)
    assert plan.goal == "How many hours?"
    assert [step.description for step in plan.steps] == ["Put it into algebra and solve it.", "Given #E1, ask."]
    assert str(plan.steps[1].params["input"]).startswith("What is x [in hours], given\n")
    assert plan.steps[1].depends_on == ("1",)
    plan = formats.read("#E1 = a[x]\n#E2 = b[{#E1} and {{#E1}} and {#E1 }]")
    assert plan.steps[1].params["input"] == "{ {step_1_result}} and {{ {step_1_result}}} and {{step_1_result} }"
    assert plan.steps[1].depends_on == ("1",)


def test_hugginggpt_minus_one_means_none_and_arguments_say_more_than_dep() -> None:
    tasks = [
        {"task": "a", "id": 0, "dep": [-1], "args": {"image": "x.jpg"}},
        {"task": "b", "id": "1", "dep": -1, "args": {"image": "<GENERATED>-0"}},
        {"task": "c", "id": 10, "dep": [1], "args": {"text": "<GENERATED>-0, <GENERATED>-1", "n": 2}},
        {"task": "d", "id": 11, "args": {"text": "<GENERATED>-10"}},
    ]
    assert [step.depends_on for step in formats.read(tasks).steps] == [(), ("0",), ("1", "0"), ("10",)]


UNRUNNABLE = yaml.safe_load(Path(__file__).with_name("unrunnable.yaml").read_text("utf-8"))


@pytest.mark.parametrize("plan", UNRUNNABLE, ids=lambda plan: plan["code"])
def test_plan_that_cannot_run_comes_through_to_problems(plan: dict[str, Any]) -> None:
    assert plan["code"] in {problem.code for problem in formats.read(plan["written"]).problems()}


@pytest.mark.parametrize(
    ("written", "described"),
    [
        ("graph LR\n  Шаг[Открыть] --> \uff12[\"send(text='{step_Шаг_result}')\"]\n  2[Last]", "Открыть"),
        ('digraph { Шаг -> "\uff12"; "\uff12" [label="send(text=\'{step_Шаг_result}\')"]; 2 [label=Last] }', "Шаг"),
    ],
)
def test_ids_of_other_letters_become_numbers(written: str, described: str) -> None:
    first, second, third = formats.read(written).steps
    assert (first.id, first.description) == ("1", described)
    assert (second.id, second.depends_on, second.params) == ("step_2", ("1",), {"text": "{step_1_result}"})
    assert (third.id, third.description) == ("2", "Last")


README = """```mermaid
---
title: Move the shop
---
%% written on a train
flowchart LR;
  S([Start]) --> A[Read the schema]
  A -->|then| B("Back up & count") & C{{Write the migration}}
  subgraph one [Phase one]
    direction TB
    B -. with care .-> D[("copy(table='orders')")]
  end
  C == carefully ==> D:::hot; D -- last --> E>"Tell<br/>everyone"]
  classDef hot fill:#f00
  style A fill:#bbf,stroke:#333
  click A "https://example.org" "why"
  linkStyle 0 stroke:#ff3
  E ----> F(((End)))
```"""


def chart(body: str) -> Plan:
    return formats.read(f"flowchart TD\n{body}")


def after(plan: Plan) -> dict[str, tuple[str, ...]]:
    return {step.id: step.depends_on for step in plan.steps}


def test_flowchart_of_a_readme_is_a_plan() -> None:
    plan = formats.read(README)
    assert plan.goal == "Move the shop"
    assert after(plan) == {"A": (), "B": ("A",), "C": ("A",), "D": ("B", "C"), "E": ("D",)}
    words = ["Read the schema", "Back up & count", "Write the migration", "", "Tell\neveryone"]
    assert [step.description for step in plan.steps] == words
    assert [(step.tool, step.params) for step in plan.steps if step.tool] == [("copy", {"table": "orders"})]
    assert plan.problems() == []


@pytest.mark.parametrize(
    "link",
    ["-->", "--->", "==>", "====>", "-.->", "-..->", "--o", "--x", "-->|text|", "-- text -->", "--text-->", "== text ==>",
     "-. text .->", '-->|"a quoted text"|', "-- two words --->", "==>|x|"],
)  # fmt: skip
def test_every_link_with_a_head_is_a_dependency(link: str) -> None:
    assert after(chart(f"A {link} B")) == {"A": (), "B": ("A",)}
    assert after(chart(f"A[one] {link} B(two) {link} C")) == {"A": (), "B": ("A",), "C": ("B",)}


def test_links_without_spaces_and_several_nodes() -> None:
    assert after(chart("A-->B-->C")) == {"A": (), "B": ("A",), "C": ("B",)}
    assert after(chart("A & B-->C & D")) == {"A": (), "B": (), "C": ("A", "B"), "D": ("A", "B")}
    assert after(chart("step-1.a-->x_y;x_y-->z")) == {"step-1.a": (), "x_y": ("step-1.a",), "z": ("x_y",)}
    assert after(chart("A ~~~ B")) == {"A": (), "B": ()}


@pytest.mark.parametrize(
    "node",
    ["[{}]", "({})", "([{}])", "[[{}]]", "[({})]", "(({}))", "((({})))", ">{}]", "{{{}}}", "{{{{{}}}}}", "[/{}/]", "[\\{}\\]",
     "[/{}\\]", "[\\{}/]"],
)  # fmt: skip
@pytest.mark.parametrize("label", ["Wash it", '"Wash it"', '"`Wash it`"', " Wash it "])
def test_every_shape_of_a_node_gives_its_words(node: str, label: str) -> None:
    plan = chart(f"A{node.format(label)} --> B")
    assert [step.description for step in plan.steps] == ["Wash it", "B"]


@pytest.mark.parametrize(
    ("label", "words"),
    [
        ('"say #quot;hi#quot;"', 'say "hi"'),
        ('"a #35; b &lt;c&gt; &amp; #9829;"', "a # b <c> & ♥"),
        ('"one<br>two<BR />three"', "one\ntwo\nthree"),
        ('"one\\ntwo"', "one\ntwo"),
        ('"a; b"', "a; b"),
        ('"over\ntwo lines"', "over\ntwo lines"),
        ("Deploy (staging)", "Deploy (staging)"),
        ("#nothing; &unknown;", "#nothing; &unknown;"),
    ],
)
def test_label_means_what_is_seen(label: str, words: str) -> None:
    assert chart(f"A[{label}] --> B").steps[0].description == words


@pytest.mark.parametrize(
    "call", ["search('x\\ny', n=2)", "search('x\\\\ny')", "search(query='a (b) [c] {d}', deep=True)"]
)
def test_call_in_a_label_is_a_tool_with_arguments(call: str) -> None:
    step = chart(f'A["{call}"]').steps[0]
    assert step.tool == "search"
    assert step.params == formats.read(f"1. {call}\n2. join()").steps[0].params


def test_round_ends_cycles_and_decisions_of_a_flowchart() -> None:
    assert after(chart("S((Start)) --> A --> E([end])")) == {"A": ()}
    assert after(chart("S[Start] --> A")) == {"S": (), "A": ("S",)}
    assert after(chart("S([Start the car]) --> A")) == {"S": (), "A": ("S",)}
    assert {problem.code for problem in chart("A --> B --> A").problems()} == {"cycle"}
    assert after(chart("A{ok?} -->|yes| B")) == {"A": (), "B": ("A",)}


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


def test_graph_written_by_hand_is_a_plan() -> None:
    plan = formats.read(GRAPH)
    assert plan.goal == "Release it"
    waits = {"test": (), "build": ("test",), "backup": ("test",), "deploy": ("build", "backup")}
    assert after(plan) == waits
    assert (plan.steps[0].tool, plan.steps[0].params) == ("run_tests", {"suite": "all"})
    assert [step.description for step in plan.steps[1:]] == ["Build\nthe image", "backup", 'Deploy "it" & watch']


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


def test_goal_wrapped_lines_and_fences_are_read() -> None:
    plan = formats.read(
        "## Goal: move the shop\n\n1. Look at\n   the schema\n2. Migrate (after 1)\n3. Cook (after nothing)"
    )
    assert plan.goal == "move the shop"
    assert plan.steps[0].description == "Look at the schema"
    assert after(plan) == {"1": (), "2": ("1",), "3": ()}
    apart = formats.read("1. Cook (after nothing)\n2. Sing")
    assert after(apart) == {"1": (), "2": ()}
    assert formats.read(formats.write(apart, "list")) == apart
    assert len(formats.read('\n```json\n["wash", "dry"]\n```\n').steps) == 2
    with pytest.raises(PlanError, match="line 4: 'and' is no item"):
        formats.read("```\n1. wash\n\nand\n```")


Written = list[list[int | str]]  # for each step the parts of its argument: a number is the result of that step

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="#$<[]", categories=["L", "P", "S", "Zs"]), max_size=6)
LITERAL = TEXT | st.sampled_from(["{step_1_result}", "{{step_2_result.a[0]}}", "{", "}", "{step_", "_result}"])


@st.composite
def plans(draw: st.DrawFn) -> Written:
    """Up to 12 steps, so that there are steps 1 and 10; each uses steps before it, between literal texts."""
    return [
        draw(st.lists(LITERAL if n == 0 else LITERAL | st.integers(0, n - 1), max_size=6))
        for n in range(draw(st.integers(1, 12)))
    ]


def nestful(written: Written) -> Any:
    texts = enumerate(joined(written, lambda n: f"$var{n}$"))
    return [{"name": "t", "arguments": {"x": text}, "label": f"var{n}"} for n, text in texts]


def taskbench(written: Written) -> Any:
    return {"task_nodes": [{"task": "t", "arguments": [text]} for text in joined(written, lambda n: f"<node-{n}>")]}


def hugginggpt(written: Written) -> Any:
    texts = enumerate(joined(written, lambda n: f"<GENERATED>-{n}"))
    return [{"task": "t", "id": n, "dep": [-1], "args": {"x": text}} for n, text in texts]


def llmcompiler(written: Written) -> Any:
    return "\n".join(f"{n}. t({text!r})" for n, text in enumerate(joined(written, lambda n: f"${{{n}}}")))


def rewoo(written: Written) -> Any:
    return "\n".join(f"Plan: p\n#E{n} = t[{text}]" for n, text in enumerate(joined(written, lambda n: f"#E{n}")))


def joined(written: Written, refer: Callable[[int], str]) -> list[str]:
    return ["".join(refer(part) if isinstance(part, int) else part for part in parts) for parts in written]


WRITERS = [nestful, taskbench, hugginggpt, llmcompiler, rewoo]


def apart(written: Written) -> Written:
    """A text that begins like a word or a number would change the reference before it: part them.

    "#E0 = x[" inside a text would define another evidence, which the reader reports: no text has a "=" right behind a reference.
    """
    for text in joined(written, lambda n: "#"):  # "#" is in no text
        assume(not re.search(r"#\s*=", text))
    return [[part if isinstance(part, int) else f" {part} " for part in parts] for parts in written]


@pytest.mark.parametrize("write", WRITERS)
@given(written=plans())
def test_dependencies_and_resolved_texts_are_as_written(write: Callable[[Written], Any], written: Written) -> None:
    written = apart(written)
    plan = formats.read(write(written))
    place = {step.id: n for n, step in enumerate(plan.steps)}
    uses = [{part for part in parts if isinstance(part, int)} for parts in written]
    assert [{place[id] for id in step.depends_on} for step in plan.steps] == uses
    results = {step.id: f"[{n}]" for n, step in enumerate(plan.steps)}
    for step, meant in zip(plan.steps, joined(written, lambda n: f"[{n}]"), strict=True):
        assert list(references.resolve(step.params, results).values()) == [meant]


@given(edges=st.sets(st.tuples(st.integers(1, 9), st.integers(1, 9))))
def test_worfbench_edges_come_back(edges: set[tuple[int, int]]) -> None:
    nodes = "\n".join(f"{n}: task {n}" for n in range(1, 10))
    starts = [("START", n) for n in range(1, 10)]
    plan = formats.read(f"Node:\n{nodes}\nEdge: " + " ".join(f"({a},{b})" for a, b in [*starts, *edges]))
    assert {(int(a), int(step.id)) for step in plan.steps for a in step.depends_on} == edges
