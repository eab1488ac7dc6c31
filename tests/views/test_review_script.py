"""The scripted twin presses the desk's own controls, and says what is wrong with a script."""

import pytest

from planexec_lab.views import ScriptError
from planexec_lite import Plan
from tests.views.desks import PLAN, desk, fill, press


def test_a_script_decides_what_the_same_gestures_by_hand_decide() -> None:
    played, pressed = desk(), desk()
    played.play([("1: days", "30"), "Remove 3", ("Later plans", "0"), "Approve"])
    press(pressed, "Edit 1")
    fill(pressed, "1: days", "30")
    press(pressed, "Edit 3", "Remove 3")
    fill(pressed, "Later plans", "0")
    press(pressed, "Approve")
    assert (played.decision.plan, played.decision.grant) == (pressed.decision.plan, pressed.decision.grant)


def test_a_script_can_say_no() -> None:
    shown = desk()
    shown.play([("Comment", "stay at home"), "Reject"])
    assert (shown.decision.verdict, shown.decision.comment) == ("reject", "stay at home")


def test_a_script_adds_a_step_and_fills_it_in() -> None:
    shown = desk()
    shown.play(["Add a step", ("4: tool", "cancel"), ("4: hotel", "Sol"), ("4: waits for", "3"), "Approve"])
    assert shown.decision.plan is not None
    assert [str(step) for step in shown.decision.plan.steps][3] == "cancel(hotel='Sol')"


def test_a_choice_is_made_by_its_words() -> None:
    shown = desk()
    shown.play([("1: units", "imperial"), "Approve"])
    assert shown.decision.plan is not None
    assert shown.decision.plan.steps[0].params["units"] == "imperial"


@pytest.mark.parametrize(
    ("script", "message"),
    [
        (["Aprove"], "there is no control 'Aprove'; did you mean 'Approve'"),
        ([("9: city", "Lima")], "there is no control '9: city'"),
        ([("1: city", ""), "Approve"], "'Approve' can't be pressed right now: step 1: look_up: parameter 'city'"),
        (["Reject"], "'Reject' can't be pressed right now: write a comment first"),
        (["1: city", "Approve"], "this is a field"),
        ([("Approve", "yes")], "this is a button"),
        ([("1: tool", "fly"), "Approve"], "there is no tool 'fly'"),
        ([("1: units", "feet"), "Approve"], "parameter 'units'"),
        ([], "the script ended without a decision"),
        (["Approve", "Remove 1"], "decided about already"),
    ],
)
def test_a_script_that_nobody_could_play_is_explained(script: list[str | tuple[str, str]], message: str) -> None:
    with pytest.raises(ScriptError) as problem:
        desk().play(script)
    assert message in str(problem.value)


def test_an_unfit_plan_is_never_approved_by_a_script() -> None:
    shown = desk(Plan(steps=(PLAN.steps[2],)))
    with pytest.raises(ScriptError):
        shown.play(["Approve"])
    assert not shown.decided
