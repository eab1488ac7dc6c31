"""A paused run on the desk: its plan with what is done and changed, or its gate with the board as it stands."""

from typing import Any

import pytest

from planexec_lab.views import desk
from planexec_lite import Decision, Plan, PlannerExecutor, Run, ScriptedReviewer, Simulated, ToolExecutor, execute
from planexec_lite.roles.reviewers import AskPerson
from tests.views.cells import still
from tests.views.desks import PLAN, STEPS, TOOLS, fill, press
from tests.views.test_review_desk import words

LONG = "x" * 300 + " AND BOOK ALL"
GATED = Plan.parse(
    {
        "goal": "Go to Lima",
        "steps": [
            STEPS[0] | {"params": {"city": LONG}},
            STEPS[2] | {"gate": True},
            {"id": 4, "tool": "pack", "params": {"things": ["key"], "heavy": False}, "depends_on": [3]},
            {"id": 5, "tool": "cancel", "params": {"hotel": "Luna"}, "depends_on": [4], "gate": True},
        ],
    }
)


def agent(**more: Any) -> PlannerExecutor:
    return PlannerExecutor(None, ToolExecutor(TOOLS), workers=Simulated(), **more)


def at_gate() -> Run:
    return execute(GATED, ToolExecutor(TOOLS), workers=Simulated())


def test_a_gate_shows_the_step_what_it_is_given_the_board_and_what_follows() -> None:
    text = words(desk(at_gate(), TOOLS))
    assert "The run waits before step 3." in text
    assert "runs at most once, can&#x27;t be undone" in text
    assert LONG in text  # the result of step 1, whole
    assert "Paused before step 3: 1 of 4 steps done" in text
    assert "What comes next" in text
    assert "5 cancel(hotel=&#x27;Luna&#x27;)" in text
    assert still(desk(at_gate(), TOOLS))["text/plain"].startswith("Paused before step 3")


def test_before_a_gate_the_text_form_cuts_nothing_and_shows_codes() -> None:
    evil = "\u0430lice@bank.com " + "x " * 400 + "END"
    steps = [STEPS[0] | {"params": {"city": evil}}, STEPS[2] | {"gate": True, "description": evil}]
    shown = repr(desk(execute(Plan.parse({"goal": "Go", "steps": steps}), ToolExecutor(TOOLS)), TOOLS))
    assert shown.count("END") == 3  # argument, result, description
    assert shown.count(r"\u0430lice") == 3
    assert "…" not in shown
    assert "\u0430" not in shown


def test_a_yes_at_the_gate_opens_this_gate_and_not_the_next() -> None:
    run = at_gate()
    shown = desk(run, TOOLS, by="Ada")
    press(shown, "Approve")
    assert (shown.decision.gate, shown.decision.of) == ("3", GATED.hash)
    assert "Approved by Ada: the gate of step 3" in words(shown)
    later = agent().resume(run, shown.decision)
    assert later.board.reviews[-1].step == "3"
    assert later.reason == "waits for gate of step 5"
    with pytest.raises(ValueError, match="about the gate of step 3, and this run waits for gate of step 5"):
        agent().resume(later, shown.decision)


def test_a_no_at_the_gate_wants_a_reason_and_stops_the_run() -> None:
    run = at_gate()
    shown = desk(run, TOOLS)
    assert shown.controls["Reject"].disabled
    fill(shown, "Comment", "not today")
    press(shown, "Reject")
    assert agent().resume(run, shown.decision).status == "stopped"


def test_a_yes_to_the_plan_opens_no_gate() -> None:
    shown = desk(GATED, TOOLS)
    press(shown, "Approve")
    with pytest.raises(ValueError, match="approving the plan opens no gate"):
        agent().resume(at_gate(), shown.decision)


def test_a_yes_to_a_gate_is_no_yes_to_a_plan() -> None:
    shown = desk(at_gate(), TOOLS)
    press(shown, "Approve")
    planned = PlannerExecutor(_Plans(GATED), ToolExecutor(TOOLS), AskPerson(), workers=Simulated()).run("Go to Lima")
    assert planned.reason == "waits for approval"
    with pytest.raises(ValueError, match="about the gate of step 3, and this run waits for approval"):
        agent(reviewer=AskPerson()).resume(planned, shown.decision)


def test_at_a_gate_nothing_is_edited_and_nothing_granted() -> None:
    assert list(desk(at_gate(), TOOLS).controls) == ["Comment", "Approve", "Reject", "Ask for changes"]


def test_the_script_decides_at_a_gate_by_the_same_names() -> None:
    shown = desk(at_gate(), TOOLS)
    shown.play(["Approve"])
    assert (shown.decision.by, shown.decision.gate) == ("script", "3")


class _Plans:
    """A planner that gives its plans in turn."""

    def __init__(self, *plans: Plan) -> None:
        self.plans = iter(plans)

    def plan(self, goal: str, board: Any, tools: Any) -> Plan:
        return next(self.plans)


def test_a_run_that_waits_for_its_plan_shows_what_is_done_and_what_changed() -> None:
    first = PLAN.changed(steps=PLAN.steps[:1], complete=False)
    planner = _Plans(first, PLAN.changed(steps=PLAN.steps[1:]))
    asks = ScriptedReviewer([Decision("approve")])
    run = PlannerExecutor(planner, ToolExecutor(TOOLS), asks, workers=Simulated()).run("Go to Lima")
    assert run.reason == "waits for approval"
    shown = desk(run, TOOLS)
    text = words(shown)
    assert "done already: 1" in text
    assert "Step 2 added, after 1" in text
    assert "Step 1 removed" not in text
    press(shown, "Approve")
    assert agent(reviewer=AskPerson()).resume(run, shown.decision).status == "finished"


def test_a_run_that_waits_for_nobody_has_no_desk() -> None:
    with pytest.raises(ValueError, match="does not wait for a decision: it is finished"):
        desk(execute(PLAN, ToolExecutor(TOOLS), workers=Simulated()), TOOLS)
