"""What a run inside a step did is never forgotten: after a crash, a new plan under the same id, a timeout, a second rollback."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from planexec_lite import (
    AskPerson,
    Budget,
    Decision,
    Journal,
    Plan,
    PlannerExecutor,
    Policy,
    RuleEvaluator,
    Run,
    Simulated,
    Toolbox,
    ToolExecutor,
    Verdict,
    progress,
    tool,
)
from planexec_lite.assembly import Board
from planexec_lite.core import IllegalTransition
from planexec_lite.events import Ended, Paused, PlanProposed, PlanStarted, RunStarted, StepDone, StepStarted
from planexec_lite.meter import ModelCall, charge, idempotency_key
from tests.core.shapes import Portions, check_fold, step

UNDO = {"tool": "refund", "params": {"name": "x"}}
PAY = step("1", "pay", name="x") | {"undo": UNDO}
PUT = step("2", "put", "1", name="y")


class World:
    """What was called, with its idempotency key. The call `cut` is interrupted right after it, once."""

    def __init__(self, cut: str = "") -> None:
        self.calls: list[str] = []
        self.keys: dict[str, list[str | None]] = {}
        self.cut = cut

        @tool(effects="once", latency=1.0)
        def pay(name: str) -> str:
            return self.note(f"pay {name}")

        @tool(effects="once")
        def refund(name: str) -> str:
            return self.note(f"refund {name}")

        @tool(effects="idempotent", latency=1.0)
        def put(name: str) -> str:
            return self.note(f"put {name}")

        @tool(latency=9.0)
        def mail(name: str) -> str:
            return self.note(f"mail {name}")

        self.tools = Toolbox([pay, refund, put, mail])

    def note(self, call: str) -> str:
        self.calls.append(call)
        self.keys.setdefault(call, []).append(idempotency_key())
        if call == self.cut:
            self.cut = ""
            raise KeyboardInterrupt
        return call

    def around(self, *inner: Any, outer: Any = None, **more: Any) -> PlannerExecutor:
        """An agent whose steps are runs of an agent with the plan `inner`."""
        below = PlannerExecutor(Portions([*inner]), ToolExecutor(self.tools), workers=Simulated())
        plan = outer or [step("1", None, description="settle")]
        return PlannerExecutor(Portions(plan), below, workers=Simulated(), **more)


def cut_off(agent: PlannerExecutor) -> Run:
    with pytest.raises(KeyboardInterrupt) as problem:
        agent.run("go")
    run: Run = problem.value.run  # type: ignore[attr-defined]
    return run


def test_a_run_inside_is_undone_though_another_step_took_its_id(tmp_path: Path) -> None:
    world, kept = World("put y"), Journal(tmp_path / "runs.db", "OFF")
    cut_off(world.around(PAY, PUT, journal=kept))
    other = world.around(PAY, PUT, outer=[step("1", None, description="something else")], journal=kept)
    run = other.roll_back(other.tell(kept.load(1), "news"))
    check_fold(run)
    assert (world.calls.count("pay x"), world.calls.count("refund x")) == (2, 2)
    assert len({*world.keys["refund x"]}) == 2
    assert "1/2 (interrupted; nobody knows whether it was done)" in run.reason


def test_the_undos_of_two_payments_have_two_keys() -> None:
    world, verdicts = World(), iter([Verdict("retry", "again"), Verdict("accept")])
    outer = [step("1", None, description="settle") | {"success_criteria": "good", "retries": 1}]
    agent = world.around(PAY, outer=outer, evaluator=RuleEvaluator(lambda step, result: next(verdicts)))
    agent.roll_back(agent.run("go"))
    assert (len({*world.keys["pay x"]}), len({*world.keys["refund x"]})) == (2, 2)


@pytest.mark.parametrize("resumed", [False, True])
def test_without_a_journal_the_step_is_named(resumed: bool) -> None:
    world = World("put y")
    agent = world.around(PAY, PUT)
    run = cut_off(agent)
    run = agent.roll_back(agent.resume(run) if resumed else run)
    assert run.reason == "asked for; nothing was undone; not undone: 1 (nobody knows whether it was done)"


def test_a_doubt_inside_is_named(tmp_path: Path) -> None:
    late = World().around(step("1", "mail", name="x") | {"timeout": 2.0})
    assert late.roll_back(late.run("go")).reason.endswith("not undone: 1/1 (nobody knows whether it was done)")
    world, kept = World("mail x"), Journal(tmp_path / "runs.db", "OFF")
    agent = world.around(step("1", "mail", name="x"), journal=kept)
    cut_off(agent)
    run = agent.roll_back(agent.resume(kept.load(1)))
    assert run.reason.endswith("not undone: 1/1 (nobody knows whether it was done)")


def test_an_undo_inside_that_was_cut_off_is_not_made_again() -> None:
    world = World()
    agent = world.around(step("1", "put", name="x") | {"undo": UNDO})
    done = agent.run("go")
    world.cut = "refund x"
    with pytest.raises(KeyboardInterrupt) as problem:
        agent.roll_back(done)
    run = agent.roll_back(agent.resume(problem.value.run))  # type: ignore[attr-defined]
    assert run.reason == "asked for; nothing was undone; not undone: 1 (it is unknown whether it was undone)"
    assert world.calls.count("refund x") == 1


def test_a_yes_is_for_one_call_also_after_a_crash() -> None:
    world = World()

    class Chooses:
        asks_models = chooses_calls = True
        tools = world.tools

        def execute(self, step: Any, inputs: Any) -> Any:
            return world.tools["pay"].call({"name": "x"})

    agent = PlannerExecutor(Portions([step("1", None)]), Chooses(), AskPerson(), workers=Simulated())
    run = agent.resume(agent.run("go"), Decision("approve"))
    world.cut = "pay x"
    with pytest.raises(KeyboardInterrupt) as problem:
        agent.resume(run, Decision("approve"))
    run = agent.resume(problem.value.run)  # type: ignore[attr-defined]
    run = agent.resume(run, Decision("not done"))
    assert run.reason == 'waits for gate of step 1: a model chose pay({"name": "x"})'
    assert world.calls == ["pay x"]


def test_a_plan_can_not_replace_a_step_that_runs() -> None:
    board = Board.of(
        [
            RunStarted(0.0, "go", True, False),
            PlanStarted(0.0, "first"),
            PlanProposed(0.0, Plan.parse([step("1", "put", name="x")])),
            StepStarted(0.0, "1"),
        ]
    )
    before = board.copy()
    with pytest.raises(IllegalTransition, match="step 1 can't supersede: it is running"):
        board.apply(PlanProposed(1.0, Plan.parse([step("9", "put", name="x")])))
    assert board == before


def test_a_planner_may_report_progress() -> None:
    def plan(goal: str) -> Any:
        progress(50)
        return [step("1", "put", name="x")]

    from planexec_lite import RulePlanner

    run = PlannerExecutor(RulePlanner(plan), ToolExecutor(World().tools), workers=Simulated()).run("go")
    assert run.status == "finished"


def test_a_step_that_did_not_begin_does_not_count_as_a_call() -> None:
    world, broken = World(), list[int]()

    def watch(run: Run) -> None:
        if run.board.in_flight and "1" in run.board.in_flight and not broken:
            broken.append(1)
            raise RuntimeError("no ink")

    plan = [step("1", "put", name="x")]
    policy = Policy(max_calls={"put": 1})
    agent = PlannerExecutor(Portions(plan), ToolExecutor(world.tools), workers=Simulated(), policy=policy, watch=watch)
    with pytest.raises(RuntimeError) as problem:
        agent.run("go")
    run = agent.resume(problem.value.run)  # type: ignore[attr-defined]
    assert (run.status, world.calls) == ("finished", ["put x"])


def test_steps_granted_to_a_run_inside_are_no_steps_of_the_run_around() -> None:
    world = World()
    bound = Policy(budget=Budget(steps=1))
    below = PlannerExecutor(
        Portions([step("a", "put", name="a"), step("b", "put", name="b")]),
        ToolExecutor(world.tools),
        workers=Simulated(),
        policy=bound,
    )
    plan = [step(str(n), None, description=str(n)) for n in (1, 2)]
    agent = PlannerExecutor(Portions(plan), below, workers=Simulated(1), policy=bound)
    run = agent.resume(agent.run("go"), Decision("approve", budget=Budget(steps=5)))
    assert run.reason == "waits for more budget: 1 of 1 step used"


def test_a_judge_beside_a_step_does_not_take_its_model_calls() -> None:
    class Asks:
        tools = World().tools

        def most_model_calls(self, step: Any) -> int:
            return int(step.id)

        def execute(self, step: Any, inputs: Any) -> str:
            for _ in range(int(step.id)):
                charge(2.0, ModelCall("m", 1, 1))
            return "done"

    def judge(step: Any, result: Any) -> bool:
        charge(1.0, ModelCall("m", 1, 1))
        return True

    plan = [step("1", None) | {"success_criteria": "good"}, step("2", None)]
    policy = Policy(budget=Budget(model_calls=3))
    judged = RuleEvaluator(judge)
    agent = PlannerExecutor(Portions(plan), Asks(), evaluator=judged, workers=Simulated(2), policy=policy)
    run = agent.run("go")
    assert (run.status, len(run.board.calls), run.reason) == (
        "paused",
        3,
        "waits for more budget: 3 of 3 model calls used",
    )


def test_a_step_that_an_evaluator_changed_repeats_no_call_unseen() -> None:
    world = World()
    paid = step("1", "pay", name="x")
    put = step("2", "put", "1", name="y") | {"success_criteria": "good", "retries": 1}
    changed = Plan.parse([put | {"tool": "pay", "params": {"name": "x"}}]).steps[0]
    verdicts = iter([Verdict("modify", "pay instead", changed), Verdict("accept")])
    judge = RuleEvaluator(lambda step, result: next(verdicts))
    run = PlannerExecutor(Portions([paid, put]), ToolExecutor(world.tools), evaluator=judge, workers=Simulated()).run(
        "go"
    )
    assert (run.status, world.calls) == ("failed", ["pay x", "put y"])
    assert "step 1 already made this call" in run.board.errors["2"]


def test_a_judge_may_want_the_same_call_again() -> None:
    world, verdicts = World(), iter([Verdict("retry", "again"), Verdict("accept")])
    plan = [step("1", "pay", name="x") | {"success_criteria": "good", "retries": 1}]
    judge = RuleEvaluator(lambda step, result: next(verdicts))
    run = PlannerExecutor(Portions(plan), ToolExecutor(world.tools), evaluator=judge, workers=Simulated()).run("go")
    assert (run.status, world.calls) == ("finished", ["pay x", "pay x"])


BEGUN = [
    RunStarted(0.0, "go", True, False),
    PlanStarted(0.0, "first"),
    PlanProposed(0.0, Plan.parse([step("1", "put", name="x"), step("2", "put", name="y")])),
    StepStarted(0.0, "1"),
]
IMPOSSIBLE: dict[str, tuple[list[Any], Any]] = {
    "the end, with work in flight": ([], Ended(1.0, "finished", "done")),
    "a pause, with work in flight": ([], Paused(1.0, "budget")),
    "a second beginning": ([], RunStarted(1.0, "go", True, False)),
    "the planner twice": ([PlanStarted(1.0, "news")], PlanStarted(1.0, "news")),
    "a step while a person is asked": ([StepDone(1.0, "1", 1), Paused(1.0, "budget")], StepStarted(1.0, "2")),
    "a step after the end": ([StepDone(1.0, "1", 1), Ended(1.0, "stopped", "x")], StepStarted(1.0, "2")),
    "the planner after the end": ([StepDone(1.0, "1", 1), Ended(1.0, "stopped", "x")], PlanStarted(1.0, "news")),
    "a second end": ([StepDone(1.0, "1", 1), Ended(1.0, "stopped", "x")], Ended(1.0, "stopped", "x")),
}


@pytest.mark.parametrize("what", IMPOSSIBLE)
def test_what_can_not_happen_in_any_run_changes_nothing(what: str) -> None:
    before, event = IMPOSSIBLE[what]
    board = Board.of([*BEGUN, *before])
    stands = board.copy()
    with pytest.raises(
        IllegalTransition, match=r"can't happen: (it is in flight|work is in flight|the run has|the run waits)"
    ):
        board.apply(event)
    assert board == stands
