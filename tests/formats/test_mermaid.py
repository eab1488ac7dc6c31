"""Flowcharts as people and models write them; what is no plan is a fault on its line."""

import pytest

from planexec_lab import formats
from planexec_lite.plan import Plan

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


def test_start_and_end_are_no_steps_only_where_they_are_round() -> None:
    assert after(chart("S((Start)) --> A --> E([end])")) == {"A": ()}
    assert after(chart("S[Start] --> A")) == {"S": (), "A": ("S",)}
    assert after(chart("S([Start the car]) --> A")) == {"S": (), "A": ("S",)}


def test_cycle_and_decision_with_one_way_out_come_through() -> None:
    assert {problem.code for problem in chart("A --> B --> A").problems()} == {"cycle"}
    assert after(chart("A{ok?} -->|yes| B")) == {"A": (), "B": ("A",)}
