"""The kernel: events, the board that they add up to, how the next event is chosen, and the loop."""

from planexec_lite.core.board import Board, Capability, IllegalTransition, Moves
from planexec_lite.core.decide import (
    HOLD,
    LATER,
    WAIT,
    Choice,
    Guards,
    Rule,
    Signal,
    after_retries,
    choose,
    only_with,
    when_idle,
)
from planexec_lite.core.events import Event, Job
from planexec_lite.core.loop import drive
from planexec_lite.core.part import SETTINGS, Part, State
from planexec_lite.core.tasks import Task, Work

__all__ = [
    "HOLD",
    "LATER",
    "SETTINGS",
    "WAIT",
    "Board",
    "Capability",
    "Choice",
    "Event",
    "Guards",
    "IllegalTransition",
    "Job",
    "Moves",
    "Part",
    "Rule",
    "Signal",
    "State",
    "Task",
    "Work",
    "after_retries",
    "choose",
    "drive",
    "only_with",
    "when_idle",
]  # fmt: skip
