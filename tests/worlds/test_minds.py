"""One mind in every role: the same next step for a planner and an executor, and a plan that goes on from what is expected."""

import json

import pytest

from planexec_lab.comparison import client_of, react, whole
from planexec_lab.worlds import deploy, support
from planexec_lab.worlds.flaky import NoAnswerError, flaky
from planexec_lab.worlds.minds import EXPECTED, Later, as_expected
from planexec_lite import Board, LLMPlanner, Policy, RuleEvaluator, Step, Toolbox, tool


def test_a_result_that_is_not_there_yet_is_a_reference_in_all_its_parts():
    later = Later("{step_3_result}")
    assert later[0]["flight"] == "{step_3_result[0].flight}"
    assert f"Is {later['a']} all right?" == "Is {step_3_result.a} all right?"
    assert json.dumps(later) == '"{step_3_result}"'


@pytest.mark.parametrize(
    ("assumed", "result", "judged"),
    [
        ("Yes.", "Yes.", True),
        ("Yes.", "Yes, on the aisle.", "Yes, on the aisle."),
        ({"ok": True}, {"ok": True, "rows": 3}, True),
        ({"ok": True}, {"ok": False}, '{"ok": false}'),
        ({"ok": True}, "no", "no"),
    ],
)
def test_a_result_is_held_against_what_was_taken_for_granted(assumed, result, judged):
    step = Step(id="1", success_criteria=EXPECTED + json.dumps(assumed))
    assert as_expected(step, result) == judged
    verdict = RuleEvaluator(as_expected).evaluate(step, result, Board())
    assert verdict.verdict == ("accept" if judged is True else "replan")


def test_a_plan_ahead_names_every_step_that_its_expectations_lead_to():
    world = support.World()
    plan = LLMPlanner(client_of(support.AuditMind())).plan(support.GOAL, Board(), world.tools)
    assert plan.graph["5"] == ("1", "2", "3", "4")
    assert plan.waves() == [["1", "2", "3", "4"], ["5"], ["6"], ["7"]]
    assert plan.steps[4].success_criteria == EXPECTED + '{"complete": true}'
    assert plan.steps[-1].params == {"cause": "{step_6_result}"}
    assert plan.problems(world.tools) == []


@pytest.mark.slow
@pytest.mark.parametrize(("side", "options"), [(whole, {"policy": Policy(rollback="failed")}), (react, {})])
def test_what_went_wrong_is_rolled_back_in_either_role(side, options):
    world = deploy.World(currency=None)
    side(client_of(deploy.ReleaseMind(world.tools)), world.tools, deploy.GOAL, **options)
    assert (world.deployed("production"), world.messages) == ("v2.3.0", ["Rollback executed"])


def counting():
    called = []

    @tool(effects="none")
    def count(to: int) -> int:
        """Count."""
        called.append(to)
        return to

    return Toolbox([count]), called


def tries(tools, order):
    failed = []
    for to in order:
        try:
            assert tools["count"].call({"to": to}) == to
        except NoAnswerError as error:
            failed.append((to, str(error)))
    return failed


def test_the_same_calls_fail_for_everybody_in_whatever_order():
    order = [number % 5 for number in range(40)]
    tools, called = counting()
    failed = tries(flaky(tools, 0.5), order)
    assert 10 < len(failed) < 30
    assert len(called) == 40 - len(failed)
    assert sorted(tries(flaky(tools, 0.5), sorted(order))) == sorted(failed)
    assert tries(flaky(tools, 0.5, seed=1), order) != failed
