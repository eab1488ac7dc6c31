"""Progress (lesson 05): a tool reports a percentage while it runs, and the live board shows it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from planexec_lite.core import Board, Capability, Part
from planexec_lite.core import events as e
from planexec_lite.meter import emit


@dataclass(frozen=True)
class Percent:
    """A report of a running step. Workers pass it on at once, if they can."""

    done: float
    live: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class StepProgress(e.Event):
    """A step that runs has done `percent` of its work, from 0 to 100."""

    step: str
    percent: float


@dataclass
class Progress(Part):
    """By running step, the percentage of its work that is done."""

    percent: dict[str, float] = field(default_factory=dict)


def progress(percent: float) -> None:
    """Report from inside a tool that `percent` of its work is done. Raises `ValueError` for anything but 0 to 100."""
    if isinstance(percent, bool) or not 0 <= percent <= 100:
        raise ValueError(f"progress is a number from 0 to 100, not {percent!r}")
    emit(Percent(percent))


def _progressed(board: Board, event: StepProgress) -> None:
    if board.state.get(event.step) == "running":  # a step can report after its timeout
        board[Progress].percent[event.step] = event.percent


def _settled(board: Board, event: e.StepStarted | e.StepDone) -> None:
    board[Progress].percent.pop(event.step, None)


CAPABILITY = Capability(
    Progress,
    folds={StepProgress: _progressed, e.StepStarted: _settled, e.StepDone: _settled},
    emits={Percent: lambda at, job, emitted: None if job.id is None else StepProgress(at, job.id, emitted.done)},
)
