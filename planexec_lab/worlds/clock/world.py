"""A clock that shows the time that it is set to, so that a lesson reads the same on every day."""

import re
from typing import ClassVar

from planexec_lab.worlds.folder import Tools, ToolWorld
from planexec_lite.agent import execute
from planexec_lite.capabilities.stepping import ToolExecutor
from planexec_lite.plan import Plan
from planexec_lite.run import Run
from planexec_lite.workers import Simulated

GOAL = "What time is it?"
_TIME = re.compile(r"([01]\d|2[0-3]):[0-5]\d")


class World(ToolWorld):
    """A clock and a person who asks.

    Args:
        time: what the clock shows, as "09:41". Raises `ValueError` for anything else.
        hours: how far the person's time zone is from the clock's, in hours.
    """

    TOOLS: ClassVar[Tools] = {
        "current_time": (0.2, "none"),
        "time_zone": (0.5, "none"),
        "shift": (0.2, "none"),
        "is_valid": (0.2, "none"),
        "sentence": (0.4, "none"),
    }

    def __init__(self, time: str, hours: int = 0) -> None:
        _minutes(time)
        self.time = time
        self.hours = hours

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
        return _TIME.fullmatch(time) is not None

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
    if _TIME.fullmatch(time) is None:
        raise ValueError(f"{time!r} is no time of day; write hours and minutes, such as 09:41")
    hours, minutes = time.split(":")
    return 60 * int(hours) + int(minutes)
