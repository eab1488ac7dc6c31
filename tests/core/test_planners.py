"""Planners in the one loop: how far they look ahead, how an invalid answer is repaired, and where it all ends."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from planexec_lite import (
    Board,
    LLMPlanner,
    NextStepPlanner,
    Plan,
    PlannerExecutor,
    Policy,
    RulePlanner,
    Run,
    Simulated,
    Step,
    Toolbox,
    ToolExecutor,
    tool,
)
from planexec_lite.events import PlanProposed, PlanStarted, StepStarted
from planexec_lite.model.schemas import plan_schema
from tests.core.strict_rules import faults
from tests.recorded.recording import HeardResponse

GOAL = "What is 12 * 4 + 5?"


@tool(effects="none")
def multiply(a: int, b: int) -> int:
    """Multiply two numbers."""
    return a * b


@tool(effects="none")
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


TOOLS = Toolbox([multiply, add])
FIRST = {"id": "1", "tool": "multiply", "params": {"a": 12, "b": 4}}
SECOND = {"id": "2", "tool": "add", "params": {"a": "{step_1_result}", "b": 5}, "depends_on": ["1"]}


class FakeClient:
    """Gives the answers of a list, one a request, and remembers the requests; an exception is raised."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.requests: list[dict[str, Any]] = []
        create = SimpleNamespace(create=self._create)
        self.chat = SimpleNamespace(completions=SimpleNamespace(with_streaming_response=create))

    def _create(self, **options: Any) -> Any:
        self.requests.append(options)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        fields = {"content": None, "refusal": None, "finish_reason": "stop", **(answer if "content" in answer else {})}
        if "content" not in answer:
            fields["content"] = answer["text"] if set(answer) == {"text"} else json.dumps(answer)
        message = {"content": fields["content"], "refusal": fields["refusal"]}
        choice = {"message": message, "finish_reason": fields["finish_reason"]}
        usage = {"prompt_tokens": 100, "completion_tokens": 20}
        body = json.dumps({"choices": [choice], "usage": usage}).encode()
        return HeardResponse(body, {"openai-processing-ms": "1500"})

    def sent(self, request: int) -> str:
        """All that was written in one request, as one text."""
        return "\n".join(message["content"] for message in self.requests[request]["messages"])


def agent(planner: Any, **options: Any) -> PlannerExecutor:
    policy = Policy(**options)
    return PlannerExecutor(planner, ToolExecutor(TOOLS), workers=Simulated(), policy=policy)


def asked(run: Run) -> list[str]:
    return [event.reason for event in run.events if isinstance(event, PlanStarted)]


def next_step(goal: str, board: Board) -> Any:
    if "1" not in board.results:
        return FIRST
    return None if "2" in board.results else Step(**SECOND)


def test_the_rule_planner_and_the_next_step_planner_both_answer_53() -> None:
    whole = agent(RulePlanner(lambda goal: [FIRST, SECOND])).run(GOAL)
    by_step = agent(NextStepPlanner(next_step)).run(GOAL)
    for run in (whole, by_step):
        assert (run.status, run.answer, run.results) == ("finished", 53, {"1": 48, "2": 53})
        assert run.plan.goal == GOAL
        assert [step.id for step in run.plan.steps] == ["1", "2"]
        assert run.plan.waves() == [["1"], ["2"]]
    assert asked(whole) == ["first"]
    assert asked(by_step) == ["first", "horizon", "horizon"]


def test_the_model_planner_writes_the_same_plan_as_the_rule_planner() -> None:
    client = FakeClient({"goal": GOAL, "steps": [FIRST, SECOND], "rollback": [], "answer": None, "complete": True})
    run = agent(LLMPlanner(client, "m")).run(GOAL)
    by_rule = agent(RulePlanner(lambda goal: [FIRST, SECOND])).run(GOAL)
    assert run.answer == 53
    assert run.plan.to_json() == by_rule.plan.to_json()
    assert (run.makespan, run.usage.calls, run.usage.input_tokens, run.usage.output_tokens) == (1.5, 1, 100, 20)


def test_the_model_is_told_the_tools_the_limit_and_a_legal_strict_schema() -> None:
    client = FakeClient({"steps": [FIRST]})
    agent(LLMPlanner(client, "m", max_steps=7)).run(GOAL)
    request = client.requests[0]
    assert (request["model"], request["temperature"]) == ("m", 0)
    shape = request["response_format"]["json_schema"]
    assert (request["response_format"]["type"], shape["strict"], shape["schema"]) == (
        "json_schema",
        True,
        plan_schema(TOOLS),
    )
    assert faults(shape["schema"]) == []
    assert "multiply(a: integer, b: integer): Multiply two numbers." in client.sent(0)
    assert "at most 7 steps" in client.sent(0)
    assert GOAL in client.sent(0)


@pytest.mark.parametrize("options", [{}, {"horizon": 1}, {"tasks": True}], ids=str)
def test_the_model_is_asked_for_criteria_checks_and_what_may_fail(options: dict[str, Any]) -> None:
    told = LLMPlanner(FakeClient(""), "m", **options).instructions(TOOLS)
    rules = [line for line in told.splitlines() if line.startswith("- ")]
    assert sum("success_criteria says how to tell" in rule for rule in rules) == 1
    assert sum("add a step that checks it" in rule for rule in rules) == 1
    assert sum("Say what may fail" in rule for rule in rules) == 1
    assert "rollback lists the calls" in told


def test_a_model_that_is_asked_for_one_step_at_a_time_sees_what_came_out() -> None:
    end = {"goal": GOAL, "steps": [], "complete": True, "answer": "It is {step_2_result}."}
    client = FakeClient({"steps": [FIRST], "complete": False}, {"steps": [SECOND], "complete": False}, end)
    run = agent(NextStepPlanner(client, "m")).run(GOAL)
    assert (run.status, run.answer) == ("finished", "It is 53.")
    assert asked(run) == ["first", "horizon", "horizon"]
    assert "the next step only" in client.sent(0)
    assert "result data: 48" in client.sent(1)
    assert "result data: 53" in client.sent(2)


def test_an_invalid_plan_goes_back_with_the_validators_own_words() -> None:
    bad = {"goal": GOAL, "steps": [FIRST | {"tool": "times"}, SECOND | {"depends_on": []}]}
    client = FakeClient(bad, {"steps": [FIRST, SECOND]})
    run = agent(LLMPlanner(client, "m")).run(GOAL)
    assert (run.status, run.answer) == ("finished", 53)
    assert asked(run) == ["first", "repair"]
    problems = Plan.parse(bad).problems(TOOLS)
    assert len(problems) == 2
    assert all(str(problem) in client.sent(1) for problem in problems)
    roles = [message["role"] for message in client.requests[1]["messages"]]
    assert roles == ["system", "user", "assistant", "user"]
    assert Plan.parse(client.requests[1]["messages"][2]["content"]) == Plan.parse(bad)


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ({"text": "Sure! First multiply."}, "not_json"),
        ({"text": ""}, "not_json"),
        ({"answer": "53"}, "no_steps"),
        ({"steps": [{"tool": "add"}, {"id": "2"}]}, "missing_field"),
        ({"steps": []}, "empty_plan"),
        ({"content": None, "refusal": "I can't help with that."}, "refused"),
        ({"content": '{"steps": [', "finish_reason": "length"}, "cut_off"),
        ({"steps": [FIRST | {"id": str(n)} for n in range(9)]}, "too_many_steps"),
    ],
)
def test_an_answer_that_is_no_plan_is_repaired_too(answer: Any, code: str) -> None:
    client = FakeClient(answer, {"steps": [FIRST, SECOND]})
    run = agent(LLMPlanner(client, "m", max_steps=8)).run(GOAL)
    assert run.answer == 53
    rejected = next(event for event in run.events if isinstance(event, PlanProposed))
    assert [problem.code for problem in rejected.problems] == [code]
    assert f"[{code}]" in client.sent(1)


def test_the_text_of_an_empty_plan_goes_back_as_well() -> None:
    empty = {"goal": "nothing to do", "steps": []}
    client = FakeClient(empty, {"steps": [FIRST]})
    agent(LLMPlanner(client, "m")).run(GOAL)
    assert [message["role"] for message in client.requests[1]["messages"]] == ["system", "user", "assistant", "user"]


@pytest.mark.parametrize("max_repairs", [0, 1, 3])
def test_repairs_are_bounded(max_repairs: int) -> None:
    client = FakeClient({"steps": [FIRST | {"tool": "times"}]})
    run = agent(LLMPlanner(client, "m"), max_repairs=max_repairs).run(GOAL)
    assert run.status == "failed"
    assert len(client.requests) == 1 + max_repairs
    assert f"max_repairs={max_repairs}" in run.reason
    assert "there is no tool 'times'" in run.reason
    assert run.results == {}


def test_repairs_are_counted_in_a_row() -> None:
    bad, good = {"steps": [{"id": "x", "tool": "times"}]}, {"steps": [FIRST], "complete": False}
    client = FakeClient(bad, good, bad, {"steps": [SECOND], "complete": True})
    run = agent(LLMPlanner(client, "m"), max_repairs=1).run(GOAL)
    assert (run.answer, asked(run)) == (53, ["first", "repair", "horizon", "repair"])


class Raising:
    def __init__(self, problem: BaseException) -> None:
        self.problem, self.asked = problem, 0

    def plan(self, goal: str, board: Board, tools: Toolbox) -> Plan:
        self.asked += 1
        raise self.problem


@pytest.mark.parametrize("problem", [ValueError("no idea"), ConnectionError("refused"), SystemExit(2)])
def test_a_planner_that_raises_is_reported_and_asked_no_more_than_the_bound(problem: BaseException) -> None:
    planner = Raising(problem)
    run = agent(planner, max_repairs=2).run(GOAL)
    assert run.status == "failed"
    assert planner.asked == 3
    assert f"{type(problem).__name__}: {problem}" in run.reason
    assert sum((isinstance(event, PlanProposed) and event.error is not None) for event in run.events) == 3


@pytest.mark.parametrize("given", [None, "no plan", [], 5, {"steps": [{"id": 1, "tool": "nope"}]}])
def test_a_planner_that_returns_no_plan_is_reported_and_bounded(given: Any) -> None:
    class Odd:
        def plan(self, goal: str, board: Board, tools: Toolbox) -> Any:
            return given

    for planner in (Odd(), RulePlanner(lambda goal: given)):
        run = agent(planner, max_repairs=1).run(GOAL)
        assert run.status == "failed"
        assert len(asked(run)) == 2


def test_a_keyboard_interrupt_in_a_planner_goes_to_the_caller() -> None:
    with pytest.raises(KeyboardInterrupt):
        agent(Raising(KeyboardInterrupt())).run(GOAL)


@pytest.mark.parametrize("max_rounds", [0, 1, 4])
def test_rounds_are_bounded(max_rounds: int) -> None:
    def forever(goal: str, board: Board) -> Any:
        return FIRST | {"id": str(len(board.results) + 1)}

    run = agent(NextStepPlanner(forever), max_rounds=max_rounds).run(GOAL)
    assert run.status == "stopped"
    assert "max_rounds" in run.reason
    assert asked(run) == ["first"] + ["horizon"] * max_rounds
    assert len(run.results) == 1 + max_rounds


def test_a_planner_may_write_no_more_steps_than_the_policy_allows() -> None:
    run = agent(RulePlanner(lambda goal: [FIRST, SECOND]), max_steps=1, max_repairs=0).run(GOAL)
    assert run.status == "failed"
    assert "too_many_steps" in run.reason


def test_done_steps_that_a_planner_repeats_word_for_word_are_not_done_again() -> None:
    portions = [{"steps": [FIRST], "complete": False}, {"steps": [FIRST, SECOND], "complete": True}]
    run = agent(LLMPlanner(FakeClient(*portions), "m")).run(GOAL)
    assert run.answer == 53
    assert [event.step for event in run.events if isinstance(event, StepStarted)] == ["1", "2"]


def test_a_done_step_that_a_planner_changes_is_a_problem() -> None:
    portions = [
        {"steps": [FIRST], "complete": False},
        {"steps": [FIRST | {"params": {"a": 1, "b": 1}}], "complete": True},
    ]
    run = agent(LLMPlanner(FakeClient(*portions), "m"), max_repairs=0).run(GOAL)
    assert run.status == "failed"
    assert "done_already" in run.reason
    assert run.results == {"1": 48}


def test_a_planner_that_looks_at_its_own_plan_gets_the_same_run() -> None:
    class Careful:
        def plan(self, goal: str, board: Board, tools: Toolbox) -> Plan:
            plan = Plan.parse(
                {"goal": goal, "steps": [FIRST, SECOND] if board.results else [FIRST], "complete": bool(board.results)}
            )
            assert plan.hash
            assert not plan.problems(tools)
            return plan

    run = agent(Careful()).run(GOAL)
    assert run.answer == 53
    assert run.plan.waves() == [["1"], ["2"]]
    assert run.plan.hash == Plan.parse(run.plan.to_json()).hash


def test_an_endpoint_that_takes_no_temperature_is_asked_without() -> None:
    class NoTemperature(Exception):
        status_code, param = 400, "temperature"

    client = FakeClient(NoTemperature(), {"steps": [FIRST, SECOND]})
    assert agent(LLMPlanner(client, "m")).run(GOAL).answer == 53
    assert ["temperature" in request for request in client.requests] == [True, False]


def test_the_genuine_client_is_repaired_by_a_scripted_model() -> None:
    mock_llm = pytest.importorskip("mock_llm")
    whole: dict[str, Any] = {"goal": GOAL, "rollback": [], "answer": None, "complete": True}
    filled = [{"description": "", "depends_on": [], "success_criteria": None, **step} for step in (FIRST, SECOND)]
    loose = [filled[0], filled[1] | {"depends_on": []}]
    scenes = [
        {
            "name": "first",
            "when": {"role": "planner", "never": ["indirect_reference"]},
            "reply": {"json": whole | {"steps": loose}},
        },
        {
            "name": "repair",
            "when": {"last": ["indirect_reference"]},
            "reply": {"json": whole | {"steps": filled}, "latency": 2.0},
        },
    ]
    llm = mock_llm.MockLLM(scenes)
    run = agent(LLMPlanner(llm.client())).run(GOAL)
    assert (run.status, run.answer, run.makespan) == ("finished", 53, 2.0)
    assert asked(run) == ["first", "repair"]
    llm.assert_all_used()
