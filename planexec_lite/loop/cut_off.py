"""What was cut off: a run that nobody carries on any more, made ready to go on.

What was in flight is interrupted. Where a journal knows what happened in a run inside a step, that is told first, as the step
itself would have told it at its end: the step is in no doubt then, and the run inside goes on from there. Inside it, the same
is said of what was in flight there, however deep.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from planexec_lite.events import Event, Inside, Interrupted, RunStarted, StepCancelled, StepStarted
from planexec_lite.executors import Executor, agent_inside
from planexec_lite.loop.run import Run
from planexec_lite.meter import ModelCall


def interrupt(run: Run, executor: Executor) -> None:
    """Record that what is in flight was cut off, the steps in the order in which they stand in the plan.

    Raises `JournalError` where the run's journal can't be read, and where somebody carries the run on.
    """
    if not run.board.in_flight:
        return
    nests = any(agent_inside(executor, run.board.steps[id]) for id in _steps(run))
    written = run.journal.take_over(run) if run.journal is not None and nests else None
    _interrupt(run, executor, written, "")


def _interrupt(run: Run, executor: Executor, written: Mapping[str, Sequence[Event]] | None, within: str) -> None:
    board = run.board
    for undo in [board.rollback.calling] if board.rollback.calling else []:
        run.record(Interrupted(board.now, undo.label))
    for id in _steps(run):
        inside = agent_inside(executor, board.steps[id])
        if written is None or inside is None or board.state[id] != "running" or id in board.table.resting:
            run.record(Interrupted(board.now, id))
            continue
        number = max(at for at, event in enumerate(run.events) if isinstance(event, StepStarted) and event.step == id)
        where = f"{within}{number}"
        if written.get(where) == []:  # it writes down that it begins before it begins with anything
            run.record(StepCancelled(board.now, id))
        elif (went_on := _went_on(run, id, inside.executor, written, where)) is not None:
            _tell(run, id, *went_on, run.events[number].at)
        else:
            run.record(Interrupted(board.now, id))
    if board.planning:
        run.record(Interrupted(board.now, None))


def _steps(run: Run) -> list[str]:
    board = run.board
    undoing = board.rollback.calling.label if board.rollback.calling else None
    return [id for id in board.steps if id in board.in_flight and id != undoing]


def _went_on(
    run: Run, id: str, inside: Executor, written: Mapping[str, Sequence[Event]], where: str
) -> tuple[Sequence[Event], float] | None:
    """What happened in the run inside a step since the step was started, and what its clock said then.

    None where nothing was written down, or what adds up to no run: nobody knows then what happened.
    """
    if where not in written:
        return None
    try:
        known = [] if isinstance(written[where][0], RunStarted) else run.inside(id).events
        went_on = Run([*known, *written[where]])
        _interrupt(went_on, inside, written, f"{where}/")
    except (ValueError, LookupError):
        return None
    return went_on.events[len(known) :], known[-1].at if known else 0.0


def _tell(run: Run, id: str, happened: Sequence[Event], since: float, began: float) -> None:
    """Record what happened in the run inside a step, whose clock said `since` when the step began, and that it was cut off."""
    for event in happened:
        run.record(Inside(round(began + event.at - since, 9), id, event))
    calls: list[ModelCall] = []
    for event in happened:
        calls += () if isinstance(event, Inside) else getattr(event, "calls", ())
    last = max(event.at for event in happened)
    at = max(run.board.now, round(began + last - since, 9))
    run.record(Interrupted(at, id, told=True, calls=tuple(calls)))
