"""The kernel: events, the board that they add up to, the rules of a plain run, and the loop."""

from planexec_lite.core.board import Board, Capability, IllegalTransition, Moves, Part, State
from planexec_lite.core.decide import (
    HOLD,
    LATER,
    WAIT,
    Answer,
    Guard,
    Guards,
    Rule,
    Signal,
    after_retries,
    decide,
    when_idle,
)
from planexec_lite.core.events import Event, Job, Outcome
from planexec_lite.core.loop import Work, drive
from planexec_lite.core.tasks import Task

__all__ = [
    "HOLD", "LATER", "WAIT", "Answer", "Board", "Capability", "Event", "Guard", "Guards", "IllegalTransition", "Job",
    "Moves", "Outcome", "Part", "Rule", "Signal", "State", "Task", "Work", "after_retries", "decide", "drive",
    "when_idle",
]  # fmt: skip
