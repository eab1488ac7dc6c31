"""How the tests wait: a run that comes to no end fails, and the words name the step."""

from __future__ import annotations

import threading

import pytest

from planexec_lite import Inline, Plan, Tool, Toolbox, ToolExecutor, execute
from tests.core.ending import to_its_end
from tests.core.shapes import step


def test_what_comes_to_an_end_is_given_back_and_what_is_raised_goes_on() -> None:
    assert to_its_end(lambda: 5) == 5
    with pytest.raises(KeyError):
        to_its_end(lambda: {}["no"])


def test_a_step_that_does_not_end_is_named_with_the_line_it_is_at() -> None:
    over = threading.Event()

    def work() -> None:
        """Wait until the test is over."""
        assert over.wait(60)

    tools = ToolExecutor(Toolbox([Tool(work, effects="none")]))
    plan = Plan.parse([step("1", "work"), step("2", "work", "1")])
    with pytest.raises(AssertionError, match="the run does not end") as caught:
        to_its_end(lambda: execute(plan, tools, workers=Inline()), 0.5)
    over.set()
    for words in ("step 1 has been running since 0.0", "StepStarted 1", "test_ending.py:", "assert over.wait(60)"):
        assert words in str(caught.value)
