"""Flowcharts as people and models write them; what is no plan is a fault on its line."""

import pytest

from planexec_lab import formats
from planexec_lite.plan import Plan, PlanError

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
    B -. if it is there .-> D[("copy(table='orders')")]
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
    "header", ["graph TD", "graph LR;", "flowchart", "flowchart BT", "\n  graph RL", "%% x\ngraph TB"]
)
def test_header_may_have_any_direction(header: str) -> None:
    assert after(formats.read(f"{header}\nA --> B")) == {"A": (), "B": ("A",)}


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


def test_text_that_a_node_gets_later_is_its_text() -> None:
    assert [step.description for step in chart("A --> B\nA[Wash]\nB[Dry] --> C").steps] == ["Wash", "Dry", "C"]


def test_cycle_and_decision_with_one_way_out_come_through() -> None:
    assert {problem.code for problem in chart("A --> B --> A").problems()} == {"cycle"}
    assert after(chart("A{ok?} -->|yes| B")) == {"A": (), "B": ("A",)}


FAULTS = {
    "no direction": ("A --> B\nB --- C", "line 3: '---' does not say which comes first"),
    "both directions": ("A <--> B", "line 2: '<-->' does not say"),
    "arrow to nothing": ("A\nA -->", "line 3: a node is missing at the end"),
    "arrow from nothing": ("--> A", "line 2: '--> A' is no node"),
    "decision": ("A\nB{ok?} -->|yes| C\nB -->|no| D", "line 3: from B one goes 'yes' or 'no'; a plan has no branches"),
    "quote": ('A\nB["x] --> C\nC --> D', "line 3: a quote is not closed"),
    "bracket": ("A[x --> B", "line 2: .*can't be read"),
    "brackets in a label": ("A[f(x[0])]", "line 2: .*needs quotes"),
    "call without quotes": ("A\nB[search(Oslo)]", r"line 3: 'search\(Oslo\)' looks like a call .* a name or a formula"),
    "prose": ("A --> B\nand so on", "line 3: 'so on' can't be read"),
    "open group": ("A\nsubgraph one\nB\n", "line 3: this subgraph has no end"),
    "arrow to a group": ("subgraph one\nA\nend\nB --> one", "line 2: an arrow begins or ends at the subgraph 'one'"),
    "end alone": ("A --> B\nend", "line 3: 'end' is no name"),
    "comments count": ("%% one\n\n%% two\nA B", "line 5: 'B' can't be read"),
}


@pytest.mark.parametrize(("body", "message"), FAULTS.values(), ids=list(FAULTS))
def test_what_is_no_plan_is_a_fault_on_its_line(body: str, message: str) -> None:
    with pytest.raises(PlanError, match=message) as caught:
        chart(body)
    assert all(problem.hint for problem in caught.value.problems)


def test_chart_without_a_header_is_told_from_no_format_at_all() -> None:
    with pytest.raises(PlanError, match=r"none of the formats .*: line 2 looks like mermaid.*format='mermaid'"):
        formats.read("Steps:\nA --> B")
    with pytest.raises(PlanError, match=r"line 1: this is no flowchart.*begin with a line flowchart TD"):
        formats.read("A --> B", "mermaid")
