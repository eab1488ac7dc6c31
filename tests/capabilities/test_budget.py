"""Budgets: at each bound the run pauses or stops, and a larger budget lets it continue."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planexec_lite import (
    ApproveAll,
    AskPerson,
    Budget,
    Decision,
    HybridExecutor,
    Journal,
    Plan,
    PlannerExecutor,
    Policy,
    Pool,
    Run,
    Simulated,
    Toolbox,
    ToolExecutor,
    tool,
)
from planexec_lite.capabilities.budget import used
from planexec_lite.meter import ModelCall, charge
from planexec_lite.plan import Step
from planexec_lite.run import events as e
from tests.core.agents import agent_for, carry_out
from tests.core.shapes import Job, Portions, Workshop, jobs, plan_of, starts, step
from tests.rounds import rounds

CALL = ModelCall("gpt-4o-mini", 800, 200, 1.0)


class Thinking:
    """An executor that calls a model once for each step."""

    def __init__(self, tools: Toolbox) -> None:
        self.tools = tools

    def execute(self, one: Step, inputs: Any) -> str:
        charge(2.0, CALL)
        return one.id


@tool(latency=2.0, effects="none")
def work(fails: bool = False) -> str:
    if fails:
        raise RuntimeError("no")
    return "ok"


TOOLS = Toolbox([work])
FIVE = Plan.parse([step(str(n), "work", *([str(n - 1)] if n > 1 else [])) for n in range(1, 6)])


class Asked(Portions):
    """A planner that makes a model call for each plan."""

    def plan(self, *given: Any) -> Plan:
        charge(1.0, CALL)
        return super().plan(*given)


def agent(budget: Budget, *plans: Any, thinking: bool = False, **more: Any) -> PlannerExecutor:
    planner = Asked(*plans or [FIVE])
    return agent_for(Thinking(TOOLS) if thinking else TOOLS, planner, workers=Simulated(3), budget=budget, **more)


def approve(**more: Any) -> Decision:
    return Decision("approve", "Ann", budget=Budget(**more))


@pytest.mark.parametrize("bound", [0, 1, 4])
def test_no_more_steps_start_than_the_budget_allows(bound: int, tmp_path: Path) -> None:
    journal = Journal(tmp_path / "runs.db")
    one = agent(Budget(steps=bound), reviewer=ApproveAll(), journal=journal)  # the reviewer can't grant a budget
    run = one.run("go")
    assert (run.status, len(starts(run)), len(run.results)) == ("paused", bound, bound)
    assert run.reason == f"waits for more budget: {bound} of {bound} step{'' if bound == 1 else 's'} used"
    assert one.resume(run).status == "paused"
    run = one.resume(journal.load(1), approve(steps=1))
    assert len(starts(run)) == bound + 1
    run = one.resume(journal.load(1), approve(steps=100)) if run.status == "paused" else run
    assert (run.status, len(starts(run))) == ("finished", 5)
    assert Run(list(run.events)).board == run.board


@pytest.mark.parametrize(
    ("budget", "used"),
    [
        (Budget(model_calls=3), "3 of 3 model calls"),
        (Budget(tokens=2_500), "3,000 of 2,500 tokens"),
        (Budget(dollars=0.0006), "$0.0007 of $0.0006"),
        (Budget(seconds=4), "5 of 4 s"),
    ],
    ids=["model calls", "tokens", "dollars", "seconds"],
)
def test_the_cost_of_models_and_time_is_bounded(budget: Budget, used: str) -> None:
    run = agent(budget, thinking=True).run("go")
    assert run.reason == f"waits for more budget: {used} used"
    assert len(run.results) == 2
    stopped = agent(budget, thinking=True, over_budget="stop").run("go")
    assert (stopped.status, stopped.reason) == ("stopped", f"the budget is used up: {used}")


def test_an_approval_says_how_much_of_each_used_up_bound() -> None:
    one = agent(Budget(steps=2, seconds=5))
    run = one.run("go")
    for decision in (Decision("approve"), approve(tokens=5), approve(steps=3), approve(steps=3, seconds=0)):
        with pytest.raises(ValueError, match=r"of 2 steps.*say how much: Decision\(\"approve\", budget=Budget\("):
            one.resume(run, decision)
    assert one.resume(run, approve(steps=9, seconds=90)).status == "finished"
    waits = agent_for(TOOLS, FIVE, reviewer=AskPerson())
    with pytest.raises(ValueError, match="a budget answers a question about a budget, and this run waits for approval"):
        waits.resume(waits.run("go"), approve(steps=2))


def nested(budget: Budget, inner: Policy, over: Any = "pause") -> PlannerExecutor:
    """A run whose two steps are runs of two steps, each of which asks a model."""
    inside = agent_for(Thinking(TOOLS), [step("a", "work"), step("b", "work", "a")], policy=inner)
    plan = [step("1", None, description="first"), step("2", None, "1", description="second")]
    executor = HybridExecutor(ToolExecutor(TOOLS), inside)
    return agent_for(executor, Asked(plan), budget=budget, over_budget=over)


@pytest.mark.parametrize("bound", [1, 3, 5])
def test_nested_runs_use_the_budget_of_the_outer_run(bound: int) -> None:
    one = nested(Budget(model_calls=bound), Policy())
    run = one.run("go")
    grants = 0
    while run.status == "paused":
        assert len(run.board.calls) <= bound + grants
        run = one.resume(run, approve(model_calls=1))
        grants += 1
    assert (run.status, len(run.board.calls), grants) == ("finished", 5, 5 - bound)
    assert sum(isinstance(event, e.StepStarted) for event in run.inside("2").events) == 2


@pytest.mark.parametrize("slots", [1, 2])
def test_parallel_nested_runs_stay_within_the_model_calls(slots: int) -> None:
    inner = agent_for(Thinking(TOOLS), Asked([step(n, "work") for n in "abcdef"]), workers=Simulated(1))
    outer = Asked([step("1", None), step("2", None), step("3", None)])  # its planner uses one call
    run = agent_for(inner, outer, workers=Simulated(slots), budget=Budget(model_calls=5)).run("go")
    inside = [call for event in run.events if isinstance(event, e.StepPaused | e.StepFailed) for call in event.calls]
    assert (run.status, run.board.in_flight) == ("paused", {})
    assert (len(inside), len(run.board.calls)) == (4, 5)
    assert [event.step for event in run.events if isinstance(event, e.StepStarted)] == ["1"]


def test_a_nested_run_has_its_own_budget() -> None:
    one = nested(Budget(), Policy(budget=Budget(steps=1)))
    run = one.run("go")
    assert run.reason == "waits for more budget inside step 1: 1 of 1 step used"
    with pytest.raises(ValueError, match=r"say how much: Decision\(\"approve\", budget=Budget\(steps=…\)\)"):
        one.resume(run, Decision("approve"))
    assert one.resume(run, Decision("roll back")).status == "rolled back"
    run = one.resume(run, approve(steps=1))
    assert run.reason.startswith("waits for more budget inside step 2")
    assert one.resume(run, approve(steps=1)).status == "finished"
    assert one.resume(run, Decision("reject", "Ann")).status == "stopped"


def test_a_nested_run_stops_when_the_outer_budget_is_used_up() -> None:
    run = nested(Budget(model_calls=2), Policy(), over="stop").run("go")
    assert (run.status, len(run.board.calls)) == ("failed", 2)
    assert "the run inside stopped: the budget is used up: 1 of 1 model call" in run.reason


@given(jobs(most=7), st.integers(0, 4), st.integers(1, 3))
@rounds(100)
def test_pauses_for_a_budget_change_nothing_but_the_time(work: list[Job], bound: int, slots: int) -> None:
    plan, workers = plan_of(work), Simulated(slots)
    free = carry_out(plan, Workshop().toolbox, workers)
    one = agent_for(Workshop().toolbox, workers=workers, budget=Budget(steps=bound))
    run = Run([e.RunStarted(0.0, "", False, False), e.PlanProposed(0.0, plan)])
    run, granted = one.resume(run), bound
    while run.status == "paused":
        assert used(run.board, "steps") == granted
        run, granted = one.resume(run, approve(steps=2)), granted + 2
    assert (run.status, run.results, run.board.state) == (free.status, free.results, free.board.state)
    assert Run(list(run.events)).board == run.board


def test_models_in_parallel_steps_stay_within_the_budget() -> None:
    class Asks:
        tools = TOOLS

        def execute(self, step: Any, inputs: Any) -> str:
            for _ in range(3):
                charge(call=ModelCall("m", 1, 1))
            return "done"

    plan = [step(str(n), None) for n in range(4)]
    with ThreadPoolExecutor(4) as threads:
        run = carry_out(plan, Asks(), Pool(threads), budget=Budget(model_calls=5))
    assert len(run.board.calls) <= 5


class Counts:
    """Steps named m ask a model three times, the others never."""

    tools = TOOLS

    def most_model_calls(self, step: Any) -> int:
        return 3 if step.id.startswith("m") else 0

    def execute(self, step: Any, inputs: Any) -> str:
        for _ in range(self.most_model_calls(step)):
            charge(0.0, ModelCall("m", 1, 1))
        charge(10.0 if step.id.startswith("m") else 1.0)
        return "done"


def test_steps_that_need_no_model_do_not_wait_for_the_budget_of_models() -> None:
    plan = [step(id, None, description=id) for id in ("m1", "m2", "c", "d")]
    run = agent_for(Counts(), plan, workers=Simulated(4), budget=Budget(model_calls=6)).run("go")
    starts = {event.step: event.at for event in run.events if isinstance(event, e.StepStarted)}
    assert starts == {"m1": 0.0, "m2": 0.0, "c": 0.0, "d": 0.0}
    run = agent_for(Counts(), plan, workers=Simulated(4), budget=Budget(model_calls=4)).run("go")
    starts = {event.step: event.at for event in run.events if isinstance(event, e.StepStarted)}
    assert (starts["m1"], starts["c"], starts["d"]) == (0.0, 0.0, 0.0)
    assert starts["m2"] == 10.0


def test_a_step_that_needs_many_model_calls_is_not_overtaken_for_ever() -> None:
    class Sizes(Counts):
        def most_model_calls(self, step: Any) -> int:
            return int(step.description)

    sizes = [("a", 2), ("big", 4), *((f"s{number}", 1) for number in range(5))]
    plan = [step(id, None, description=str(size)) for id, size in sizes]
    run = agent_for(Sizes(), plan, workers=Simulated(4), budget=Budget(model_calls=5)).run("go")
    started = [event.step for event in run.events if isinstance(event, e.StepStarted)]
    assert started[:2] == ["a", "big"]
