"""The desk in process: every control does what it says, and Approve is dark while the plan is unfit."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planexec_lab.views import NotDecided
from planexec_lab.views.review_desk import marks
from planexec_lite import Plan, Step, Toolbox, tool
from planexec_lite.events import Grant
from tests.views.cells import still
from tests.views.desks import PLAN, TOOLS, desk, fill, press


def words(shown: Any) -> str:
    """Everything that the desk says: its HTML, one after the other."""

    def walk(widget: Any) -> list[str]:
        if widget.layout.display == "none":
            return []
        inner = [text for child in getattr(widget, "children", ()) for text in walk(child)]
        return [*inner, *([widget.value] if type(widget).__name__ == "HTML" else [])]

    return "\n".join(walk(shown.box))


def test_approve_gives_the_plan_as_it_came() -> None:
    shown = desk()
    press(shown, "Approve")
    assert (shown.decision.verdict, shown.decision.plan, shown.decision.grant) == ("approve", None, None)
    assert shown.decision.by == "reviewer"


def test_an_edited_parameter_is_in_the_plan_that_was_approved() -> None:
    shown = desk()
    press(shown, "Edit 1")
    fill(shown, "1: days", "30")
    press(shown, "Approve")
    assert shown.decision.plan is not None
    assert shown.decision.plan.steps[0].params == {"city": "Lima", "days": 30}
    assert shown.decision.plan.steps[1:] == PLAN.steps[1:]


@pytest.mark.parametrize(
    ("field", "value", "name", "wanted"),
    [
        ("description", "Look", "description", "Look"),
        ("tool", "cancel", "tool", "cancel"),
        ("hotel", "Luna", "params", {"hotel": "Luna"}),
        ("waits for", "1, 2", "depends_on", ("1", "2")),
        ("done when", "", "success_criteria", None),
    ],
)
def test_every_field_of_a_step_can_be_changed(field: str, value: str, name: str, wanted: Any) -> None:
    shown = desk()
    press(shown, "Edit 3")
    fill(shown, f"3: {field}", value)
    press(shown, "Approve")
    assert shown.decision.plan is not None
    assert getattr(shown.decision.plan.steps[2], name) == wanted


def test_a_problem_is_said_at_the_step_at_the_field_and_at_the_decision() -> None:
    shown = desk()
    press(shown, "Edit 1")
    fill(shown, "1: days", "many")
    assert shown.controls["Approve"].disabled
    assert words(shown).count("valid integer") == 2
    press(shown, "Close 1")
    assert words(shown).count("valid integer") == 2
    press(shown, "Edit 1")
    fill(shown, "1: days", "3")
    assert "valid integer" not in words(shown)
    assert not shown.controls["Approve"].disabled


def test_a_click_that_was_on_its_way_when_a_problem_came_up_approves_nothing() -> None:
    shown = desk()
    press(shown, "Edit 1")
    fill(shown, "1: city", "")
    shown.controls["Approve"].click()
    assert not shown.decided


def test_a_step_is_added_mended_and_approved() -> None:
    shown = desk()
    press(shown, "Add a step")
    assert shown.controls["Approve"].disabled
    fill(shown, "4: tool", "book")
    assert shown.controls["Approve"].disabled
    fill(shown, "4: hotel", "Luna")
    press(shown, "Approve")
    assert shown.decision.plan is not None
    assert shown.decision.plan.steps[3] == Step(id="4", tool="book", params={"hotel": "Luna"}, depends_on=("3",))


def test_a_removed_step_leaves_a_problem_where_it_was_waited_for() -> None:
    shown = desk()
    press(shown, "Edit 1", "Remove 1")
    assert shown.controls["Approve"].disabled
    assert {problem.step for problem in shown.draft.problems} == {"2", "3"}


def test_one_form_is_open_at_a_time() -> None:
    shown = desk()
    press(shown, "Edit 1", "Edit 3")
    assert "Edit 1" in shown.controls
    assert "3: hotel" in shown.controls
    assert "1: city" not in shown.controls


@pytest.mark.parametrize(("name", "verdict"), [("Reject", "reject"), ("Ask for changes", "change")])
def test_saying_no_needs_a_comment(name: str, verdict: str) -> None:
    shown = desk()
    assert shown.controls[name].disabled
    fill(shown, "Comment", "   ")
    assert shown.controls[name].disabled
    fill(shown, "Comment", "too far away")
    press(shown, name)
    assert (shown.decision.verdict, shown.decision.comment) == (verdict, "too far away")


def test_saying_no_is_possible_while_the_plan_is_unfit() -> None:
    shown = desk(Plan())
    assert shown.controls["Approve"].disabled
    fill(shown, "Comment", "there is nothing in it")
    press(shown, "Ask for changes")
    assert shown.decision.verdict == "change"


def test_a_grant_goes_with_the_approval() -> None:
    shown = desk()
    fill(shown, "Later plans", "some")
    assert shown.controls["Approve"].disabled
    fill(shown, "Later plans", "2")
    press(shown, "Approve")
    assert shown.decision.grant == Grant(2)


def test_nothing_can_be_changed_after_the_decision() -> None:
    shown = desk()
    press(shown, "Edit 1", "Approve")
    assert all(control.disabled for control in shown.controls.values())
    fill(shown, "Comment", "no")
    shown.controls["Reject"].click()
    assert shown.decision.verdict == "approve"


def test_the_decision_can_be_read_only_when_it_is_made() -> None:
    shown = desk()
    with pytest.raises(NotDecided, match="there is no decision yet"):
        _ = shown.decision


def test_the_closed_desk_says_what_was_decided_by_whom_and_about_which_plan() -> None:
    shown = desk(by="Ada")
    press(shown, "Edit 3", "Remove 3")
    fill(shown, "Later plans", "2")
    fill(shown, "Comment", "no <hotel>")
    press(shown, "Approve")
    decision = shown.decision
    assert (decision.by, decision.comment, decision.grant, decision.of) == ("Ada", "no <hotel>", Grant(2), PLAN.hash)
    assert decision.plan is not None
    text = words(shown)
    assert f"Approved by Ada: plan {decision.plan.hash[:8]}" in text
    assert f"2 steps, as edited here (the planner wrote {PLAN.hash[:8]})." in text
    assert "Later plans may add up to 2 steps without asking, none that runs at most once." in text
    assert "Comment: no &lt;hotel&gt;" in text


def test_what_is_typed_too_late_changes_nothing_of_what_was_decided() -> None:
    shown = desk()
    press(shown, "Edit 1")
    late = shown.controls["1: city"]
    press(shown, "Approve")
    text = words(shown)
    late.value = "Quito"
    fill(shown, "Later plans", "9")
    assert words(shown) == text
    assert (shown.decision.plan, shown.decision.grant) == (None, None)


def test_what_the_planner_changed_since_the_round_before_is_listed() -> None:
    assert "Step 3 removed: Book" in words(desk(PLAN.changed(steps=PLAN.steps[:2]), before=PLAN))


def test_the_text_form_is_the_plan_as_it_came_whatever_was_pressed() -> None:
    shown = desk()
    before = still(shown)["text/plain"]
    press(shown, "Edit 1", "Remove 1")
    assert repr(shown) == still(shown)["text/plain"] == before
    assert "book(hotel='Sol, {step_1_result}')" in before
    assert "runs at most once, can't be undone" in before


def test_a_plan_with_a_doubled_id_can_be_mended() -> None:
    shown = desk(Plan(steps=(PLAN.steps[0], PLAN.steps[0])))
    assert shown.controls["Approve"].disabled
    press(shown, "Edit 1", "Remove 1", "Approve")
    assert shown.decision.plan == Plan(steps=(PLAN.steps[0],))


@tool(effects="none")
def note(description: str, tool: int, undo: bool = False) -> str:
    """A tool whose parameters are called as the fields of a step are."""
    return description


def test_a_parameter_called_like_a_field_of_the_step_has_a_field_of_its_own() -> None:
    shown = desk(Plan(steps=(Step(id="1", tool="note", params={"description": "a", "": 1}),)), Toolbox([note]))
    press(shown, "Edit 1")
    fill(shown, "1: argument description", "b")
    fill(shown, "1: argument tool", "many")
    fill(shown, "1: description", "Take a note")
    at = {marks.place(shown.draft, shown.draft.rows[0], problem) for problem in shown.draft.problems}
    assert at == {"argument tool", "argument"}
    fill(shown, "1: argument tool", "3")
    fill(shown, "1: argument", "")
    press(shown, "Approve")
    assert shown.decision.plan is not None
    wanted = Step(id="1", description="Take a note", tool="note", params={"description": "b", "tool": 3})
    assert shown.decision.plan.steps == (wanted,)


TEXTS = st.sampled_from(
    ["", "1", "1, 2", "2 3", "9", "1!", "30", "many", "true", '["a"]', "{step_1_result}", "Lima", "["]
)
UNTIL = ("Approve", "Reject", "Ask for changes")


@pytest.mark.slow
@given(
    st.lists(st.tuples(st.integers(0, 10**6), TEXTS, st.integers(0, 10**6)), max_size=25), st.sampled_from(["", "7"])
)
def test_any_gestures_leave_a_fit_plan_or_a_dark_approve(moves: list[tuple[int, str, int]], done: str) -> None:
    shown = desk(done=tuple(done))
    for which, text, choice in moves:
        names = [name for name in shown.controls if name not in UNTIL]
        control = shown.controls[names[which % len(names)]]
        if control.disabled:
            continue
        if hasattr(control, "click"):
            control.click()
        elif getattr(control, "options", ()) and choice % 3:
            control.value = control.options[choice % len(control.options)]
        else:
            control.value = text
        plan = shown.draft.plan
        fit = plan is not None and not plan.problems(TOOLS, tuple(done)) and not shown.draft.problems
        fit = fit and shown.controls["Later plans"].value in ("", "1", "9", "30")
        assert shown.controls["Approve"].disabled is not fit
        assert [row.id for row in shown.draft.rows] == [box.children[0].children[1].description.split()[1]
                                                        for box in shown._rows._list.children]  # fmt: skip
    shown.controls["Approve"].click()
    if "Yes, approve" in shown.controls:
        shown.controls["Yes, approve"].click()
    if shown.decided:
        approved = shown.decision.plan or PLAN
        assert approved.problems(TOOLS, tuple(done)) == []
        assert shown.draft.plan is not None
        assert approved.hash == shown.draft.plan.hash


def test_the_picture_that_stays_says_the_verdict_and_the_plan() -> None:
    shown = desk(by="Ada")
    press(shown, "Edit 3", "Remove 3")
    fill(shown, "Comment", "no <b>hotel")
    press(shown, "Approve")
    assert shown.decision.plan is not None
    kept = still(shown)
    assert kept["text/plain"].startswith(f"Approved by Ada: plan {shown.decision.plan.hash[:8]}\n2 steps, as edited")
    assert "no &lt;b&gt;hotel" in kept["text/html"]
    assert "book(" not in kept["text/plain"]


def test_the_desk_of_ipywidgets_7_has_no_focus_to_put_and_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("ipywidgets.DOMWidget.focus")
    shown = desk()
    press(shown, "Edit 2", "Remove 2", "Add a step")
    fill(shown, "4: tool", "look_up")
    fill(shown, "4: city", "Lima")
    press(shown, "Approve")
    assert shown.decision.verdict == "approve"
    assert all(control.disabled for control in shown.controls.values())
