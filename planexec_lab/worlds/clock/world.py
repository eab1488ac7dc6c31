"""A clock that shows the time that it is set to, so that a lesson reads the same on every day."""

from __future__ import annotations

import re
from functools import cached_property

from planexec_lite.agent import execute
from planexec_lite.core.executors import ToolExecutor
from planexec_lite.plan import Plan
from planexec_lite.run import Run
from planexec_lite.tools import Tool, Toolbox
from planexec_lite.workers import Simulated

GOAL = "What time is it?"


class World:
    """A clock and a person who asks.

    Args:
        time: what the clock shows, as "09:41". Raises `ValueError` for anything else.
        hours: how far the person's time zone is from the clock's, in hours.
    """

    def __init__(self, time: str, hours: int = 0) -> None:
        _minutes(time)
        self.time = time
        self.hours = hours

    @cached_property
    def tools(self) -> Toolbox:
        """The clock's tools."""
        seconds = {"current_time": 0.2, "time_zone": 0.5, "shift": 0.2, "is_valid": 0.2, "sentence": 0.4}
        return Toolbox(Tool(getattr(self, name), latency=latency, effects="none") for name, latency in seconds.items())

    def current_time(self) -> str:
        """Return the time that the clock shows, as HH:MM."""
        return self.time

    def time_zone(self) -> int:
        """Return how many hours the person's time zone is ahead of the clock."""
        return self.hours

    def shift(self, time: str, hours: int) -> str:
        """Move a time by some hours."""
        minutes = (_minutes(time) + 60 * hours) % (24 * 60)
        return f"{minutes // 60:02}:{minutes % 60:02}"

    def is_valid(self, time: str) -> bool:
        """Say whether a text is a time of day."""
        return re.fullmatch(r"([01]\d|2[0-3]):[0-5]\d", time) is not None

    def sentence(self, time: str, valid: bool) -> str:
        """Write a time as a sentence."""
        return f"It is {time}." if valid else "I can't read the clock."


def direct(world: World) -> Run:
    """Return a run that only calls the tool, without a planner and without a model."""
    plan = Plan.parse(
        {"goal": GOAL, "steps": [{"id": "1", "tool": "current_time"}], "answer": "It is {step_1_result}."}
    )
    return execute(plan, ToolExecutor(world.tools), workers=Simulated())


def _minutes(time: str) -> int:
    if re.fullmatch(r"([01]\d|2[0-3]):[0-5]\d", time) is None:
        raise ValueError(f"{time!r} is no time of day; write hours and minutes, such as 09:41")
    hours, minutes = time.split(":")
    return 60 * int(hours) + int(minutes)
