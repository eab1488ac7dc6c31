"""Attacks on the pictures and the desk: odd runs are drawn, and no text becomes code."""

import re
from typing import Any
from urllib.parse import unquote
from xml.dom import minidom

import pytest

from planexec_lab import views
from planexec_lab.views import narration
from planexec_lite import (
    AskPerson,
    Plan,
    PlannerExecutor,
    RulePlanner,
    Run,
    Simulated,
    Step,
    Tool,
    Toolbox,
    ToolExecutor,
    execute,
)
from planexec_lite.meter import charge
from planexec_lite.plan import Problem
from planexec_lite.run import events as e
from tests.views.cells import still
from tests.views.desks import desk, fill, press
from tests.views.test_review_desk import words

MEAN = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'&]]>-->"
ODD = ["\u202eright to left\u202c שלום", "\x00\x01\x0b", "w" * 5000, "\U0001f600\u200d", "a\nb\r\nc", MEAN]


def take(x: object = "a") -> str:
    """Take a second."""
    charge(seconds=1)
    return str(x)


def slow(x: str = "a") -> str:
    """Take ten seconds."""
    charge(seconds=10)
    return x


def fail(x: str = "a") -> str:
    """Fail at length."""
    raise OSError("no " * 300)


BOX = Toolbox([Tool(take, effects="none"), Tool(slow, effects="once"), Tool(fail, effects="none")])


def done(*steps: dict[str, Any]) -> Run:
    return execute(Plan.parse(list(steps)), ToolExecutor(BOX), workers=Simulated())


def waiting(**more: Any) -> Run:
    planner = RulePlanner(lambda goal: [{"id": "1", "tool": "take", **more}])
    return PlannerExecutor(planner, ToolExecutor(BOX), AskPerson()).run("goal " * 200)


def planned(*events: e.Event) -> Run:
    return Run([e.RunStarted(0.0, MEAN, True, False), e.PlanStarted(0.0, "first"), *events])


NO_PLAN = e.PlanProposed(1.0, None, (Problem("planner_failed", None, MEAN),))
RUNS = {
    "nothing": Run(),
    "one event": Run([e.RunStarted(0.0, MEAN, True, False)]),
    "the planner fails": planned(NO_PLAN),
    "ended without a plan": planned(NO_PLAN, e.Ended(1.0, "failed", MEAN)),
    "waits for a person": waiting(),
    "waits at a gate": waiting(gate=True),
    "failed": done({"id": "1", "tool": "fail"}, {"id": "2", "tool": "take", "depends_on": ["1"]}),
    "given up and late": done({"id": "1", "tool": "slow", "timeout": 2}, {"id": "2", "tool": "slow"}),
    "streamed and taken back": planned(
        e.StepProposed(0.5, Step(id="1", tool="take")),
        e.StepStarted(0.5, "1"),
        e.StepProposed(0.6, Step(id="2", tool="take")),
        e.StepStarted(0.6, "2"),
        e.Requeued(0.7, "2", "cancelled"),
        NO_PLAN,
    ),
    "a long id": done({"id": "i" * 300, "tool": "take"}),
    **{f"odd text {n}": done({"id": "1", "description": text, "tool": "take", "params": {"x": text}})
       for n, text in enumerate(ODD)},
}  # fmt: skip


def check_page(*pages: str) -> None:
    """No text has become code, and every picture can be read as XML."""
    for html in pages:
        for picture in re.findall(r'data:image/svg\+xml,([^"]+)"', html):
            minidom.parseString(unquote(picture).encode())
        assert "<script" not in html
        assert "<img src=x" not in html


@pytest.mark.slow
@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_any_run_is_drawn_and_played_and_no_text_of_it_becomes_code(run: Run) -> None:
    for figure in (views.board(run), views.graph(run), views.timeline(run)):
        check_page(figure._repr_html_())
        assert repr(figure).encode()
    player = views.player(run)
    for number in (0, len(run.events) // 2, len(run.events)):
        player.number.value = number
        check_page(player._status.box.children[1].value)
    assert len(narration.sentences(run)) == len(run.events)


# --- the desk ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tool", ["book", "look_up", MEAN])
def test_no_text_of_a_plan_becomes_code_at_the_desk(tool: str) -> None:
    step = {"id": "1", "description": MEAN, "tool": tool, "params": {MEAN: {"k": MEAN}, "hotel": MEAN}}
    step |= {"success_criteria": MEAN, "undo": {"tool": tool, "params": {MEAN: MEAN}}}
    plan = Plan.parse({"goal": MEAN, "steps": [step, {"id": "2", "tool": "book", "depends_on": ["1", "none"]}]})
    shown = desk(plan, before=Plan.parse({"goal": "x", "steps": [{"id": "1", "description": "old" + MEAN}]}))
    press(shown, "Edit 1")
    fill(shown, "Comment", MEAN)
    assert "&lt;script" in words(shown)
    check_page(words(shown))
    press(shown, "Reject")
    check_page(words(shown), still(shown)["text/html"])


@pytest.mark.parametrize("plan", [None, Plan.parse({"goal": MEAN, "steps": [{"id": "a", "description": MEAN}]})])
@pytest.mark.parametrize("tool", ["take", MEAN, None])
def test_no_text_of_a_question_becomes_code_or_is_left_out(tool: str | None, plan: Plan | None) -> None:
    call = e.ExactCall(tool, {"x": MEAN + "THE END"}, "" if tool else MEAN)
    question = e.Question(
        MEAN,
        {"approve": MEAN, "reject": MEAN},
        MEAN,
        "1",
        plan,
        call,
        {"steps": MEAN},
        path=() if plan is None else ("2",),
    )
    asked = views.desk(Run([e.RunStarted(0.0, MEAN, True, True), e.Paused(0.0, question)]), BOX)
    assert words(asked).count("THE END") == repr(asked).count("THE END") == 1
    fill(asked, "Comment", MEAN)
    press(asked, "Stop")
    check_page(words(asked), still(asked)["text/html"])


@pytest.mark.parametrize("text", ["true", "1.0"])
def test_an_edit_that_python_calls_equal_is_an_edit_at_the_desk(text: str) -> None:
    def put(x: bool | int | float) -> str:
        return repr(x)

    shown = desk(Plan(), Toolbox([Tool(put, effects="none")]))
    assert shown.controls["Approve"].disabled, "a plan without steps"
    shown.play(["Add a step", ("1: tool", "put"), ("1: x", "1"), ("1: x", text), "Approve"])
    assert [repr(step.params["x"]) for step in shown.decision.plan.steps] == [text.capitalize()]


@pytest.mark.parametrize("id", ["1.", "-", "..", "Approve", "up", "Comment", "Add", "a.b-c"])
def test_any_id_and_any_name_of_a_parameter_can_be_told_apart_by_the_script(id: str) -> None:
    def approve(tool: str, description: str = "", Comment: str = "") -> str:  # noqa: N803
        return tool

    plan = Plan.parse([{"id": one, "tool": "approve", "params": {"tool": "old"}} for one in (id, "z")])
    shown = desk(plan, Toolbox([Tool(approve, effects="none")]))
    shown.play([(f"{id}: argument tool", "new"), (f"{id}: Comment", "c"), "Approve"])
    assert shown.decision.plan.steps[0].params == {"tool": "new", "Comment": "c"}


@pytest.mark.parametrize("text", ["NaN", "1e400", "Infinity", "[" * 5000, "{step_9_result}", "٣٣"])
def test_nothing_that_json_can_not_hold_is_approved(text: str) -> None:
    shown = desk()
    press(shown, "Edit 1")
    fill(shown, "1: days", text)
    assert shown.controls["Approve"].disabled
    assert shown.draft.problems
