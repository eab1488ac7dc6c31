"""Waiting for a person in a cell, and knowing that nobody is there; in process, and in real kernels."""

import asyncio
import subprocess
import sys
from pathlib import Path
from threading import Thread
from typing import Any

import nbformat
import pytest

from planexec_lite import Decision
from planexec_lite.views import NobodyThere, review
from planexec_lite.views.review_desk import Review, asking, presence
from tests.guards import books
from tests.views.desks import PLAN, TOOLS, desk, press

PERSON = {"msg_type": "execute_request", "content": {"allow_stdin": True}, "metadata": {"cellId": "a"}}
PROGRAM: dict[str, Any] = {"msg_type": "execute_request", "content": {"allow_stdin": False}, "metadata": {}}


@pytest.mark.parametrize(
    ("request_", "views", "nobody"),
    [
        (PERSON, 1, False),
        (PERSON, 0, False),
        (PROGRAM, 0, True),
        (PROGRAM, None, True),
        (PROGRAM, 1, False),
        (PROGRAM | {"content": {"allow_stdin": True}}, 0, False),
        (PROGRAM | {"content": {}}, 0, False),
        (PROGRAM | {"metadata": {"cellId": "a"}}, 0, False),
        ({"msg_type": "comm_msg"}, 0, False),
        ({}, 0, False),
        (None, 0, True),
    ],
)
def test_one_sign_of_a_person_is_enough(request_: dict[str, Any] | None, views: int | None, nobody: bool) -> None:
    assert presence.nobody(views, request_) is nobody


def test_a_front_end_that_says_little_has_time_to_show_the_widget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(presence, "request", lambda: PROGRAM)
    views = iter([0, 0, 0, 1])
    assert asyncio.run(presence.nobody_there(lambda: next(views))) is False
    assert asyncio.run(presence.nobody_there(lambda: 0, grace=0.1)) is True


def ask(monkeypatch: pytest.MonkeyPatch, gestures: Any, **more: Any) -> Decision:
    """What `review` returns in a person's session, when somebody makes `gestures` on the desk that it shows."""
    shown: list[Review] = []

    class Watched(Review):
        def __init__(self, *plan: Any, **given: Any) -> None:
            super().__init__(*plan, **given)
            shown.append(self)

    monkeypatch.setattr(asking, "Review", Watched)
    monkeypatch.setattr(presence, "request", lambda: PERSON)

    async def both() -> Decision:
        waiting = asyncio.ensure_future(review(PLAN, TOOLS, **more))
        await asyncio.sleep(0.05)
        assert not waiting.done()
        gestures(shown[0])
        return await waiting

    return asyncio.run(both())


def test_a_cell_waits_until_a_person_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ask(monkeypatch, lambda desk: press(desk, "Approve")) == Decision("approve", of=PLAN.hash)


def test_a_click_may_arrive_on_another_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ask(monkeypatch, lambda desk: Thread(target=press, args=(desk, "Approve")).start()).verdict == "approve"


def test_the_script_is_not_used_in_a_persons_session(monkeypatch: pytest.MonkeyPatch) -> None:
    said = ask(monkeypatch, lambda desk: press(desk, "Edit 3", "Remove 3", "Approve"), script=["Approve"])
    assert said.by == "reviewer"
    assert said.plan is not None


def test_nobody_decides_in_time_and_nothing_is_approved(monkeypatch: pytest.MonkeyPatch) -> None:
    desks: list[Review] = []
    with pytest.raises(TimeoutError, match="nobody decided within"):
        ask(monkeypatch, desks.append, timeout=0.2, script=["Approve"])
    assert desks[0].controls["Approve"].disabled
    desks[0].controls["Approve"].click()  # one that was on its way
    assert not desks[0].decided


def test_an_interrupted_wait_closes_the_desk(monkeypatch: pytest.MonkeyPatch) -> None:
    async def interrupted() -> None:
        waiting = asyncio.ensure_future(shown.wait())
        await asyncio.sleep(0.05)
        waiting.cancel()
        await waiting

    shown = desk()
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(interrupted())
    assert shown.controls["Approve"].disabled
    assert not shown.decided


def test_views_load_ipywidgets_only_when_a_widget_is_asked_for() -> None:
    code = """import sys
from planexec_lite import views
assert "ipywidgets" not in sys.modules
import planexec_lite.views.review_desk.draft
assert callable(views.review) and callable(views.live) and callable(views.player)
assert "ipywidgets" in sys.modules"""
    subprocess.run([sys.executable, "-c", code], cwd=books.ROOT, check=True, timeout=60)


def test_the_split_cell_form_plays_its_script_where_nobody_is_there() -> None:
    shown = desk(script=["Approve"])
    assert shown.decision.by == "script"


def test_the_split_cell_form_waits_for_a_person(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(presence, "request", lambda: PERSON)
    shown = desk(script=["Approve"])
    with pytest.raises(RuntimeError, match="nobody has decided yet"):
        _ = shown.decision
    press(shown, "Approve")
    assert shown.decision.by == "reviewer"


def test_without_a_kernel_the_script_is_played() -> None:
    assert asyncio.run(review(PLAN, TOOLS, script=["Approve"])).by == "script"


def test_without_a_person_and_without_a_script_there_is_an_error() -> None:
    with pytest.raises(NobodyThere, match="give a script"):
        asyncio.run(review(PLAN, TOOLS))


FIRST = "from planexec_lite import views\nfrom tests.views.desks import PLAN, TOOLS"
SCRIPTED = """decision = await views.review(PLAN, TOOLS, script=[("1: days", "30"), "Approve"])
print(decision.verdict, decision.by, decision.plan.steps[0])"""
SPLIT = ['desk = views.Review(PLAN, TOOLS, script=["Approve"])\ndesk', "desk.decision"]
ALONE = "await views.review(PLAN, TOOLS)"


def book(folder: Path, *cells: str) -> Path:
    path = folder / "00_review.ipynb"
    return books.write(path, *(books.code(cell, tags=["raises-exception"] * (cell == ALONE)) for cell in cells))


@pytest.mark.notebooks
@pytest.mark.slow
def test_strict_nbval_passes_twice_and_jupyter_execute_ends(tmp_path: Path) -> None:
    tool, paths = books.notebook_tool(), {"PYTHONPATH": f"{books.ROOT}:{books.NETWORK_CUT}"}
    path = book(tmp_path, FIRST, SCRIPTED, *SPLIT, ALONE)
    execute = [str(Path(sys.executable).with_name("jupyter")), "execute", "--inplace", str(path)]
    env = books.environment(tmp_path) | paths
    done = subprocess.run(execute, env=env, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    path.write_text(tool.normal_form(path.read_text(encoding="utf-8"), path.stem), encoding="utf-8")
    cells = nbformat.read(path, as_version=4).cells
    assert cells[1].outputs[0].data["text/plain"].startswith("To review: 3 steps to “Go to Lima”")
    assert cells[1].outputs[1].text == "approve script look_up(city='Lima', days=30)\n"
    assert cells[4].outputs[-1].ename == "NobodyThere"
    for place in books.PLACES:
        checked = books.nbval(path, scratch=tmp_path, **place | paths)
        assert checked.returncode == 0, checked.stdout
