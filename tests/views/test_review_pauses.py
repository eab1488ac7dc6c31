"""The desk where a run waits for something else than a plan: what became of a step in doubt, and more budget."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from planexec_lab import views
from planexec_lab.views import ScriptError
from planexec_lite import (
    Budget,
    Decision,
    HybridExecutor,
    Journal,
    Plan,
    PlannerExecutor,
    Policy,
    Run,
    ToolExecutor,
)
from planexec_lite import events as e
from tests.capabilities.test_budget import FIVE, TOOLS, Asked, Thinking
from tests.core.shapes import step
from tests.core.test_going_on import PLAN, Bank
from tests.core.test_going_on_inside import World, agent_of


def doubted() -> tuple[PlannerExecutor, Run, Bank]:
    bank = Bank(gone=False)
    bank.cut = False
    agent = PlannerExecutor(None, ToolExecutor(bank.tools))
    start = e.RunStarted(0.0, "Pay <Ann>", False, False, effects=bank.tools.effects)
    run = Run([start, e.PlanProposed(0.0, PLAN)])
    for event in (e.StepStarted(0.0, "1"), e.StepDone(1.0, "1", "Ann"), e.StepStarted(1.0, "2")):
        run.record(event)
    return agent, agent.resume(run), bank


def decided(run: Run, tools: Any, *script: Any) -> Decision:
    desk = views.desk(run, tools, script=list(script), by="Ann")
    desk.play(list(script))
    return desk.decision


def text_of(desk: Any) -> str:
    return " ".join(
        [widget.value for widget in (desk._head, desk._stand)]  # what a person reads
    )


def test_a_step_in_doubt_is_decided_with_its_result() -> None:
    agent, run, bank = doubted()
    decision = decided(run, bank.tools, ("Result", '{"id": 7}'), "It was done")
    assert (decision.verdict, decision.result, decision.gate) == ("done", {"id": 7}, "doubt 2")
    assert agent.resume(run, decision).results["3"] == "noted 7"
    assert bank.paid == []
    decision = decided(run, bank.tools, "It was not done")
    assert (agent.resume(run, decision).status, bank.paid) == ("finished", ["Ann"])
    assert agent.resume(run, decided(run, bank.tools, ("Comment", "stop"), "Roll back")).status == "rolled back"


def test_what_the_steps_behind_it_cannot_use_is_no_result() -> None:
    _, run, bank = doubted()
    desk = views.desk(run, bank.tools)
    assert set(desk.controls) == {"Result", "Comment", "It was done", "It was not done", "Roll back"}
    for typed in ("", "7", "paid", '{"number": 7}', '{"id"'):
        desk.controls["Result"].value = typed
        assert desk.controls["It was done"].disabled, typed
        assert "not yet: step 3 uses {step_2_result.id}" in text_of(desk)
    desk.controls["Result"].value = '{"id": "<i7>"}'
    assert not desk.controls["It was done"].disabled
    assert "its result counts as" in text_of(desk)
    assert "<i7>" not in text_of(desk)
    assert "The run was interrupted while step 2 was running. Was it done?" in text_of(desk)
    with pytest.raises(ScriptError, match="there is no control 'Approve'"):
        desk.play(["Approve"])


def test_the_desk_that_was_closed_says_what_was_answered() -> None:
    _, run, bank = doubted()
    desk = views.desk(run, bank.tools, by="Ann")
    desk.controls["Result"].value = '{"id": 7}'
    desk.controls["It was done"].click()
    assert desk.decision.by == "Ann"
    assert "Said to be done by Ann: step 2, which is in doubt" in desk._stand.value
    assert "Its result: " in desk._stand.value
    assert all(control.disabled for control in desk.controls.values())


def test_a_budget_is_granted_refused_or_taken_back() -> None:
    agent = PlannerExecutor(Asked(FIVE), ToolExecutor(TOOLS), policy=Policy(budget=Budget(steps=2)))
    run = agent.run("go")
    decision = decided(run, TOOLS, ("More steps", "3"), "Grant more")
    assert (decision.verdict, decision.budget) == ("approve", Budget(steps=3))
    assert agent.resume(run, decision).status == "finished"
    assert agent.resume(run, decided(run, TOOLS, ("Comment", "too dear"), "Stop")).reason.endswith("too dear")
    assert agent.resume(run, decided(run, TOOLS, "Roll back")).status == "rolled back"
    desk = views.desk(run, TOOLS)
    for typed in ("", "0", "-1", "many", "1.5"):
        desk.controls["More steps"].value = typed
        assert desk.controls["Grant more"].disabled, typed
    assert "2 of 2 steps" in text_of(desk)
    assert "Paused for more budget" in repr(desk)


def test_a_run_inside_asks_for_its_own_budget() -> None:
    class Inner:
        def plan(self, *_: object) -> Plan:
            return Plan.parse([step("a", "work"), step("b", "work", "a")])

    inside = PlannerExecutor(Inner(), Thinking(TOOLS), policy=Policy(budget=Budget(model_calls=1)))
    agent = PlannerExecutor(Asked([{"id": "1", "description": "both"}]), HybridExecutor(ToolExecutor(TOOLS), inside))
    run = agent.run("go")
    desk = views.desk(run, TOOLS, script=[])
    assert "Roll back" in desk.controls
    desk.play([("More model calls", "1"), "Grant more"])
    assert "The budget of the run inside step 1 is used up" in text_of(desk)
    assert agent.resume(run, desk.decision).status == "finished"


def test_the_board_shows_what_is_in_doubt() -> None:
    _, run, _ = doubted()
    shown = str(views.board(run).text)
    assert "Paused to be told whether step 2 was done" in shown
    assert "! in doubt" in shown


def test_a_step_in_doubt_inside_a_step_is_answered_on_the_desk(tmp_path: Path) -> None:
    world, kept = World(cut="Amp", after=True), Journal(tmp_path / "runs.db", "OFF")
    with pytest.raises(KeyboardInterrupt):
        agent_of(world, kept).run("go")
    agent = agent_of(world, kept)
    agent.resume(kept.load(1))
    run = kept.load(1)  # what another notebook has
    script = [("Result", "Amp"), "It was done"]
    desk = views.desk(run, world.tools, script=script, by="Ann")
    desk.play(script)
    shown = text_of(desk)
    assert "The run was interrupted while step p of the run inside step 1 was running. Was it done?" in shown
    assert "Amp" in shown
    run = agent.resume(run, desk.decision)
    assert (run.status, world.done.count("Amp")) == ("finished", 1)
    assert run.inside("1").inside("m").results["p"] == "Amp"
