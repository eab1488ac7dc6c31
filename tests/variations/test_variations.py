"""The variations: each is the same loop, and what tells them apart can be read off their events."""

from typing import Any

import pytest

from planexec_lab.scoreboard import Row, model, row, tasks
from planexec_lab.variations import VARIATIONS, quickest, rehearsed, vote
from planexec_lab.variations.in_words import ListPlanner
from planexec_lab.variations.vote import Ballot
from planexec_lite import Board, Inline, Plan, PlanError, PlannerExecutor, Policy, Simulated, Tool, Toolbox
from planexec_lite.events import PlanProposed, PlanStarted, StepDone, StepStarted
from tests.rounds import few

pytestmark = pytest.mark.xdist_group("variations")  # the releases are carried out once
STEPS = len(tasks()["deploy"].plan.steps)


@pytest.fixture(scope="module")
def deployed() -> dict[str, Row]:
    """Each variation's release."""
    return {name: row(name, "deploy") for name in VARIATIONS}


SHOWING = ("trail", "flights", "bisect")
"""The worlds in which a result tells what comes next."""
STEPWISE = {"ReAct", "step by step", "plan-and-solve", "replan every step"}
"""Who looks at each result with the goal in view before anything else is done."""
ROUNDS = {"LLMCompiler", "orchestrator"}
"""Who looks at the results of some steps at a time."""


@pytest.mark.slow
@pytest.mark.parametrize("task", few([name for name in tasks() if name not in ("deploy", *SHOWING)], 2))
@pytest.mark.parametrize("variation", VARIATIONS)
def test_every_variation_reaches_a_goal_whose_way_is_known(variation: str, task: str) -> None:
    one = row(variation, task)
    assert (one.run.status, one.reached) == ("finished", True), one.run.reason


@pytest.mark.slow
@pytest.mark.parametrize("task", few(SHOWING, 2))
def test_who_sees_no_result_in_time_misses_a_goal_that_depends_on_it(task: str) -> None:
    on_task = {name: row(name, task) for name in VARIATIONS}
    reached = {name for name, one in on_task.items() if one.reached}
    # what is marked or written down can be put right in the next round, and what is booked can't
    assert reached == (STEPWISE if task == "flights" else STEPWISE | ROUNDS)
    calls = {name: one.figures.calls for name, one in on_task.items()}
    assert max(calls["ReWOO"], calls["vote"]) < min(calls[name] for name in reached)


@pytest.mark.slow
def test_who_looks_one_step_ahead_is_asked_once_a_step_and_once_more(deployed: dict[str, Row]) -> None:
    for name in ("ReAct", "step by step"):
        reasons = [event.reason for event in deployed[name].run.events if isinstance(event, PlanStarted)]
        assert reasons == ["first", *["horizon"] * STEPS]
        assert deployed[name].figures.workers == 1


@pytest.mark.slow
def test_rewoo_asks_twice_and_nothing_while_the_evidence_is_gathered(deployed: dict[str, Row]) -> None:
    run = deployed["ReWOO"].run
    asked = [event for event in run.events if getattr(event, "calls", ())]
    assert [type(event) for event in asked] == [PlanProposed, StepDone]
    assert isinstance(asked[-1], StepDone)
    assert (asked[-1].step, run.usage.calls) == ("solve", 2)


@pytest.mark.slow
def test_llm_compiler_starts_before_its_graph_is_written(deployed: dict[str, Row]) -> None:
    events = deployed["LLMCompiler"].run.events
    written = next(event.at for event in events if isinstance(event, PlanProposed))
    first = next(event for event in events if isinstance(event, StepStarted))
    assert first.at < written
    joined = [event for event in events if isinstance(event, PlanStarted)][-1]
    assert joined.reason == "horizon"
    assert joined.at == max(event.at for event in events if isinstance(event, StepDone))


@pytest.mark.slow
def test_one_model_on_a_single_thread_does_one_thing_at_a_time(deployed: dict[str, Row]) -> None:
    one, two = deployed["plan-and-execute"], deployed["planner-executor"]
    assert (one.figures.workers, two.figures.workers) == (1, 2)
    assert one.figures.calls == two.figures.calls
    assert {call.model for call in one.run.board.calls} == {"gpt-4o"}
    assert {call.model for call in two.run.board.calls} == {"gpt-4o", "gpt-4o-mini"}


@pytest.mark.slow
def test_what_an_executor_reads_grows_where_each_step_is_told_everything(deployed: dict[str, Row]) -> None:
    read = [
        event.calls[0].input_tokens for event in deployed["LangChain 2023"].run.events if isinstance(event, StepDone)
    ]
    assert read == sorted(read)
    assert read[-1] > 2 * read[0]


@pytest.mark.slow
def test_an_orchestrator_hands_out_a_few_tasks_a_round(deployed: dict[str, Row]) -> None:
    events = deployed["orchestrator"].run.events
    plans = [event.plan for event in events if isinstance(event, PlanProposed) and event.plan]
    assert [len(plan.steps) for plan in plans] == [4, 4, 0]
    assert {step.tool for plan in plans for step in plan.steps} == {None}


@pytest.mark.slow
def test_the_horizon_tells_the_names_apart(deployed: dict[str, Row]) -> None:
    whole = {name for name, one in deployed.items() if one.figures.complete}
    assert whole == set(VARIATIONS) - {"ReAct", "step by step", "LLMCompiler", "orchestrator"}


def test_a_list_without_numbers_is_no_plan() -> None:

    from mock_llm import MockLLM

    llm = MockLLM([{"name": "prose", "reply": {"text": "First I would look around."}}])
    planner = ListPlanner(llm.client(), lambda goal, lines: [])
    with pytest.raises(PlanError, match="no line of the answer has a number"):
        planner.plan("look around", Board(), Toolbox())


def plans(*goals: str) -> list[Plan]:
    """Plans of one, two, three … multiplications after one another."""
    steps = [
        {"id": n, "tool": "multiply", "params": {"a": 2, "b": 3}, "depends_on": [n - 1] if n > 1 else []}
        for n in range(1, len(goals) + 1)
    ]
    return [Plan.parse({"goal": goal, "steps": steps[: n + 1]}) for n, goal in enumerate(goals)]


class Says:
    """A planner that always says the same."""

    def __init__(self, said: Any) -> None:
        self.said = said

    def plan(self, goal: str, board: Board, tools: Toolbox) -> Plan:
        return Plan.parse(self.said)


def call(id: int, depends_on: Any = ()) -> dict[str, Any]:
    return {"id": id, "tool": "multiply", "params": {"a": 2, "b": id}, "depends_on": [*depends_on]}


TOOLS = tasks()["arithmetic"].world().tools


def test_the_quickest_valid_plan_wins() -> None:
    short, middle, long = plans("short", "middle", "long")
    invalid = short.changed(steps=[short.steps[0].model_copy(update={"tool": "guess"})])
    ballot = Ballot([Says(long), Says(invalid), Says(middle)], quickest(Simulated(4)))
    assert ballot.plan("g", Board(), TOOLS) == middle
    assert quickest(Inline())("g", [long, short, middle], TOOLS) == 1


def test_a_rehearsal_calls_nothing_and_goes_on_from_what_is_done() -> None:
    made = []

    def make(x: int) -> None:
        made.append(x)

    once = Tool(make, latency=3.0, effects="once")
    gated = {"id": 2, "tool": "make", "params": {"x": "{step_1_result}"}, "depends_on": [1], "gate": True}
    plan = Plan.parse([gated, {**gated, "id": 3, "depends_on": [1, 2]}])
    run = rehearsed(plan, Toolbox([once]), Simulated(4))
    assert (run.status, run.makespan, made) == ("finished", 6.0, [])
    late = Plan.parse([{"id": 1, "tool": "make", "params": {"x": 1}, "timeout": 2}])
    assert rehearsed(late, Toolbox([once]), Simulated()).status == "failed"
    assert quickest(Simulated())("g", [late, plan], Toolbox([once])) == 1


def test_a_vote_takes_the_plan_that_is_the_quickest_with_its_workers() -> None:
    task = tasks()["research"]
    runs = {slots: vote(model(task).client(), task.world().tools, Simulated(slots)).run(task.goal) for slots in (1, 4)}
    by_voter = {slots: max(len(step.depends_on) for step in run.plan.steps) for slots, run in runs.items()}
    assert by_voter[4] < by_voter[1]  # with one slot all take as long, and the first is a chain


def test_where_no_plan_is_valid_the_first_goes_back_to_be_repaired() -> None:
    (short,) = plans("short")
    invalid = short.changed(steps=[short.steps[0].model_copy(update={"tool": "guess"})])
    assert Ballot([Says("nothing"), Says(invalid)], quickest(Inline())).plan("g", Board(), TOOLS) == invalid


def test_where_nobody_wrote_a_plan_the_first_error_is_told() -> None:
    with pytest.raises(PlanError):
        Ballot([Says("nothing"), Says("at all")], quickest(Inline())).plan("g", Board(), TOOLS)
    with pytest.raises(ValueError, match="no planner was given"):
        Ballot([], quickest(Inline())).plan("g", Board(), TOOLS)


@pytest.mark.parametrize("name", VARIATIONS)
def test_a_variation_is_an_agent_whose_fields_can_be_replaced(name: str) -> None:
    from dataclasses import replace

    task = tasks()["arithmetic"]
    agent = VARIATIONS[name](model(task).client(), task.world().tools, Inline())
    assert isinstance(agent, PlannerExecutor)
    run = replace(agent, policy=Policy(max_repairs=0), workers=Simulated(2)).run(task.goal)
    assert task.reached(None, run)
