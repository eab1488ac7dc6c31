"""The window over a large plan: the step that changed is in it, and every step that is not is counted."""

import re

from hypothesis import given
from hypothesis import strategies as st

from planexec_lite import Run, Simulated, Toolbox, ToolExecutor, execute, views
from planexec_lite.views.board_table.board_figure import part
from planexec_lite.views.board_table.row_window import MOST, changed, order, standing, window
from planexec_lite.views.widgets.stylesheet import Stylesheet
from tests.views.worlds import HOSTILE_PLAN, chain, deploy, midway, plan, work
from tests.views.worlds import run as run_of

TOOLS = ToolExecutor(Toolbox([work]))
WIDE = plan([(str(n), "Part", n % 5, [str(n - 7)] if n > 7 else []) for n in range(1, 151)], ["3", "90"])
RUNS = {size: execute(chain(size), TOOLS, workers=Simulated(2)) for size in (1, MOST, MOST + 1, 100)}
RUNS[150] = execute(WIDE, TOOLS, workers=Simulated(4))


@given(st.sampled_from(sorted(RUNS)), st.data())
def test_what_changed_is_in_the_window_and_all_others_are_counted(steps: int, data: st.DataObject) -> None:
    events = RUNS[steps].events
    run = Run(events[: data.draw(st.integers(2, len(events)))])
    shown = window(run.board, changed(run.events))
    assert len(shown.ids) == min(steps, MOST)
    assert shown.whole == (steps <= MOST)
    assert shown.ids == order(run.board)[shown.first - 1 : shown.first - 1 + MOST]
    latest = changed(run.events)
    assert latest is None or latest in shown.ids
    text = standing(run.board, shown)
    assert bool(text) == (steps > MOST)
    if text:
        counted = sum(int(number) for number in re.findall(r"(\d+) (?:done|waiting|skipped)", text))
        named = [id for list in re.findall(r"(?:Running|Failed): (.*?)\.", text) for id in re.findall(r"\d+", list)]
        assert counted + len(named) == steps


@given(st.integers(-100, 1000))
def test_a_person_gets_a_full_window_wherever_it_begins(first: int) -> None:
    shown = window(RUNS[100].board, first=first)
    assert len(shown.ids) == MOST
    assert shown.first == max(1, min(first, 61))


def test_a_board_is_the_same_words_with_a_style_sheet_and_in_one_piece() -> None:
    for run in (deploy(), deploy(fails=["5"]), midway(), run_of(HOSTILE_PLAN), Run(RUNS[150].events[:200])):
        shown = part(run.board, window(run.board))._repr_html_()
        sheet = Stylesheet()
        html = sheet.taken_from(shown)
        assert re.sub("<[^>]*>|\\s", "", html) == re.sub("<[^>]*>|\\s", "", shown)
        assert " style=" not in html
        assert len(html) + len(sheet.html) < len(shown)
        for style in set(re.findall(' style="(.*?)"', shown)):
            assert f"{{{style}" in sheet.html, "each style is a rule"


def test_a_second_picture_of_the_same_kind_needs_no_new_rule() -> None:
    sheet = Stylesheet()
    sheet.taken_from(views.board(deploy())._repr_html_())
    before = sheet.html
    sheet.taken_from(views.board(deploy())._repr_html_())
    assert sheet.html == before


def test_a_cell_of_another_style_takes_back_what_the_first_one_says() -> None:
    sheet = Stylesheet()
    html = sheet.taken_from('<td style="white-space:nowrap;color:red">1</td><td style="color:red">a long text</td>')
    (name,) = re.findall(r"class=(\w+)>a long", html)
    assert re.search(rf"\.{name}[^{{]*{{color:red;white-space:revert}}", sheet.html)
