"""The window over a large plan: the step that changed is in it, and every step that is not is counted."""

import re

from hypothesis import given
from hypothesis import strategies as st

from planexec_lab.views.board_table import MOST, order, part, window
from planexec_lite import Run, Simulated, Toolbox, ToolExecutor, execute
from tests.views.worlds import chain, plan, work

TOOLS = ToolExecutor(Toolbox([work]))
WIDE = plan([(str(n), "Part", n % 5, [str(n - 7)] if n > 7 else []) for n in range(1, 151)], ["3", "90"])
RUNS = {size: execute(chain(size), TOOLS, workers=Simulated(2)) for size in (1, MOST, MOST + 1, 100)}
RUNS[150] = execute(WIDE, TOOLS, workers=Simulated(4))


@given(st.sampled_from(sorted(RUNS)), st.data())
def test_what_changed_is_in_the_window_and_all_others_are_counted(steps: int, data: st.DataObject) -> None:
    events = RUNS[steps].events
    run = Run(events[: data.draw(st.integers(2, len(events)))])
    shown = window(run.board, run.events)
    assert len(shown.ids) == min(steps, MOST)
    assert shown.whole == (steps <= MOST)
    assert shown.ids == order(run.board)[shown.first - 1 : shown.first - 1 + MOST]
    latest = next((step for event in reversed(run.events) if (step := getattr(event, "step", None))), None)
    assert latest is None or latest in shown.ids
    text = part(run.board, shown).caption
    assert ("Showing" in text) == (steps > MOST)
    if "Showing" in text:
        counted = sum(int(number) for number in re.findall(r"(\d+) (?:done|waiting|skipped)", text))
        named = [id for list in re.findall(r"(?:Running|Failed): (.*?)\.", text) for id in re.findall(r"\d+", list)]
        assert counted + len(named) == steps
