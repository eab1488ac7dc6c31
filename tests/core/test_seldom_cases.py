"""Cases that happen seldom, and that did harm once: each is one short story."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import pytest

from planexec_lite import (
    AskPerson,
    Decision,
    HybridExecutor,
    Journal,
    PlannerExecutor,
    RulePlanner,
    Run,
    Simulated,
    Tool,
    Toolbox,
    ToolExecutor,
    Verdict,
)
from planexec_lite.capabilities.once_calls import known_calls
from planexec_lite.core import Event, Job
from planexec_lite.meter import charge
from planexec_lite.model.answer import Reading
from planexec_lite.run.events import OuterKnown
from planexec_lite.tools import KnownCall
from tests.core.agents import Fitting, agent_for, carry_out
from tests.core.shapes import step
from tests.core.world import World, nested_in

WORK = [{"id": "1", "tool": "work"}]


def test_a_rollback_lists_the_nested_step_that_a_person_vouched_for() -> None:
    paid: list[int] = []

    def pay(n: int) -> int:
        paid.append(n)
        raise KeyboardInterrupt  # just after the payment

    inside = [{"id": "i", "tool": "pay", "params": {"n": 1}, "gate": True}]
    tools = Toolbox([Tool(pay, effects="once")])
    inner = PlannerExecutor(RulePlanner(lambda _goal: inside), ToolExecutor(tools), workers=Simulated())
    around: list[dict[str, Any]] = [{"id": "a", "description": "pay it"}]
    outer = PlannerExecutor(RulePlanner(lambda _goal: around), inner, workers=Simulated())
    run = outer.run("pay")
    assert run.question is not None
    with pytest.raises(KeyboardInterrupt) as stopped:
        outer.resume(run, run.question.decide("approve"))
    interrupted: Run = stopped.value.run  # type: ignore[attr-defined]
    run = outer.resume(interrupted)
    assert run.question is not None
    assert run.question.kind == "doubt"
    run = outer.roll_back(outer.resume(run, run.question.decide("done", result="paid")))
    assert (run.status, paid) == ("rolled back", [1])
    assert "not undone: a (no undo of its own)" in run.reason


@pytest.mark.parametrize(("tool", "undone"), [("put", 1), ("mail", 2)])
def test_equal_work_of_two_attempts_inside_is_undone_once(tool: str, undone: int) -> None:
    world = World(broken={"bad"})
    undo = {"tool": "take_back", "params": {"name": "x"}}
    below = [step("a", tool, name="x") | {"undo": undo}, step("b", "put", "a", name="bad")]
    agent = nested_in(world, None, *below, outer=[step("1", None, description="A") | {"retries": 1}])
    run = agent.roll_back(agent.run("go"))
    assert (world.done.count("x"), world.done.count("undo x")) == (2, undone)
    assert run.status == "rolled back"


def test_the_undo_of_a_step_replaces_those_inside_all_its_attempts() -> None:
    world = World(cut="b", problem=RuntimeError)
    inside = step("a", "put", name="x") | {"undo": {"tool": "take_back", "params": {"name": "x"}}}
    undo = {"tool": "refund", "params": {"name": "all"}}
    outer = step("1", None, description="A") | {"retries": 1, "undo": undo}
    agent = nested_in(world, None, inside, step("b", "put", "a", name="b"), outer=[outer])
    run = agent.roll_back(agent.run("go"))
    assert (run.status, world.done) == ("rolled back", ["x", "x", "b", "undo all"])


def test_a_failure_that_a_nested_run_has_undone_leaves_no_doubt() -> None:
    world = World(broken={"bad"})
    inside = step("a", "pay", name="x") | {"undo": {"tool": "refund", "params": {"name": "x"}}}
    below = world.agent([inside, step("b", "put", "a", name="bad")], rollback="failed")
    agent = agent_for(below, [step("1", None, description="A")])
    failed = agent.run("go")
    run = agent.roll_back(failed)
    assert (run.status, run.reason) == ("rolled back", "requested; nothing was undone")
    assert world.done == ["x", "bad", "undo x"]


def test_a_nested_run_learns_that_a_call_around_it_was_made() -> None:
    known = [KnownCall("pay", 0, state, once=True, by="step 1") for state in ("open", "done", "doubt")]
    board = Run().board
    for one in known:
        board.apply(OuterKnown(0.0, (one,)))
    assert known_calls(board) == (known[1],)


def test_an_interrupted_nested_step_that_a_plan_drops_stays_in_doubt(tmp_path: Path) -> None:
    world, journal, inside = World(cut="x"), Journal(tmp_path / "runs.db"), step("i", "put", name="x")
    with pytest.raises(KeyboardInterrupt):
        nested_in(world, journal, inside).run("go")
    other = nested_in(world, journal, inside, outer=[step("2", None, description="something else")])
    run = other.tell(journal.load(1), "news")
    states = {known.by: known.state for known in known_calls(run.board) if known.once}
    assert states == {"step 1": "doubt", "step 2": "done"}


def test_a_nested_run_that_paused_is_rolled_back_once() -> None:
    world = World(broken={"bad"})
    inside = step("a", "put", name="x") | {"undo": {"tool": "take_back", "params": {"name": "x"}}}
    below = world.agent([inside, step("b", "look", "a", name="b", gate=True)])
    plan = [step("1", None, description="A"), step("2", "put", "1", name="bad")]
    agent = agent_for(HybridExecutor(ToolExecutor(world.tools), below), plan, rollback="failed")
    run = agent.resume(agent.run("go"), Decision("approve"))
    assert run.reason.endswith("; undone: 1/a")
    assert world.done == ["x", "b", "bad", "undo x"]


def test_a_call_inside_that_a_person_says_was_not_made_is_made_again() -> None:
    sent: list[str] = []

    def send(name: str) -> str:
        sent.append(name)
        if len(sent) == 1:
            raise ValueError("the line broke")
        return name

    tools = Toolbox([Tool(send, effects="once")])
    inner = agent_for(tools, [step("1", "send", name="a")])
    outer = [step("1", None, description="send it") | {"effects": "once"}]
    agent = agent_for(HybridExecutor(ToolExecutor(Toolbox([])), inner), outer, reviewer=AskPerson())
    run, kinds = agent.run("go"), []
    while (question := run.question) is not None and len(kinds) < 9:
        kinds.append(question.kind)
        run = agent.resume(run, question.decide("not done" if question.kind == "doubt" else "approve"))
    assert (run.status, sent, kinds.count("doubt")) == ("finished", ["a", "a"], 1)


def test_what_a_step_depends_on_stays_if_the_run_inside_was_undone_only_partly() -> None:
    world = World(broken={"bad", "undo y"})
    undos = [{"undo": {"tool": "take_back", "params": {"name": name}}} for name in "xy"]
    below = world.agent([step("a", "put", name="y") | undos[1]])
    plan = [
        step("1", "put", name="x") | undos[0],
        step("2", None, "1", description="A"),
        step("3", "put", "2", name="bad"),
    ]
    agent = agent_for(HybridExecutor(ToolExecutor(world.tools), below), plan, rollback="failed")
    run = agent.run("go")
    assert (run.status, "undo x" in world.done) == ("partly rolled back", False)
    assert "not undone: 2/a (RuntimeError: undo y is broken)" in run.reason


@pytest.mark.parametrize(("tool", "undone"), [("put", 1), ("mail", 2)])
def test_a_rejected_result_is_undone_once_if_the_next_is_the_same(tool: str, undone: int) -> None:
    world = World()
    verdicts = iter([Verdict("retry"), Verdict("accept")])
    undo = {"tool": "take_back", "params": {"name": "x"}}
    work = step("a", tool, name="x") | {"retries": 1, "success_criteria": "it stays", "undo": undo}
    agent = world.agent([work], evaluator=lambda step, result: next(verdicts))
    run = agent.roll_back(agent.run("go"))
    assert (run.status, world.done) == ("rolled back", ["x", "x"] + ["undo x"] * undone)


@pytest.mark.parametrize(("effects", "named"), [("once", True), ("idempotent", False)])
def test_a_run_that_ends_names_the_nested_run_that_was_interrupted(tmp_path: Path, effects: Any, named: bool) -> None:
    def wait() -> int:
        return 1

    def pay() -> int:
        raise KeyboardInterrupt  # it is unknown whether something was paid

    tools = ToolExecutor(Toolbox([Tool(wait, effects="none", latency=2.0), Tool(pay, effects=effects)]))
    below = PlannerExecutor(RulePlanner(lambda _goal: [step("i", "pay")]), tools, workers=Simulated())
    plan = [step("0", "wait"), step("1", None, "0", description="pay it")]
    around = HybridExecutor(tools, below)
    journal = Journal(tmp_path / "runs.db")
    with pytest.raises(KeyboardInterrupt):
        agent_for(around, plan, journal=journal).run("pay")
    run = agent_for(around, plan, journal=journal, deadline=1.0).resume(journal.load(1))
    words = "the deadline of 1 s has passed"
    assert run.reason == (f"{words}; nobody knows how far step 1 came" if named else words)


FORKED = """
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from planexec_lite import Pool, Tool, Toolbox, ToolExecutor, execute, Plan
pool = ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork"))
def add() -> int: return 2
def nested() -> int: return made("add", add)
def made(name, function):
    plan = Plan.parse([{"id": "1", "tool": name}])
    return execute(plan, ToolExecutor(Toolbox([Tool(function, effects="none")])), workers=Pool(pool)).results["1"]
print(made("nested", nested))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a copy of a pool comes from a fork")
def test_a_plan_of_a_step_on_a_pool_of_processes_runs_inline() -> None:
    done = subprocess.run([sys.executable, "-c", FORKED], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "2\n"


@pytest.mark.parametrize(("value", "data"), [({date(2026, 1, 2): 1}, {"2026-01-02": 1}), ({(1, 2): {3}}, {"1,2": [3]})])
def test_a_result_with_other_keys_than_texts_is_kept(value: object, data: object) -> None:
    def work() -> Any:
        return value

    run = carry_out(WORK, Toolbox([Tool(work, effects="once")]))
    assert (run.status, run.results) == ("finished", {"1": data})


@pytest.mark.parametrize("value", [{1: "a", "1": "b"}, [{date(2026, 1, 2): 1, "2026-01-02": 2}]])
def test_a_result_with_two_keys_that_are_the_same_in_json_is_refused(value: object) -> None:
    def work() -> Any:
        return value

    run = carry_out(WORK, Toolbox([Tool(work, effects="none")]))
    assert "two of its keys are the same in JSON" in run.reason


def piece(id: str | None, name: str | None, arguments: str, **more: Any) -> dict[str, Any]:
    return {"id": id, "function": {"name": name, "arguments": arguments}, **more}


@pytest.mark.parametrize(
    "chunks",
    [
        [[piece("a", "x", "{"), piece("b", "y", '{"m":')], [piece(None, None, "}"), piece(None, None, "2}")]],
        [[piece("b", "y", '{"m":2}', index=1)], [piece("a", "x", "{}", index=0)]],
        [[piece("a", "x", "{")], [piece(None, None, "}", index=0), piece("b", "y", '{"m":2}', index=1)]],
    ],
    ids=["without an index", "the second first", "an index later"],
)
def test_streamed_calls_keep_their_own_arguments(chunks: list[list[dict[str, Any]]]) -> None:
    reading = Reading(100)
    for calls in chunks:
        reading.add({"choices": [{"delta": {"tool_calls": calls}}]})
    reading.add({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]})
    assert [(call.name, call.arguments) for call in reading.answer().tool_calls] == [("x", "{}"), ("y", '{"m":2}')]


def test_a_run_with_the_name_of_another_file_leaves_that_file_alone(tmp_path: Path) -> None:
    def work() -> int:
        return 1

    journal, victim = Journal(tmp_path / "runs.db"), tmp_path / "victim"
    tools = Toolbox([Tool(work, effects="none")])
    carry_out(WORK, tools, journal=journal)
    (tmp_path / "runs.db-lease-x").mkdir()
    victim.write_text("mine", encoding="utf-8")
    with closing(sqlite3.connect(journal.path)) as db, db:
        db.execute("UPDATE runs SET uid = 'x/../victim', status = 'running'")
    assert [one.status for one in journal.list()] == ["interrupted"]
    assert agent_for(tools).resume(journal.load(1)).status == "finished"
    assert victim.read_text(encoding="utf-8") == "mine"


def lost() -> str:
    raise ConnectionError("the answer was lost")


def broken() -> str:
    raise OSError("no network")


NEXT = {"looks": lambda: "x", "fails": broken}


@pytest.mark.parametrize("next_step", NEXT)
def test_a_payment_in_doubt_whose_id_a_later_plan_gives_away_is_not_made_again(next_step: str) -> None:
    paid = []

    def pay() -> str:
        paid.append(1)
        return lost()

    tools = [
        Tool(pay, effects="once"),
        Tool(NEXT[next_step], name="next", effects="none"),
        Tool(broken, effects="none"),
    ]
    plans = [step("s", "pay")], [step("s", "next"), step("t", "broken", "s")]
    inner = agent_for(tools, *plans, workers=Simulated(), replan="failure", max_replans=1)
    run = carry_out([step("a", None, description="pay", retries=2)], inner, workers=Simulated())
    assert (run.status, paid) == ("failed", [1])


@pytest.mark.parametrize("id", ["s", "other"])
def test_a_rollback_names_a_step_in_doubt_whose_id_a_later_plan_gives_away(id: str) -> None:
    tools = [Tool(lost, effects="once"), Tool(broken, effects="none"), Tool(lambda: "x", name="look", effects="none")]
    plans = [step("s", "lost")], [step(id, "look"), step("t", "broken", id)]
    agent = agent_for(tools, *plans, workers=Simulated(), replan="failure", max_replans=1)
    run = agent.roll_back(agent.run("go"))
    assert run.status == "partly rolled back"
    assert run.reason == "requested; nothing was undone; not undone: s (unknown whether it was done)"


def test_a_doubt_behind_an_undo_survives_a_later_plan() -> None:
    def slow() -> None:
        charge(9.0)

    made: list[tuple[str, Any, Any]] = [
        ("look", lambda: "x", "none"), ("put", lambda: "y", "once"), ("slow", slow, "idempotent"), ("broken", broken, "none")
    ]  # fmt: skip
    tools = [Tool(function, name=name, effects=effects) for name, function, effects in made]
    put = step("u", "put", undo={"tool": "put", "params": {}})
    plans = [put, step("s", "slow", "u", timeout=1.0)], [step("other", "look"), step("t", "broken", "other")]
    agent = agent_for(
        tools, *plans, workers=Simulated(), replan="failure", max_replans=1, reviewer=Fitting(["approve"] * 2)
    )
    run = agent.roll_back(agent.run("go"))
    assert (run.status, run.board.state["u"]) == ("paused", "done")
    assert run.question is not None
    assert str(run.question.call) == "slow({})"


def test_an_event_leaves_a_comparison_to_the_other_value() -> None:
    event = Event(1.0)
    assert event == ANY
    assert event not in (Job(1.0), None, 1.0)
    assert {event, Event(1.0)} == {event}
