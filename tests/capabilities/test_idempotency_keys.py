"""Idempotency keys: one for each call, also after a crash; and tools without declared effects."""

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import planexec_lab.worlds
from planexec_lite import Decision, Journal, Plan, Simulated, Tool, Toolbox, Verdict, execute, tool
from planexec_lite.meter import charge, idempotency_key
from tests.core.agents import agent_for, carry_out
from tests.core.shapes import step


class Service:
    """Acts once for each key, even if its answer is lost."""

    def __init__(self, answers_lost: int = 0, interrupts: int = 0) -> None:
        self.acted: dict[str, str] = {}
        self.asked: list[str] = []
        self.answers_lost, self.interrupts = answers_lost, interrupts
        others = [Tool(self.look, effects="none"), Tool(lambda: "parcel", name="spell", effects="none")]
        self.tools = Toolbox([Tool(self.send, effects="idempotent", latency=1.0), *others])

    def send(self, name: str, slowly: bool = False) -> str:
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
        """Return the key of a call without effects."""
        return idempotency_key()


def send(id: str, *after: str, **more: Any) -> dict[str, Any]:
    return step(id, "send", *after, **({"name": "parcel"} | more))


def test_a_retry_has_the_same_key_unless_a_judge_asked_for_it() -> None:
    service = Service(answers_lost=2)
    carry_out([send("1", retries=2)], service.tools)
    assert (len(service.asked), service.acted) == (3, {service.asked[0]: "parcel"})
    verdicts = [Verdict("retry", "do it again"), Verdict("accept")]
    service = Service()
    carry_out([send("1", retries=1, success_criteria="sent well")], service.tools, evaluator=lambda *_: verdicts.pop(0))
    assert len(service.acted) == 2


def test_a_call_whose_late_result_arrived_is_done_though_its_retry_fails() -> None:
    keys: list[str] = []

    @tool(effects="idempotent")
    def send(name: str) -> str:
        keys.append(str(idempotency_key()))
        charge([6.0, 4.0, 0.0][len(keys) - 1])
        if len(keys) == 2:
            raise ConnectionError("the answer was lost")
        return name

    @tool(latency=20.0, effects="none")
    def rest() -> None:
        """Let the late result arrive."""

    first = step("1", "send", name="parcel", timeout=4.5, retries=1)
    run = carry_out([first, step("2", "rest"), step("3", "send", "2", name="parcel")], [send, rest], Simulated())
    assert (run.board.state["1"], run.board.state["3"]) == ("failed", "done")
    assert keys[0] == keys[1] != keys[2], "the second parcel is another call"


def test_another_step_run_or_parameter_or_an_undo_has_another_key() -> None:
    service = Service()
    undo = {"tool": "send", "params": {"name": "parcel"}}
    run = carry_out([send("1", undo=undo), send("2"), send("3", "1", name="{step_1_result}s")], service.tools)
    carry_out([send("1")], service.tools)
    agent_for(service.tools).roll_back(run)
    assert len(service.asked) == len(set(service.asked)) == 5
    assert {len(key) for key in service.asked} == {32}
    # a step without effects and a plain call have none
    assert carry_out([step("1", "look")], Service().tools).results == {"1": None}
    assert idempotency_key() is None


def test_a_nested_run_that_paused_keeps_its_key_after_a_crash(tmp_path: Path) -> None:
    journal, service = Journal(tmp_path / "runs.db"), Service(interrupts=1)
    task = [step("1", None, description="send")]
    middle = agent_for(agent_for(service.tools, [send("1", gate=True)]), task)
    outer, yes = agent_for(middle), Decision("approve", by="Ada")
    run = execute(Plan.parse(task), middle, journal=journal)
    with pytest.raises(KeyboardInterrupt):
        outer.resume(run, yes)
    run = outer.resume(journal.load(1))
    run = outer.resume(run, yes) if run.status == "paused" else run
    assert (run.status, len(service.asked), len(service.acted)) == ("finished", 2, 1)


AGAIN: dict[str, list[dict[str, Any]]] = {
    "another id": [send("parcel_again"), step("look", "look", "parcel_again")],
    "another description": [send("2", description="Send the parcel now")],
    "a look before it": [step("look", "look"), send("2", "look")],
    "a default written out": [send("2", slowly=False), step("look", "look", "2")],
    "the argument by reference": [step("name", "spell"), send("2", "name", name="{step_name_result}")],
    "its id for a step without effects": [step("1", "look"), send("2", "1")],
}


@pytest.mark.parametrize("again", AGAIN)
def test_the_same_call_in_a_later_plan_has_the_same_key(again: str) -> None:
    service = Service(answers_lost=1)
    run = agent_for(service.tools, [send("1")], AGAIN[again], replan="failure").run("send")
    assert (run.status, len(service.asked), len(service.acted)) == ("finished", 2, 1)


@pytest.mark.parametrize("lost", [1, 2])
def test_two_equal_calls_whose_answers_were_lost_are_made_once_each(lost: int) -> None:
    service = Service(answers_lost=lost)
    plans = [send("1"), send("2")], [step("look", "look"), *[send("3"), send("4")][:lost]]
    run = agent_for(service.tools, *plans, workers=Simulated(2), replan="failure").run("send")
    assert (run.status, len(service.asked), len(service.acted)) == ("finished", 2 + lost, 2)


def acting(effects: Any, failures: int = 0) -> tuple[list[int], Tool]:
    """Return a tool that fails `failures` times, and the list of its calls."""
    calls: list[int] = []

    def act() -> str:
        calls.append(1)
        if len(calls) <= failures:
            raise ConnectionError("no answer")
        return "done"

    return calls, Tool(act, **({"effects": effects} if effects else {}))


@pytest.mark.parametrize(
    ("effects", "own", "policy", "calls"),
    [(None, 0, 2, 1), (None, 2, 0, 2), ("none", 0, 2, 2), ("idempotent", 0, 2, 2), ("once", 0, 2, 1)],
)
def test_a_tool_without_declared_effects_is_retried_only_if_the_step_says_so(
    effects: Any, own: int, policy: int, calls: int
) -> None:
    made, act = acting(effects, failures=1)
    carry_out([step("1", "act", retries=own)], [act], retries=policy)
    assert len(made) == calls


def test_an_undeclared_call_is_no_repeat_of_a_call_that_its_step_declared() -> None:
    made, act = acting(None)
    plans = {"steps": [step("1", "act", effects="once")], "complete": False}, [step("2", "act")]
    run = agent_for([act], *plans).run("act")
    assert (run.status, len(made)) == ("failed", 1), "the same call would be made again"


@pytest.mark.parametrize(("effects", "status"), [(None, "finished"), ("once", "failed")])
def test_a_call_without_declared_effects_can_be_repeated_in_a_later_plan(effects: Any, status: str) -> None:
    plans = {"steps": [step("1", "act")], "complete": False}, [step("2", "act")]
    assert agent_for([acting(effects)[1]], *plans).run("act").status == status


WORLDS = {one.parent.name for one in Path(planexec_lab.worlds.__file__).parent.glob("*/world.py")}


@pytest.mark.parametrize("name", [*sorted(WORLDS - {"strangers"}), "arithmetic"])  # strangers: tools of a server
def test_each_tool_of_a_world_declares_its_effects(name: str) -> None:
    module = import_module(f"planexec_lab.worlds.{name}")
    tools = module.TOOLS if name == "arithmetic" else module.World(*["09:41"] * (name == "clock")).tools
    assert [tool.name for tool in tools if tool.effects == "unknown"] == []
