"""Opening a desk, finding it again, waiting for it in a cell, and the words where none of that is possible."""

import asyncio
import subprocess
import sys
from importlib import import_module
from threading import Thread
from typing import Any

import pytest

from planexec_lite import Decision
from planexec_lite.views import CannotWait, NobodyThere, NotDecided, review
from planexec_lite.views import desk as open_desk
from planexec_lite.views.review_desk import Review, listening, opening, presence
from tests.guards import books
from tests.views.desks import PLAN, TOOLS, desk, press

LAB = {
    "msg_type": "execute_request",
    "content": {"allow_stdin": True},
    "metadata": {"cellId": "a", "deletedCells": [], "recordTiming": False},
}
VS_CODE = LAB | {"metadata": {"cellId": "vscode-notebook-cell:/lesson.ipynb#W1sZmlsZQ"}}
CLASSIC: dict[str, Any] = {"msg_type": "execute_request", "content": {"allow_stdin": True}, "metadata": {}}


@pytest.fixture
def person(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cell of JupyterLab on a kernel that hears a press while the cell waits."""
    monkeypatch.setattr(listening, "deaf", lambda: "")
    monkeypatch.setattr(presence, "nobody", lambda views: False)


@pytest.fixture
def nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cell that a program runs, which says that nobody is there."""
    monkeypatch.setattr(presence, "nobody", lambda views: True)


def ask(gestures: Any, **more: Any) -> Decision:
    """What `review` returns in a person's session, when somebody makes `gestures` on the desk that it shows."""

    async def both() -> Decision:
        waiting = asyncio.ensure_future(review(PLAN, TOOLS, **more))
        await asyncio.sleep(0.05)
        assert not waiting.done()
        gestures(open_desk())
        return await waiting

    return asyncio.run(both())


@pytest.mark.usefixtures("person")
def test_a_cell_waits_until_a_person_decides() -> None:
    assert ask(lambda desk: press(desk, "Approve")) == Decision("approve", of=PLAN.hash)


@pytest.mark.usefixtures("person")
def test_a_click_may_arrive_on_another_thread() -> None:
    assert ask(lambda desk: Thread(target=press, args=(desk, "Approve")).start()).verdict == "approve"


@pytest.mark.usefixtures("person")
def test_the_script_is_not_used_in_a_persons_session() -> None:
    decision = ask(lambda desk: press(desk, "Edit 3", "Remove 3", "Approve"), script=["Approve"])
    assert decision.by == "reviewer"
    assert decision.plan is not None


@pytest.mark.usefixtures("person")
def test_nobody_decides_in_time_and_nothing_is_approved() -> None:
    desks: list[Review] = []
    with pytest.raises(TimeoutError, match="nobody decided within"):
        ask(desks.append, timeout=0.2, script=["Approve"])
    assert desks[0].controls["Approve"].disabled
    desks[0].controls["Approve"].click()  # one that was on its way
    assert not desks[0].decided


@pytest.mark.usefixtures("person")
def test_an_interrupted_wait_leaves_the_desk_to_another_cell() -> None:
    async def interrupted() -> None:
        waiting = asyncio.ensure_future(review(PLAN, TOOLS))
        await asyncio.sleep(0.05)
        waiting.cancel()
        await waiting

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(interrupted())
    again = open_desk()
    assert not again.decided
    assert "views.desk().decision" in again._answer._stand.value
    press(again, "Edit 3", "Remove 3", "Approve")
    assert again.decision.plan is not None


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"ipykernel": "6.17.1"}, "ipykernel 7.4 or newer is needed"),
        ({"ipykernel": "7.3.0"}, "ipykernel 7.4 or newer is needed"),
        ({"ipywidgets": "7.7.1"}, "ipywidgets 8 or newer is needed"),
        ({"request": CLASSIC}, "only JupyterLab and Notebook 7"),
        ({"request": VS_CODE}, "only JupyterLab and Notebook 7"),
        ({"request": {}}, "only JupyterLab and Notebook 7"),
        ({"ipykernel": ""}, "ipykernel 7.4 or newer is needed, and here is none"),
        ({"request": None}, "there is no notebook here"),
    ],
)
def test_where_a_press_would_not_arrive_a_cell_refuses_to_wait_at_once(
    monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any], why: str
) -> None:
    for package, version in (("ipykernel", "7.4.0"), ("ipywidgets", "8.1.9")):
        monkeypatch.setattr(import_module(package), "__version__", changes.get(package, version))
    monkeypatch.setattr(listening, "request", lambda: changes.get("request", LAB))
    for waits in (review(PLAN, TOOLS, script=["Approve"]), desk().wait()):
        with pytest.raises(CannotWait) as problem:
            asyncio.run(waits)
        assert why in str(problem.value)
        assert "desk = views.desk(plan, tools)" in str(problem.value)


def test_a_desk_that_is_open_is_found_again_with_its_edits() -> None:
    first = open_desk(PLAN, TOOLS)
    press(first, "Edit 3", "Remove 3")
    assert open_desk() is first
    second = open_desk(PLAN, TOOLS)
    press(second, "Approve")
    assert open_desk() is first


def test_without_an_open_desk_the_words_say_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "_last", [])
    with pytest.raises(NotDecided, match=r"no desk is open .* the kernel was restarted; run the cell with views.desk"):
        open_desk()


def test_a_desk_without_tools_is_refused() -> None:
    with pytest.raises(TypeError, match="the tools are missing"):
        open_desk(PLAN)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="finds the one that is open"):
        open_desk(by="Ada")  # type: ignore[call-overload]


def test_an_error_about_a_person_is_a_sentence_and_no_traceback() -> None:
    assert NotDecided("nobody")._render_traceback_() == ["NotDecided: nobody"]


@pytest.mark.usefixtures("nobody")
def test_the_twin_plays_in_both_forms_where_nobody_is_there() -> None:
    assert desk(script=["Approve"]).decision.by == "script"
    assert asyncio.run(review(PLAN, TOOLS, script=["Approve"])).by == "script"


@pytest.mark.usefixtures("nobody")
def test_without_a_person_and_without_a_script_there_is_an_error() -> None:
    with pytest.raises(NobodyThere, match="give a script"):
        asyncio.run(review(PLAN, TOOLS))
    with pytest.raises(NobodyThere, match="give a script"):
        _ = desk().decision


@pytest.mark.slow
def test_views_load_ipywidgets_only_when_a_widget_is_asked_for() -> None:
    code = """import sys
from planexec_lite import views
assert "ipywidgets" not in sys.modules
import planexec_lite.views.review_desk.draft
assert all(map(callable, (views.desk, views.review, views.live, views.player)))
assert "ipywidgets" in sys.modules"""
    subprocess.run([sys.executable, "-c", code], cwd=books.ROOT, check=True, timeout=600)
