"""Opening a desk, finding it again, and the words where that is not possible."""

import subprocess
import sys

import pytest

from planexec_lab.views import NobodyThere, NotDecided
from planexec_lab.views import desk as open_desk
from planexec_lab.views.review_desk import opening, presence
from tests.guards import books
from tests.views.desks import PLAN, TOOLS, desk, press


@pytest.fixture
def nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cell that a program runs, which says that nobody is there."""
    monkeypatch.setattr(presence, "nobody", lambda views: True)


def test_a_desk_that_is_open_is_found_again_with_its_edits() -> None:
    first = open_desk(PLAN, TOOLS)
    press(first, "Edit 3", "Remove 3")
    assert open_desk() is first
    second = open_desk(PLAN, TOOLS)
    press(second, "Approve")
    assert open_desk() is first


def test_without_an_open_desk_the_words_say_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "_open", [])
    with pytest.raises(NotDecided, match=r"no desk is open .* the kernel was restarted; run the cell with views.desk"):
        open_desk()


def test_a_desk_without_tools_is_refused() -> None:
    with pytest.raises(TypeError, match="the tools are missing"):
        open_desk(PLAN)  # type: ignore[call-overload]


def test_an_error_about_a_person_is_a_sentence_and_no_traceback() -> None:
    assert NotDecided("nobody")._render_traceback_() == ["NotDecided: nobody"]


@pytest.mark.usefixtures("nobody")
def test_the_twin_plays_where_nobody_is_there() -> None:
    assert desk(script=["Approve"]).decision.by == "script"


@pytest.mark.usefixtures("nobody")
def test_without_a_person_and_without_a_script_there_is_an_error() -> None:
    with pytest.raises(NobodyThere, match="pass a script"):
        _ = desk().decision


@pytest.mark.slow
def test_views_load_ipywidgets_only_when_a_widget_is_asked_for() -> None:
    code = """import sys
from planexec_lab import views
assert "ipywidgets" not in sys.modules
import planexec_lab.views.review_desk.draft
assert all(map(callable, (views.desk, views.live, views.player)))
assert "ipywidgets" in sys.modules"""
    subprocess.run([sys.executable, "-c", code], cwd=books.ROOT, check=True, timeout=600)
