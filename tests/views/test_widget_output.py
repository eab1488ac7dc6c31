"""A player, a live board and a quiz are shown as widgets, and leave a still picture where the widget is gone."""

import re
from collections.abc import Callable
from typing import Any

import ipywidgets
import pytest

from exercises.quiz import quiz
from planexec_lab import views
from planexec_lab.views.widgets import widget_output
from tests.views.cells import shown, still
from tests.views.worlds import deploy

VIEW = "application/vnd.jupyter.widget-view+json"


def followed() -> Any:
    screen = views.live()
    screen(deploy())
    return screen


SHOWN: dict[str, Callable[[], Any]] = {
    "player": lambda: views.player(deploy()),
    "live board before a run": views.live,
    "live board": followed,
    "quiz": lambda: quiz("02"),
}
each = pytest.mark.parametrize("name", SHOWN)


@each
def test_it_is_shown_where_widgets_have_no_mimebundle(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in Colab, whose ipywidgets is 7.7."""
    monkeypatch.delattr(ipywidgets.Widget, "_repr_mimebundle_")
    box, (widget, _) = shown(SHOWN[name]())
    assert widget == {VIEW: {"version_major": 2, "version_minor": 0, "model_id": box.model_id}}


@each
def test_its_still_picture_is_the_same_bytes_every_time(name: str) -> None:
    one, other = SHOWN[name](), SHOWN[name]()
    assert still(one) == still(other)
    assert still(one).keys() == {"text/plain", "text/html"}
    assert still(one)["text/plain"] == repr(one)
    assert "Run the cell again to use it." in still(one)["text/html"]


@each
def test_only_a_living_widget_hides_its_still_picture(name: str) -> None:
    box, (_, picture) = shown(SHOWN[name]())
    (called,) = re.findall(r'^<div class="(\S+)"', picture["text/html"])
    styles = [child.value for child in box.children if isinstance(child, ipywidgets.HTML) and called in child.value]
    assert styles == [f"<style>.{called} {{display: none}}</style>"]


def test_what_is_shown_twice_is_told_apart_and_hidden_once_each() -> None:
    screen = views.live()
    before, again = still(screen), still(screen)
    screen(deploy())
    after = still(screen)
    names = [re.findall(r"pxl-still-\w+", one["text/html"])[0] for one in (before, again, after)]
    assert names[0] == names[1] != names[2]
    styles = [child.value for child in screen.box.children if "pxl-still-" in getattr(child, "value", "")]
    assert styles == [f"<style>.{name} {{display: none}}</style>" for name in (names[0], names[2])]


def test_a_widget_that_has_no_kernel_leaves_its_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    box = ipywidgets.VBox()
    monkeypatch.setattr(ipywidgets.VBox, "model_id", None)  # as under ipywidgets 7
    assert [output.keys() for output in widget_output.outputs(box, "x")] == [{"text/plain", "text/html"}]


def test_words_of_a_run_are_escaped_in_the_still_picture() -> None:
    box = ipywidgets.VBox()
    (_, picture) = widget_output.outputs(box, "<img src=x onerror=alert(1)>")
    assert "<img" not in picture["text/html"]
