"""A paused run on the desk: a gate with the board, a later plan, a step in doubt, and more budget."""

import re
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
from planexec_lite.run import events as e
from tests.capabilities.test_budget import FIVE, TOOLS, Asked, Thinking
from tests.core.shapes import step
from tests.views.cells import still
from tests.views.desks import PLAN as PLAN_OF_TRAVEL
from tests.views.desks import STEPS, fill, press
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
    assert "Paused for your answer: was step 2 done? 1 of 3 steps done" in text
    assert "! in doubt" in text
    desk = views.desk(run, bank.tools, by="Ann")
    desk.controls["Result"].value = '{"id": 7}'
    desk.controls["It was done"].click()
    assert "Said to be done by Ann: step 2" in desk._stand.value
    assert "Its result: " in desk._stand.value
    assert all(control.disabled for control in desk.controls.values())
    decision = desk.decision
    assert (decision.by, decision.verdict, decision.result) == ("Ann", "done", {"id": 7})
    assert (decision.of, decision.run) == (run.question.digest, run.uid)
    assert agent.resume(run, decision).results["3"] == "noted 7"
    assert bank.paid == []
    decision = decided(run, bank.tools, "It was not done")
    assert (agent.resume(run, decision).status, bank.paid) == ("finished", ["Ann"])
    asks_again = agent.resume(run, decided(run, bank.tools, ("Comment", "stop"), "Roll back"))
    decision = decided(asks_again, bank.tools, ("Comment", "unclear"), "Reject")
    assert agent.resume(asks_again, decision).status == "partly rolled back"


def test_what_the_steps_behind_it_cannot_use_is_no_result() -> None:
    _, run, bank = doubted()
    desk = views.desk(run, bank.tools)
    assert set(desk.controls) == {"Result", "Comment", "It was done", "It was not done", "Roll back"}
    for typed in ("", "7", "paid", '{"number": 7}', '{"id"'):
        desk.controls["Result"].value = typed
        assert desk.controls["It was done"].disabled, typed
        assert "Not yet: step 3 uses {step_2_result.id}" in text_of(desk)
    desk.controls["Result"].value = '{"id": "<i7>"}'
    assert not desk.controls["It was done"].disabled
    assert "Its result: {&quot;id&quot;: &quot;&lt;i7&gt;&quot;}" in text_of(desk)
    assert "<i7>" not in text_of(desk)
    assert "To review: step 2" in text_of(desk)
    assert "Interrupted; unknown whether it was done." in words(desk)
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
    assert repr(desk).startswith("To review: the budget\n  2 of 2 steps used\n")


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
    assert "To review: the budget inside step 1" in text_of(desk)
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


def test_a_gate_shows_the_call_first_and_then_the_board() -> None:
    shown = views.desk(at_gate(), TRAVEL)
    for what in ("To review: step 3", "runs at most once, can&#x27;t be undone", "END",
                 "Paused for the gate of step 3: 1 of 4 steps done", "cancel(hotel=&#x27;Luna&#x27;)"):  # fmt: skip
        assert what in words(shown)
    text = repr(shown)
    lines = text.splitlines()
    assert lines[0] == "To review: step 3"
    assert lines[1].startswith("  book(hotel=")
    assert r"\u0430lice@bank.com" in lines[1]
    assert lines[1].endswith("END 7 metric')"), "the whole argument, resolved"
    assert "…" not in text
    assert "\u0430" not in text
    assert list(shown.controls) == ["Comment", "Approve", "Reject"], "no edit and no grant"


def test_a_yes_answers_the_question_of_its_run_and_no_other() -> None:
    run = at_gate()
    shown = views.desk(run, TRAVEL, by="Ada")
    press(shown, "Approve")
    assert "Approved by Ada: step 3" in words(shown)
    later = traveller().resume(run, shown.decision)
    assert later.board.reviews[-1].about == "step 3"
    assert later.question is not None
    assert later.question.about == "step 5"
    planned = traveller(GATED, reviewer=AskPerson()).run("Go to Lima")
    for other in (later, planned, at_gate()):
        with pytest.raises(ValueError, match="the decision answers another question"):
            traveller(reviewer=AskPerson()).resume(other, shown.decision)


@pytest.mark.parametrize("edits", [[], [("1: city", "Quito")]])
def test_a_decision_about_a_bare_plan_answers_the_first_question_about_it(
    edits: list[Any],
) -> None:
    shown = views.desk(PLAN_OF_TRAVEL, TRAVEL)
    shown.play([*edits, "Approve"])
    agent = traveller(PLAN_OF_TRAVEL, reviewer=AskPerson())
    run = agent.resume(agent.run("Go to Lima"), shown.decision)
    assert (run.status, run.plan.steps[0].params["city"]) == ("finished", "Quito" if edits else "Lima")
    other = traveller(GATED, reviewer=AskPerson()).run("Go to Lima")
    for asks in (other, at_gate()):
        with pytest.raises(ValueError, match="the decision answers another question"):
            traveller(reviewer=AskPerson()).resume(asks, shown.decision)


def test_a_run_that_waits_for_its_plan_shows_what_is_done_and_what_changed() -> None:
    first, rest = PLAN_OF_TRAVEL.changed(steps=PLAN_OF_TRAVEL.steps[:1], complete=False), PLAN_OF_TRAVEL.steps[1:]
    asks = ScriptedReviewer([Decision("approve")])
    run = traveller(first, PLAN_OF_TRAVEL.changed(steps=rest), reviewer=asks).run("Go to Lima")
    assert run.reason == "waits for approval"
    shown = views.desk(run, TRAVEL)
    assert "done already: 1" in words(shown)
    assert "Paused for approval: 1 of 3 steps done" in words(shown)
    assert "Step 2 added, after 1" in words(shown)
    assert "Step 1 removed" not in words(shown)
    press(shown, "Approve")
    ended = traveller(reviewer=AskPerson()).resume(run, shown.decision)
    assert ended.status == "finished"
    with pytest.raises(ValueError, match="does not wait for a decision: it is finished"):
        views.desk(ended, TRAVEL)


# --- questions from inside a step, and of a new kind -----------------------------------------------------------------


def inside(*steps: dict[str, Any], **more: Any) -> tuple[PlannerExecutor, Run]:
    inner = PlannerExecutor(RulePlanner(lambda goal: [*steps]), ToolExecutor(TRAVEL), **more)
    agent = PlannerExecutor(RulePlanner(lambda goal: [{"id": "1", "description": "tidy up"}]), inner)
    return agent, agent.run("go")


BOOKED = {"id": "a", "tool": "book", "params": {"hotel": "MALLORY"}}


@pytest.mark.parametrize(
    ("step", "settings", "script", "subject"),
    [
        (BOOKED | {"gate": True}, {}, ["Approve"], "step a inside step 1"),
        (BOOKED, {"reviewer": AskPerson()}, [("Later plans", "2"), "Approve"], "1 step to “tidy up” inside step 1"),
        (BOOKED, {"policy": Policy(budget=Budget(steps=0))}, [("More steps", "5"), "Grant more"],
         "the budget inside step 1"),
    ],
)  # fmt: skip
def test_a_question_from_inside_a_step_names_its_path_and_is_answered(
    step: Any, settings: Any, script: Any, subject: str
) -> None:
    agent, run = inside(step, **settings)
    shown = views.desk(run, TRAVEL)
    assert repr(shown).startswith(f"To review: {subject}\n")
    assert subject in words(shown)
    assert "book(hotel=&#x27;MALLORY&#x27;)" in words(shown)
    assert not any(name.startswith("Edit") for name in shown.controls), "a plan inside can't be edited"
    shown.play(script)
    assert agent.resume(run, shown.decision).status == "finished"


def test_a_call_asks_for_a_second_press_if_its_step_has_no_undo() -> None:
    undo = {"tool": "cancel", "params": {"hotel": "MALLORY"}}
    for more, asks in (({}, True), ({"undo": undo}, False)):
        _, run = inside(BOOKED | {"gate": True} | more)
        shown = views.desk(run, TRAVEL)
        shown.controls["Approve"].click()
        assert shown.decided != asks
    plan = GATED.changed(rollback=({"tool": "cancel", "params": {"hotel": "Sol"}},))
    shown = views.desk(execute(plan, ToolExecutor(TRAVEL), workers=Simulated()), TRAVEL)
    for text in (words(shown), repr(shown)):
        assert "runs at most once, no undo of its own" in text
        assert "If the run is rolled back: cancel(hotel=" in text
        assert "be undone" not in text


def test_a_new_kind_of_question_needs_no_change_of_the_desk() -> None:
    verdicts = {"approve": "Tea is made.", "done": "The guest brought <tea>.", "reject": "There is no tea."}
    call = e.ExactCall("book", {"hotel": "TEAROOM"})
    question = e.Question("tea", verdicts, "it is five o'clock", "4", call=call, amounts={"steps": "2 of 2 steps"})
    run = Run([e.RunStarted(0.0, "Rest", False, True), e.Paused(0.0, question.inside("7"))])
    shown = views.desk(run, TRAVEL, by="Ann")
    assert list(shown.controls) == ["More steps", "Result", "Comment", "Grant more", "It was done", "Stop"]
    lines = repr(shown).splitlines()
    assert lines[0] == "To review: step 4 inside step 7"
    assert lines[1] == "  book(hotel='TEAROOM')"
    assert (
        lines.index("  2 of 2 steps used")
        < lines.index("It is five o'clock.")
        < lines.index("Grant more: Tea is made.")
    )
    assert "The guest brought &lt;tea&gt;." in words(shown)
    fill(shown, "Result", "a cup")
    press(shown, "It was done")
    assert (shown.decision.verdict, shown.decision.result, shown.decision.of) == ("done", "a cup", run.question.digest)
    assert "Said to be done by Ann: step 4 inside step 7" in words(shown)


@pytest.mark.parametrize("tool", ["a_tool_with_a_long_name_of_many_words", "x" * 80])
def test_no_word_of_a_call_is_broken(tool: str) -> None:
    step = {"id": "1", "tool": tool, "params": {"to": "previous", "why": "because of the rain " * 9}}
    step |= {"undo": {"tool": tool, "params": {"to": "previous"}}}
    shown = views.desk(Plan.parse([step, step | {"id": "2", "depends_on": ["1"]}]), TRAVEL)
    assert repr(shown).count(f"{tool}(to='previous'") == 4
    assert not re.search("<td[^>]*anywhere", still(shown)["text/html"])
