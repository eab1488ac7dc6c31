"""Idempotency keys: the same for all attempts of a call, in each process; different for different calls."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from planexec_lite import (
    Decision,
    Journal,
    Plan,
    PlannerExecutor,
    Policy,
    Pool,
    RuleEvaluator,
    RulePlanner,
    Run,
    Simulated,
    Tool,
    Toolbox,
    ToolExecutor,
    Verdict,
    execute,
    tool,
)
from planexec_lite.meter import idempotency_key
from tests.core.shapes import step


class Service:
    """Acts once for each key, even if its answer is lost."""

    def __init__(self, answers_lost: int = 0, interrupts: int = 0) -> None:
        self.acted: dict[str, str] = {}
        self.asked: list[str] = []
        self.answers_lost, self.interrupts = answers_lost, interrupts
        self.tools = Toolbox([Tool(self.send, effects="idempotent", latency=1.0), Tool(self.look, effects="none")])

    def send(self, name: str, slowly: bool = False) -> str:
        """Send it, once for each key."""
        key = idempotency_key()
        assert key is not None
        self.asked.append(key)
        self.acted.setdefault(key, name)
        if self.interrupts:
            self.interrupts -= 1
            raise KeyboardInterrupt
        if self.answers_lost:
            self.answers_lost -= 1
            raise ConnectionError("the answer was lost")
        return name

    def look(self) -> str | None:
        """Say which key a call has that changes nothing."""
        return idempotency_key()


def send(id: str, *after: str, **more: object) -> dict[str, object]:
    return step(id, "send", *after, **({"name": "parcel"} | more))


def run_of(service: Service, *steps: dict[str, object], **settings: object) -> Run:
    return execute(Plan.parse(list(steps)), ToolExecutor(service.tools), **settings)  # type: ignore[arg-type]


def test_a_retry_has_the_key_of_the_first_attempt() -> None:
    service = Service(answers_lost=2)
    run = run_of(service, send("1", retries=2), workers=Simulated())
    assert (run.status, len(service.asked), service.acted) == ("finished", 3, {service.asked[0]: "parcel"})


def test_another_step_run_or_parameter_has_another_key() -> None:
    service = Service()
    run_of(service, send("1"), send("2"), send("3", "1", name="{step_1_result}s"), workers=Simulated())
    run_of(service, send("1"))
    assert len(set(service.asked)) == 4
    assert {len(key) for key in service.asked} == {32}


def test_a_step_without_effects_and_a_plain_call_have_no_key() -> None:
    assert run_of(Service(), step("1", "look")).results == {"1": None}
    assert idempotency_key() is None


def test_the_key_outlives_the_process(tmp_path: Path) -> None:
    journal, service = Journal(tmp_path / "runs.db"), Service(interrupts=1)
    with pytest.raises(KeyboardInterrupt):
        run_of(service, send("1"), journal=journal)
    run = PlannerExecutor(None, ToolExecutor(service.tools)).resume(journal.load(1))
    assert (run.status, len(service.asked), len(service.acted)) == ("finished", 2, 1)


def test_a_run_inside_that_paused_and_was_cut_off_then_has_the_same_keys(tmp_path: Path) -> None:
    journal, service = Journal(tmp_path / "runs.db"), Service(interrupts=1)
    inner = PlannerExecutor(RulePlanner(lambda goal: [send("1") | {"gate": True}]), ToolExecutor(service.tools))
    middle = PlannerExecutor(RulePlanner(lambda goal: [{"id": "1", "description": "send"}]), inner)
    outer = PlannerExecutor(None, middle)
    run = execute(Plan.parse([{"id": "1", "description": "send"}]), middle, journal=journal)
    with pytest.raises(KeyboardInterrupt):
        outer.resume(run, Decision("approve", by="Ada"))
    run = outer.resume(journal.load(1))
    if run.status == "paused":
        run = outer.resume(run, Decision("approve", by="Ada"))
    assert (run.status, len(service.asked), len(service.acted)) == ("finished", 2, 1)


@tool(effects="idempotent")
def told() -> str | None:
    """Say the key."""
    return idempotency_key()


def test_the_key_goes_with_the_step_to_another_process() -> None:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as processes:
        run = execute(Plan.parse([step("1", "told")]), ToolExecutor(Toolbox([told])), workers=Pool(processes))
    assert len(run.results["1"]) == 32


def test_an_undo_has_a_key_of_its_own() -> None:
    service = Service()
    undone = send("1") | {"undo": {"tool": "send", "params": {"name": "parcel"}}}
    run = run_of(service, undone, send("2", "1"))
    PlannerExecutor(None, ToolExecutor(service.tools)).roll_back(run)
    assert len(service.asked) == len(set(service.asked)) == 3


def test_what_is_done_again_because_it_was_judged_has_another_key() -> None:
    service, verdicts = Service(), [Verdict("retry", "do it again"), Verdict("accept")]
    judge = RuleEvaluator(lambda step, result: verdicts.pop(0))
    run = run_of(service, send("1", retries=1, success_criteria="sent well"), evaluator=judge)
    assert (run.status, len(service.acted)) == ("finished", 2)


AGAIN: dict[str, list[dict[str, object]]] = {
    "the same step": [send("1"), step("look", "look", "1")],
    "another id": [send("parcel_again"), step("look", "look", "parcel_again")],
    "another description": [send("2", description="Send the parcel now")],
    "a look before it": [step("look", "look"), send("2", "look")],
    "a default written out": [send("2", slowly=False), step("look", "look", "2")],
    "the argument by reference": [step("name", "spell"), send("2", "name", name="{step_name_result}")],
}


@pytest.mark.parametrize("again", AGAIN)
def test_a_later_plan_that_makes_the_call_again_has_its_key(again: str) -> None:
    service = Service(answers_lost=1)
    tools = Toolbox([*service.tools, Tool(lambda: "parcel", name="spell", effects="none")])
    plans = iter([[send("1")], AGAIN[again]])
    run = PlannerExecutor(
        RulePlanner(lambda goal: next(plans)), ToolExecutor(tools), policy=Policy(replan="failure")
    ).run("send")
    assert (run.status, len(service.asked), len(service.acted)) == ("finished", 2, 1)


@pytest.mark.parametrize("lost", [1, 2])
def test_of_two_equal_calls_that_were_lost_each_is_made_once(lost: int) -> None:
    service = Service(answers_lost=lost)
    plans = iter([[send("1"), send("2")], [step("look", "look"), *[send("3"), send("4")][:lost]]])
    planner, policy = RulePlanner(lambda goal: next(plans)), Policy(replan="failure")
    run = PlannerExecutor(planner, ToolExecutor(service.tools), workers=Simulated(2), policy=policy).run("send")
    assert (run.status, len(service.asked), len(service.acted)) == ("finished", 2 + lost, 2)
