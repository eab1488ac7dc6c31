"""What attacks on the pictures and the desk found, and what they did not: odd runs are drawn, and no text becomes code."""

from __future__ import annotations

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
from planexec_lite import events as e
from planexec_lite.meter import charge
from planexec_lite.plan import Problem
from tests.views.cells import still
from tests.views.desks import PLAN, TOOLS, desk, fill, press

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
    agent = PlannerExecutor(
        RulePlanner(lambda goal: [{"id": "1", "tool": "take", **more}]), ToolExecutor(BOX), AskPerson()
    )
    return agent.run("goal " * 200)


def told(*events: e.Event) -> Run:
    return Run([e.RunStarted(0.0, "goal", True, False), e.PlanStarted(0.0, "first"), *events])


RUNS = {
    "nothing": Run(),
    "one event": Run([e.RunStarted(0.0, "goal", True, False)]),
    "the planner fails": told(e.PlanProposed(1.0, None, (Problem("planner_failed", None, MEAN),))),
    "ended without a plan": told(e.PlanProposed(1.0, None, (Problem("planner_failed", None, "x"),)), e.Ended(1.0, "failed", MEAN)),
    "waits for a person": waiting(),
    "waits at a gate": waiting(gate=True),
    "failed": done({"id": "1", "tool": "fail"}, {"id": "2", "tool": "take", "depends_on": ["1"]}),
    "given up and late": done({"id": "1", "tool": "slow", "timeout": 2}, {"id": "2", "tool": "slow"}),
    "put down and taken back": told(
        e.StepProposed(0.5, Step(id="1", tool="take")),
        e.StepStarted(0.5, "1"),
        e.StepProposed(0.6, Step(id="2", tool="take")),
        e.StepStarted(0.6, "2"),
        e.Requeued(0.7, "2", "cancelled"),
        e.PlanProposed(1.0, None, (Problem("planner_failed", None, "cut"),)),
    ),
    "a long id": done({"id": "i" * 300, "tool": "take"}),
    **{f"odd text {n}": done({"id": "1", "description": text, "tool": "take", "params": {"x": text}})
       for n, text in enumerate(ODD)},
}  # fmt: skip


def page(shown: Any) -> str:
    """The HTML of a figure; every picture in it can be read as XML."""
    html = str(shown._repr_html_())
    for picture in re.findall(r'data:image/svg\+xml,([^"]+)"', html):
        minidom.parseString(unquote(picture).encode())
    return html


@pytest.mark.parametrize("view", ["board", "graph", "timeline"])
@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_any_run_is_drawn_and_no_text_of_it_becomes_code(run: Run, view: str) -> None:
    figure = getattr(views, view)(run)
    html = page(figure)
    assert "<script" not in html
    assert "<img src=x" not in html
    assert repr(figure).encode()


@pytest.mark.slow
@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_any_run_is_played_event_by_event(run: Run) -> None:
    player = views.player(run)
    for number in (0, len(run.events) // 2, len(run.events)):
        assert player.text(number)
    assert len(narration.sentences(run)) == len(run.events)


def test_what_is_said_about_a_long_run_names_each_step_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    name_of = narration.name_of
    monkeypatch.setattr(narration, "name_of", lambda step: asked.append(step.id) or name_of(step))
    narration.sentences(done(*({"id": str(n), "tool": "take"} for n in range(300))))
    assert len(asked) <= 600  # for each event all steps: 270,000


# --- the desk ---------------------------------------------------------------------------------------------------------


def words(widget: Any) -> list[str]:
    inner = [text for child in getattr(widget, "children", ()) for text in words(child)]
    return [*inner, *([widget.value] if type(widget).__name__ == "HTML" else [])]


@pytest.mark.parametrize("tool", ["book", "look_up", MEAN])
def test_no_text_of_a_plan_becomes_code_at_the_desk(tool: str) -> None:
    step = {"id": "1", "description": MEAN, "tool": tool, "params": {MEAN: {"k": MEAN}, "hotel": MEAN}}
    step |= {"success_criteria": MEAN, "undo": {"tool": tool, "params": {MEAN: MEAN}}}
    plan = Plan.parse({"goal": MEAN, "steps": [step, {"id": "2", "tool": "book", "depends_on": ["1", "none"]}]})
    shown = desk(plan, before=Plan.parse({"goal": "x", "steps": [{"id": "1", "description": "old" + MEAN}]}))
    press(shown, "Edit 1")
    fill(shown, "Comment", MEAN)
    texts = words(shown.box)
    press(shown, "Reject")
    bundle = still(shown)
    for html in [*texts, *words(shown.box), bundle["text/html"]]:
        assert "<script" not in html
        assert "<img src=x" not in html
    assert any("&lt;script" in html for html in texts)


@pytest.mark.parametrize("id", ["1.", "-", "..", "Approve", "up", "Comment", "Add", "a.b-c"])
def test_any_id_and_any_name_of_a_parameter_can_be_told_apart_by_the_script(id: str) -> None:
    def approve(tool: str, description: str = "", Comment: str = "") -> str:  # noqa: N803
        return tool

    plan = Plan.parse([{"id": id, "tool": "approve", "params": {"tool": "old"}}, {"id": "z", "tool": "approve",
                       "params": {"tool": "z"}}])  # fmt: skip
    shown = desk(plan, Toolbox([Tool(approve, effects="none")]))
    shown.play([(f"{id}: argument tool", "new"), (f"{id}: Comment", "c"), "Approve"])
    assert shown.decision.plan is not None
    assert shown.decision.plan.steps[0].params == {"tool": "new", "Comment": "c"}


@pytest.mark.parametrize("text", ["true", "1.0"])
def test_an_edit_that_python_calls_equal_is_an_edit_at_the_desk(text: str) -> None:
    def put(x: bool | int | float) -> str:
        return repr(x)

    shown = desk(Plan.parse([{"id": "1", "tool": "put", "params": {"x": 1}}]), Toolbox([Tool(put, effects="none")]))
    shown.play([("1: x", text), "Approve"])
    assert shown.decision.plan is not None
    assert [repr(step.params["x"]) for step in shown.decision.plan.steps] == [text.capitalize()]


@pytest.mark.parametrize("text", ["NaN", "1e400", "Infinity", "[" * 5000, "{step_9_result}", "٣٣"])
def test_nothing_that_json_can_not_hold_is_approved(text: str) -> None:
    shown = desk()
    press(shown, "Edit 1")
    fill(shown, "1: days", text)
    assert shown.controls["Approve"].disabled
    assert shown.draft.problems


def test_a_plan_without_steps_can_not_be_approved_and_can_be_given_one() -> None:
    shown = desk(Plan(goal="nothing"))
    assert shown.controls["Approve"].disabled
    shown.play(["Add a step", ("1: tool", "book"), ("1: hotel", "Sol"), "Approve"])
    assert shown.decision.plan is not None


def test_a_decision_of_the_desk_is_about_the_plan_that_was_on_it() -> None:
    agent = PlannerExecutor(RulePlanner(lambda goal: PLAN), ToolExecutor(TOOLS), AskPerson(), workers=Simulated())
    other = PlannerExecutor(
        RulePlanner(lambda goal: [{"id": "1", "tool": "book", "params": {"hotel": "Ritz"}}]), ToolExecutor(TOOLS), AskPerson()
    )  # fmt: skip
    paused, another = agent.run("Go"), other.run("Go")
    shown = desk(paused.plan)
    press(shown, "Approve")
    with pytest.raises(ValueError, match="another plan"):
        other.resume(another, shown.decision)
    assert agent.resume(paused, shown.decision).status == "finished"
