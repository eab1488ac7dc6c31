"""Planners: their prompts and horizons, repairs of invalid answers, and bounds."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import pytest

from planexec_lite import Board, LLMPlanner, NextStepPlanner, Plan, RulePlanner, Tool, Toolbox
from planexec_lite.model.schemas import plan_schema
from planexec_lite.roles.planners import FIELDS, INSTRUCTIONS
from planexec_lite.run.events import PlanProposed
from tests.core.shapes import reasons
from tests.core.strict_rules import faults
from tests.core.sums import FIRST, GOAL, SECOND, TOOLS, FakeClient, agent


def test_the_prompt_has_the_tools_the_limit_and_a_valid_strict_schema() -> None:
    client = FakeClient({"steps": [FIRST]})
    agent(LLMPlanner(client, "m", max_steps=7)).run(GOAL)
    request = client.requests[0]
    assert (request["model"], request["temperature"]) == ("m", 0)
    assert request["response_format"]["type"] == "json_schema"
    shape = request["response_format"]["json_schema"]
    assert (shape["strict"], shape["schema"]) == (True, plan_schema(TOOLS))
    assert faults(shape["schema"]) == []
    for words in ("multiply(a: integer, b: integer): Multiply two numbers.", "at most 7 steps", GOAL):
        assert words in client.sent(0)


@pytest.mark.parametrize("field", FIELDS)
def test_a_planner_names_the_missing_field_of_its_instructions(field: str) -> None:
    words = f"the field {{{field}}} is missing; write each of {{tools}}, {{step}}, {{span}} at least once"
    with pytest.raises(ValueError, match=re.escape(words)):
        LLMPlanner(None, "m", instructions=INSTRUCTIONS.replace(f"{{{field}}}", ""))


def test_custom_instructions_are_filled_once_with_the_same_values() -> None:
    mine = "{span}\n{tools}\n{step}\n{goal} {tools!r} {a: 1}"
    tools = Toolbox([Tool(lambda: None, name="odd", description="writes {span} and {tools}")])
    sent = LLMPlanner(None, "m", instructions=mine, max_steps=3).instructions(tools)
    assert sent.startswith("Write the whole plan, at most 3 steps")
    assert "\n- odd(): writes {span} and {tools}\n" in sent
    assert "write {step_1_result} and list" in sent
    assert sent.endswith("\n{goal} {tools!r} {a: 1}")


def test_a_model_that_plans_one_step_at_a_time_sees_the_results() -> None:
    end = {"goal": GOAL, "steps": [], "complete": True, "answer": "It is {step_2_result}."}
    client = FakeClient({"steps": [FIRST], "complete": False}, {"steps": [SECOND], "complete": False}, end)
    run = agent(NextStepPlanner(client, "m")).run(GOAL)
    assert (run.status, run.answer) == ("finished", "It is 53.")
    assert reasons(run) == ["first", "horizon", "horizon"]
    assert "the next step only" in client.sent(0)
    assert "result data: 48" in client.sent(1)
    assert "result data: 53" in client.sent(2)


def test_an_invalid_plan_goes_back_with_the_problems() -> None:
    bad = {"goal": GOAL, "steps": [FIRST | {"tool": "times"}, SECOND | {"depends_on": []}]}
    client = FakeClient(bad, {"steps": [FIRST, SECOND]})
    run = agent(LLMPlanner(client, "m")).run(GOAL)
    assert (run.status, run.answer, reasons(run)) == ("finished", 53, ["first", "repair"])
    problems = Plan.parse(bad).problems(TOOLS)
    assert len(problems) == 2
    assert all(str(problem) in client.sent(1) for problem in problems)
    messages = client.requests[1]["messages"]
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "user"]
    assert Plan.parse(messages[2]["content"]) == Plan.parse(bad)


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ({"text": "Sure! First multiply."}, "not_json"),
        ({"text": ""}, "no_text"),
        ({"answer": "53"}, "no_steps"),
        ({"steps": [{"tool": "add"}, {"id": "2"}]}, "missing_field"),
        ({"goal": "nothing to do", "steps": []}, "empty_plan"),
        ({"steps": [FIRST | {"id": str(n)} for n in range(9)]}, "too_many_steps"),
    ],
)
def test_an_answer_that_is_not_a_plan_is_repaired(answer: Any, code: str) -> None:
    client = FakeClient(answer, {"steps": [FIRST, SECOND]})
    run = agent(LLMPlanner(client, "m", max_steps=8)).run(GOAL)
    assert run.answer == 53
    rejected = next(event for event in run.events if isinstance(event, PlanProposed))
    assert [problem.code for problem in rejected.problems] == [code]
    assert f"[{code}]" in client.sent(1)
    assert code != "empty_plan" or "nothing to do" in client.sent(1)


def test_a_refusal_ends_the_run_with_its_words() -> None:
    client = FakeClient({"content": None, "refusal": "I can't help with that."}, {"steps": [FIRST, SECOND]})
    run = agent(LLMPlanner(client, "m")).run(GOAL)
    assert (run.status, run.results) == ("failed", {})
    assert "I can't help with that." in run.reason
    assert len(client.requests) == 1


@pytest.mark.parametrize("max_repairs", [0, 1, 3])
def test_repairs_are_bounded(max_repairs: int) -> None:
    client = FakeClient({"steps": [FIRST | {"tool": "times"}]})
    run = agent(LLMPlanner(client, "m"), max_repairs=max_repairs).run(GOAL)
    assert (run.status, run.results) == ("failed", {})
    assert len(client.requests) == 1 + max_repairs
    assert f"max_repairs={max_repairs}" in run.reason
    assert "there is no tool 'times'" in run.reason


@dataclass
class Odd:
    answer: Any
    asked: int = 0

    def plan(self, goal: str, board: Board, tools: Toolbox) -> Any:
        self.asked += 1
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer


RAISED = [ValueError("no idea"), ConnectionError("refused"), SystemExit(2)]


@pytest.mark.parametrize("answer", [None, "no plan", [], 5, {"steps": [{"id": 1, "tool": "nope"}]}, *RAISED], ids=repr)
def test_a_planner_that_raises_or_returns_no_plan_is_asked_up_to_a_bound(answer: Any) -> None:
    planner = Odd(answer)
    run = agent(planner, max_repairs=2).run(GOAL)
    assert (run.status, planner.asked) == ("failed", 3)
    if answer in RAISED:
        assert f"{type(answer).__name__}: {answer}" in run.reason
        assert sum(isinstance(event, PlanProposed) and event.error is not None for event in run.events) == 3
    run = agent(RulePlanner(lambda goal: answer), max_repairs=1).run(GOAL)
    assert (run.status, len(reasons(run))) == ("failed", 2)


@pytest.mark.parametrize("max_rounds", [0, 1, 4])
def test_rounds_are_bounded(max_rounds: int) -> None:
    def forever(goal: str, board: Board) -> Any:
        return FIRST | {"id": str(len(board.results) + 1)}

    run = agent(NextStepPlanner(forever), max_rounds=max_rounds).run(GOAL)
    assert run.status == "stopped"
    assert "max_rounds" in run.reason
    assert reasons(run) == ["first"] + ["horizon"] * max_rounds
    assert len(run.results) == 1 + max_rounds
