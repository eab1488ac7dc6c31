"""The kernel: events, the board that they add up to, the rules of a plain run, and the loop."""

from planexec_lite.core.board import CORE, Board, IllegalTransition, check_running
from planexec_lite.core.capability import SETTINGS, Capability, Moves, Part, State
from planexec_lite.core.decide import (
    HOLD,
    LATER,
    WAIT,
    Choice,
    Guard,
    Guards,
    Rule,
    Signal,
    after_retries,
    choose,
    has_planner,
    only_if,
    when_idle,
)
from planexec_lite.core.events import Event, Job, Outcome
from planexec_lite.core.loop import drive
from planexec_lite.core.tasks import Task, Work

__all__ = [
    "CORE",
    "HOLD",
    "LATER",
    "SETTINGS",
    "WAIT",
    "Board",
    "Capability",
    "Choice",
    "Event",
    "Guard",
    "Guards",
    "IllegalTransition",
    "Job",
    "Moves",
    "Outcome",
    "Part",
    "Rule",
    "Signal",
    "State",
    "Task",
    "Work",
    "after_retries",
    "check_running",
    "choose",
    "drive",
    "has_planner",
    "only_if",
    "when_idle",
]  # fmt: skip
