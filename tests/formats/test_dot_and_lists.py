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


def test_fence_around_a_plan_is_taken_off_and_its_lines_count() -> None:
    assert len(formats.read('\n```json\n["wash", "dry"]\n```\n').steps) == 2
    with pytest.raises(PlanError, match="line 4: 'and' is no item"):
        formats.read("```\n1. wash\n\nand\n```")
