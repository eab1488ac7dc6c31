"""The arithmetic world: the rules write plans and calculate nothing; the tools calculate."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planexec_lab.connect import connect
from planexec_lab.worlds import arithmetic
from planexec_lite import LLMPlanner, NextStepPlanner, Plan, PlannerExecutor, RulePlanner, Simulated, ToolExecutor
from planexec_lite.assembly import Board
from planexec_lite.events import PlanProposed, RunStarted, StepDone, StepStarted

numbers = st.integers(0, 50).map(str)
sums = st.recursive(
    numbers,
    lambda inner: st.tuples(inner, st.sampled_from("+-*"), inner).map(lambda parts: f"({' '.join(parts)})"),
    max_leaves=8,
)


def value_of(node):
    """An independent witness: what the sum is worth."""
    if isinstance(node, ast.Constant):
        return node.value
    a, b = value_of(node.left), value_of(node.right)
    return {ast.Add: a + b, ast.Sub: a - b, ast.Mult: a * b}[type(node.op)]


def run(planner, goal):
    return PlannerExecutor(planner, ToolExecutor(arithmetic.TOOLS), workers=Simulated()).run(goal)


@given(sums.filter(lambda text: "(" in text))
def test_the_answer_is_the_one_of_arithmetic(text):
    assert run(RulePlanner(arithmetic.rules), f"What is {text}?").answer == value_of(ast.parse(text, mode="eval").body)


def test_rule_planner_and_model_planner_print_the_same_plan():
    by_rule = RulePlanner(arithmetic.rules).plan(arithmetic.GOAL, Board(), arithmetic.TOOLS)
    by_model = LLMPlanner(connect("arithmetic")).plan(arithmetic.GOAL, Board(), arithmetic.TOOLS)
    assert (
        str(by_rule)
        == str(by_model)
        == ("What is 12 * 4 + 5?\n1  multiply(a=12, b=4)\n2  add(a={step_1_result}, b=5)  (after 1)")
    )


@pytest.mark.parametrize(
    ("last", "expected"), [(53, "12 * 4 + 5 = 53"), (54, "12 * 4 + 5 = 54"), (-7, "12 * 4 + 5 = -7")]
)
def test_the_scripted_model_answers_with_the_result_that_it_was_shown(last, expected):
    plan = Plan.parse(arithmetic.rules(arithmetic.GOAL))
    board = Board.of(
        [
            RunStarted(0, arithmetic.GOAL, planner=True, reviewer=False),
            PlanProposed(0, plan),
            StepStarted(0, "1"),
            StepDone(0, "1", 48),
            StepStarted(0, "2"),
            StepDone(0, "2", last),
        ]
    )
    answer = NextStepPlanner(connect("arithmetic")).plan(arithmetic.GOAL, board, arithmetic.TOOLS).answer
    assert answer == expected


@pytest.mark.parametrize(
    "goal", ["What time is it?", "What is 2?", "What is 2 ** 9?", "(1 + 2", "", "__import__('os')"]
)
def test_a_goal_without_a_sum_is_refused(goal):
    with pytest.raises(ValueError, match="no rule applies"):
        arithmetic.rules(goal)


def test_a_negative_number_is_a_number():
    assert run(RulePlanner(arithmetic.rules), "What is -3 * 4?").answer == -12


def test_dividing_by_zero_is_reported_not_raised():
    failed = run(RulePlanner(arithmetic.rules), "What is 1 / (2 - 2)?")
    assert failed.status == "failed"
    assert "can't be divided by zero" in failed.reason
