"""The desk in process: what its controls and scripts do, that Approve is off while the plan is unfit, and late keys."""

from threading import Thread
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planexec_lab.views import NobodyThere, NotDecided, ScriptError
from planexec_lab.views import desk as open_desk
from planexec_lab.views.review_desk import opening, presence
from planexec_lab.views.review_desk.draft import Draft
from planexec_lab.views.review_desk.widget import Review
from planexec_lite import Decision, Plan, Step
from planexec_lite.run.events import Grant
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


def played(*script: str | tuple[str, str], plan: Plan = PLAN) -> Decision:
    shown = desk(plan)
    shown.play(list(script))
    return shown.decision


@pytest.mark.parametrize(
    ("field", "value", "name", "wanted"),
    [
        ("1: days", "30", "params", {"city": "Lima", "days": 30}),
        ("1: units", "imperial", "params", {"city": "Lima", "units": "imperial"}),
        ("3: description", "Look", "description", "Look"),
        ("3: tool", "cancel", "tool", "cancel"),
        ("3: hotel", "Luna", "params", {"hotel": "Luna"}),
        ("3: waits for", "1, 2", "depends_on", ("1", "2")),
        ("3: done when", "", "success_criteria", None),
    ],
)
def test_every_field_of_a_step_can_be_changed(field: str, value: str, name: str, wanted: Any) -> None:
    plan = played((field, value), "Approve").plan
    place = int(field[0]) - 1
    assert getattr(plan.steps[place], name) == wanted
    assert [step for n, step in enumerate(plan.steps) if n != place] == [
        step for n, step in enumerate(PLAN.steps) if n != place
    ]


def test_a_problem_is_said_at_the_step_at_the_field_and_at_the_decision() -> None:
    shown = desk()
    press(shown, "Edit 1")
    fill(shown, "1: days", "many")
    assert words(shown).count("valid integer") == 2
    shown.controls["Approve"].click()  # it was on its way when the problem came up
    assert not shown.decided
    press(shown, "Close 1")
    assert words(shown).count("valid integer") == 2
    press(shown, "Edit 1")
    fill(shown, "1: days", "3")
    assert "valid integer" not in words(shown)
    press(shown, "Remove 1")
    assert shown.controls["Approve"].disabled
    assert {problem.step for problem in shown.draft.problems} == {"2", "3"}


@pytest.mark.parametrize(("name", "verdict"), [("Reject", "reject"), ("Ask for changes", "change")])
def test_saying_no_needs_a_comment_and_no_fit_plan(name: str, verdict: str) -> None:
    shown = desk(Plan())
    for comment in ("", "   "):
        fill(shown, "Comment", comment)
        assert shown.controls[name].disabled
    fill(shown, "Comment", "too far away")
    press(shown, name)
    assert (shown.decision.verdict, shown.decision.comment) == (verdict, "too far away")


def test_nothing_can_be_changed_after_the_decision() -> None:
    shown = desk()
    press(shown, "Edit 1")
    late = shown.controls["1: city"]
    with pytest.raises(NotDecided, match="there is no decision yet"):
        _ = shown.decision
    press(shown, "Approve")
    text = words(shown)
    assert all(control.disabled for control in shown.controls.values())
    late.value = "Quito"
    fill(shown, "Later plans", "9")
    fill(shown, "Comment", "no")
    shown.controls["Reject"].click()
    assert words(shown) == text
    assert (shown.decision.verdict, shown.decision.plan, shown.decision.grant) == ("approve", None, None)


def test_the_closed_desk_says_what_was_decided_by_whom_and_about_which_plan() -> None:
    shown = desk(by="Ada")
    before = still(shown)["text/plain"]
    assert "book(hotel='Sol, {step_1_result}')" in before
    assert "runs at most once, can't be undone" in before
    press(shown, "Edit 3", "Remove 3")
    assert repr(shown) == still(shown)["text/plain"] == before, "the plan as it came, whatever was pressed"
    fill(shown, "Later plans", "some")
    assert shown.controls["Approve"].disabled
    fill(shown, "Later plans", "2")
    fill(shown, "Comment", "no <hotel>")
    press(shown, "Approve")
    decision, text, picture = shown.decision, words(shown), still(shown)
    assert (decision.by, decision.comment, decision.grant) == ("Ada", "no <hotel>", Grant(2))
    assert f"Approved by Ada: plan {decision.plan.hash[:8]}" in text
    assert f"2 steps, as edited here (the planner wrote {PLAN.hash[:8]})." in text
    assert "Later plans may add up to 2 steps without asking, none that runs at most once." in text
    assert "Comment: no &lt;hotel&gt;" in text
    assert picture["text/plain"].startswith(f"Approved by Ada: plan {decision.plan.hash[:8]}\n")
    assert "no &lt;hotel&gt;" in picture["text/html"]
    assert "book(" not in picture["text/plain"]


def test_a_removed_step_comes_back_to_its_place_and_so_does_the_planner_s_plan() -> None:
    shown = desk()
    assert not {"Undo", "Back to the planner's plan"} & {*shown.controls}
    press(shown, "Edit 2", "Remove 2", "Edit 1")
    fill(shown, "1: days", "9")
    press(shown, "Undo: Remove 2")
    assert [row.id for row in shown.draft.rows] == ["1", "2", "3"]
    assert shown.draft.rows[1].step == shown.draft.received.steps[1].model_dump()
    assert shown.draft.edited, "what was typed in the meantime stays"
    assert "Undo: Remove 2" not in shown.controls
    press(shown, "Add a step", "Back to the planner's plan")
    assert not shown.draft.edited
    assert "Back to the planner's plan" not in shown.controls
    press(shown, "Edit 1")
    assert shown.controls["1: days"].value != "9"
    press(shown, "Edit 3", "Remove 3")
    late = [shown.controls[name] for name in ("Undo: Remove 3", "Back to the planner's plan")]
    fill(shown, "Comment", "no")
    press(shown, "Reject")
    text = words(shown)
    for control in late:  # they were on their way when the decision was made
        control.click()
    assert words(shown) == text
    assert [row.id for row in shown.draft.rows] == ["1", "2"]
    assert all(control.disabled for control in shown.controls.values())


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


def test_the_desk_of_ipywidgets_7_has_no_focus_to_put_and_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("ipywidgets.DOMWidget.focus")
    decision = played("Remove 2", "Add a step", ("4: tool", "look_up"), ("4: city", "Lima"), "Approve")
    added = Step(id="4", tool="look_up", params={"city": "Lima"}, depends_on=("3",))
    assert (decision.verdict, decision.plan.steps[-1]) == ("approve", added)


@pytest.mark.parametrize(
    ("script", "message"),
    [
        (["Aprove"], "there is no control 'Aprove'; did you mean 'Approve'"),
        ([("9: city", "Lima")], "there is no control '9: city'"),
        (
            [("1: city", ""), "Approve"],
            "'Approve' can't be pressed right now: 1 problem:\nstep 1: look_up: parameter 'city'",
        ),
        (["Reject"], "'Reject' can't be pressed right now: write a comment first"),
        (["1: city", "Approve"], "this is a field"),
        ([("Approve", "yes")], "this is a button"),
        ([("1: tool", "fly"), "Approve"], "there is no tool 'fly'"),
        ([("1: units", "feet"), "Approve"], "parameter 'units'"),
        ([], "the script ended without a decision"),
        (["Approve", "Remove 1"], "decided about already"),
    ],
)
def test_a_script_that_can_not_be_played_is_explained(script: list[str | tuple[str, str]], message: str) -> None:
    with pytest.raises(ScriptError) as problem:
        desk().play(script)
    assert message in str(problem.value)


# --- opening a desk, and finding it again -----------------------------------------------------------------------------


def test_a_desk_that_is_open_is_found_again_with_its_edits(monkeypatch: pytest.MonkeyPatch) -> None:
    first = open_desk(PLAN, TOOLS)
    press(first, "Edit 3", "Remove 3")
    assert open_desk() is first
    press(open_desk(PLAN, TOOLS), "Approve")
    assert open_desk() is first
    monkeypatch.setattr(opening, "_open", [])
    with pytest.raises(NotDecided, match=r"no desk is open .* the kernel was restarted; run the cell with views.desk"):
        open_desk()
    with pytest.raises(TypeError, match="the tools are missing"):
        open_desk(PLAN)  # type: ignore[call-overload]
    (line,) = NotDecided("a sentence")._render_traceback_()
    assert "▸ The run stops here and waits for you: a sentence. " in line


def test_a_script_plays_where_a_program_says_that_it_is_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(presence, "nobody", lambda views: True)
    assert desk(script=["Approve"]).decision.by == "script"
    with pytest.raises(NobodyThere, match="pass a script"):
        _ = desk().decision


# --- a press counts after what was typed before it, however late that arrives -----------------------------------------


@pytest.fixture
def shown() -> Review:
    """A desk that a page shows, and that answers late; its plan only reads, so a yes is not asked for twice."""
    made = desk(PLAN.changed(steps=PLAN.steps[:1]))
    made.box._view_count = 1
    return made


def page_answers(shown: Review) -> None:
    """Report that the page has handled everything that the kernel sent."""
    shown._fence._post._view_count = len(shown._fence.box.children)


def click(shown: Review, name: str) -> None:
    shown.controls[name].click()


def test_an_edit_on_another_thread_waits_for_this_one(monkeypatch: pytest.MonkeyPatch) -> None:
    shown, added = desk(), Draft.added
    typing = Thread(target=fill, args=(shown, "1: days", "30"))

    def slowly(draft: Draft) -> Draft:
        typing.start()
        typing.join(0.3)
        return added(draft)

    monkeypatch.setattr(Draft, "added", slowly)
    press(shown, "Edit 1", "Add a step")
    typing.join()
    assert shown.draft.params(0) == {"city": "Lima", "days": 30}
    assert "4: tool" in shown.controls


@pytest.mark.parametrize("late", ["10", "1x"])  # the page sends it when "1" was answered
def test_a_press_overtakes_no_key(late: str, shown: Review) -> None:
    fill(shown, "Later plans", "1")
    click(shown, "Approve")
    assert not shown.decided
    fill(shown, "Later plans", late)
    page_answers(shown)
    page_answers(shown)
    assert shown.decided == (late == "10")
    assert shown.decision.grant == Grant(10) if shown.decided else "takes a number of steps" in shown._stand.value


def test_two_presses_decide_once_and_the_first_counts(shown: Review) -> None:
    fill(shown, "Comment", "n")
    click(shown, "Reject")
    click(shown, "Approve")
    page_answers(shown)
    assert shown.decision.verdict == "reject"


def test_a_key_that_is_on_its_way_when_the_desk_asks_again_is_not_lost() -> None:
    shown = desk()
    shown.box._view_count = 1
    click(shown, "Approve")
    fill(shown, "Later plans", "1")
    assert "Yes, approve" not in shown.controls  # the question was about less
    page_answers(shown)
    click(shown, "Approve")
    click(shown, "Yes, approve")
    assert shown.decision.grant == Grant(1)


def test_a_press_is_not_lost_when_the_page_is_another_one(shown: Review) -> None:
    fill(shown, "Comment", "n")
    page_answers(shown)
    fill(shown, "Comment", "no")  # the page is loaded again before it answers
    old = shown._fence._post
    click(shown, "Reject")
    click(shown, "Reject")
    assert shown._fence._post is not old
    assert not shown.decided
    page_answers(shown)
    assert shown.decision.verdict == "reject"


def test_a_press_waits_for_no_page_that_has_answered_or_is_gone(shown: Review) -> None:
    fill(shown, "Later plans", "1")
    page_answers(shown)
    click(shown, "Approve")
    assert shown.decision.grant == Grant(1)
    script, gone = desk(), desk()
    script.box._view_count = gone.box._view_count = 1
    script.play([("Comment", "no"), "Reject"])
    assert (script.decision.verdict, script.decision.by) == ("reject", "script")
    fill(gone, "Comment", "no")
    click(gone, "Reject")
    still(gone)  # in a new cell, after the page was loaded again
    click(gone, "Reject")
    assert gone.decision.verdict == "reject"


@pytest.mark.parametrize("answers", [True, False])
def test_a_page_that_does_not_answer_is_asked_once(answers: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = desk(PLAN.changed(steps=PLAN.steps[:1]))
    monkeypatch.setattr(presence, "request", lambda: {"msg_type": "comm_msg"})
    fill(shown, "Later plans", "5")
    click(shown, "Approve")
    assert not shown.decided
    if answers:
        fill(shown, "Later plans", "")  # the page kept it until "5" was answered
        page_answers(shown)
        page_answers(shown)
    else:
        click(shown, "Approve")
    assert shown.decision.grant == (None if answers else Grant(5))
