"""A paused run on the desk: a gate with the board, a later plan, a step in doubt, and more budget."""

from typing import Any

import pytest

from planexec_lab import views
from planexec_lab.views import ScriptError
from planexec_lite import (
    AskPerson,
    Budget,
    Decision,
    HybridExecutor,
    Plan,
    PlannerExecutor,
    Policy,
    RulePlanner,
    Run,
    ScriptedReviewer,
    Simulated,
    Tool,
    Toolbox,
    ToolExecutor,
    execute,
)
from planexec_lite import events as e
from tests.capabilities.test_budget import FIVE, TOOLS, Asked, Thinking
from tests.core.shapes import step
from tests.views.desks import PLAN as PLAN_OF_TRAVEL
from tests.views.desks import STEPS, press
from tests.views.desks import TOOLS as TRAVEL
from tests.views.test_review_desk import words


class Bank:
    """Pays, and undoes what it did."""

    def __init__(self) -> None:
        self.paid: list[str] = []
        undos = [Tool(one, effects="idempotent") for one in (self.refund, self.release)]
        self.tools = Toolbox([Tool(self.pay, effects="once"), Tool(self.note, effects="none"), *undos])

    def pay(self, to: str) -> dict[str, Any]:
        """Pay."""
        self.paid.append(to)
        return {"id": len(self.paid)}

    def note(self, text: object) -> str:
        """Note a text."""
        return f"noted {text}"

    def refund(self, number: int) -> str:
        """Refund a payment."""
        self.paid.clear()
        return f"{number} is back"

    def release(self, to: str) -> str:
        """Reserve money, or release it."""
        return to


PLAN = Plan.parse(
    [
        step("1", "release", to="", undo={"tool": "release", "params": {"to": "Ann"}}),
        step("2", "pay", "1", to="Ann", success_criteria="an id")
        | {"undo": {"tool": "refund", "params": {"number": "{step_2_result.id}"}}},
        step("3", "note", "2", text="{step_2_result.id}"),
    ]
)


def doubted() -> tuple[PlannerExecutor, Run, Bank]:
    bank = Bank()
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
    return f"{desk._head.value} {desk._stand.value}"


def test_a_step_in_doubt_is_decided_with_its_result() -> None:
    agent, run, bank = doubted()
    text = views.board(run).text
    assert "Paused to be told whether step 2 was done" in text
    assert "! in doubt" in text
    desk = views.desk(run, bank.tools, by="Ann")
    desk.controls["Result"].value = '{"id": 7}'
    desk.controls["It was done"].click()
    assert "Said to be done by Ann: step 2, which is in doubt" in desk._stand.value
    assert "Its result: " in desk._stand.value
    assert all(control.disabled for control in desk.controls.values())
    decision = desk.decision
    assert (decision.by, decision.verdict, decision.result, decision.gate) == ("Ann", "done", {"id": 7}, "doubt 2")
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


# --- gates and later plans --------------------------------------------------------------------------------------------

LONG = "\u0430lice@bank.com " + "x " * 400 + "END"
GATED = Plan.parse(
    {
        "goal": "Go to Lima",
        "steps": [
            STEPS[0] | {"params": {"city": LONG}},
            STEPS[2] | {"gate": True, "description": LONG},
            {"id": 4, "tool": "pack", "params": {"things": ["key"], "heavy": False}, "depends_on": [3]},
            {"id": 5, "tool": "cancel", "params": {"hotel": "Luna"}, "depends_on": [4], "gate": True},
        ],
    }
)


def traveller(*plans: Plan, reviewer: Any = None) -> PlannerExecutor:
    left = iter(plans)
    planner = RulePlanner(lambda goal: next(left)) if plans else None
    return PlannerExecutor(planner, ToolExecutor(TRAVEL), reviewer, workers=Simulated())


def at_gate() -> Run:
    return execute(GATED, ToolExecutor(TRAVEL), workers=Simulated())


def test_a_gate_shows_the_step_what_it_is_given_the_board_and_what_follows() -> None:
    shown = views.desk(at_gate(), TRAVEL)
    for what in ("The run waits before step 3.", "runs at most once, can&#x27;t be undone", "END",
                 "Paused before step 3: 1 of 4 steps done", "What comes next", "5 cancel(hotel=&#x27;Luna&#x27;)"):  # fmt: skip
        assert what in words(shown)
    text = repr(shown)
    assert text.startswith("Paused before step 3")
    assert text.count("END") == text.count(r"\u0430lice") == 3  # argument, result, description
    assert "…" not in text
    assert "\u0430" not in text
    assert list(shown.controls) == ["Comment", "Approve", "Reject", "Ask for changes"], "no edit and no grant"


def test_a_yes_at_a_gate_opens_this_gate_alone_and_is_no_yes_to_a_plan() -> None:
    run, shown = at_gate(), views.desk(at_gate(), TRAVEL, by="Ada")
    press(shown, "Approve")
    assert (shown.decision.gate, shown.decision.of) == ("3", GATED.hash)
    assert "Approved by Ada: the gate of step 3" in words(shown)
    later = traveller().resume(run, shown.decision)
    assert later.board.reviews[-1].step == "3"
    assert later.reason == "waits for gate of step 5"
    with pytest.raises(ValueError, match="about the gate of step 3, and this run waits for gate of step 5"):
        traveller().resume(later, shown.decision)
    planned = traveller(GATED, reviewer=AskPerson()).run("Go to Lima")
    with pytest.raises(ValueError, match="about the gate of step 3, and this run waits for approval"):
        traveller(reviewer=AskPerson()).resume(planned, shown.decision)
    with pytest.raises(ValueError, match="approving the plan opens no gate"):
        traveller().resume(run, decided_plan(GATED))


def decided_plan(plan: Plan) -> Decision:
    shown = views.desk(plan, TRAVEL)
    press(shown, "Approve")
    return shown.decision


def test_a_run_that_waits_for_its_plan_shows_what_is_done_and_what_changed() -> None:
    first, rest = PLAN_OF_TRAVEL.changed(steps=PLAN_OF_TRAVEL.steps[:1], complete=False), PLAN_OF_TRAVEL.steps[1:]
    asks = ScriptedReviewer([Decision("approve")])
    run = traveller(first, PLAN_OF_TRAVEL.changed(steps=rest), reviewer=asks).run("Go to Lima")
    assert run.reason == "waits for approval"
    shown = views.desk(run, TRAVEL)
    assert "done already: 1" in words(shown)
    assert "Step 2 added, after 1" in words(shown)
    assert "Step 1 removed" not in words(shown)
    press(shown, "Approve")
    ended = traveller(reviewer=AskPerson()).resume(run, shown.decision)
    assert ended.status == "finished"
    with pytest.raises(ValueError, match="does not wait for a decision: it is finished"):
        views.desk(ended, TRAVEL)
