"""The clock world: five steps tell the time that one call tells, and they read the real clock of the world."""

import pytest

from planexec_lab.connect import connect
from planexec_lab.worlds import clock
from planexec_lite import LLMPlanner, PlannerExecutor, Simulated, ToolExecutor


def ask(world):
    return PlannerExecutor(LLMPlanner(connect("clock")), ToolExecutor(world.tools), workers=Simulated()).run(
        "What time is it?"
    )


@pytest.mark.parametrize(
    ("world", "expected"),
    [
        (clock.World("09:41"), "It is 09:41."),
        (clock.World("23:30"), "It is 23:30."),
        (clock.World("23:30", hours=2), "It is 01:30."),
        (clock.World("00:10", hours=-1), "It is 23:10."),
    ],
)
def test_the_over_planned_answer_follows_the_clock(world, expected):
    assert ask(world).answer == expected


def test_a_time_that_is_none_is_refused():
    with pytest.raises(ValueError, match="no time of day"):
        clock.World("25:00")


def test_the_direct_answer_is_a_run_that_asks_no_model():
    world = clock.World("09:41")
    run = clock.direct(world)
    assert (run.status, run.answer, run.usage.calls) == ("finished", "It is 09:41.", 0)
    world.time = "10:00"
    assert clock.direct(world).answer == "It is 10:00."
