"""Wait for a run to its end, and where it comes to none, say in words which step is waited for and what holds it up.

How long a run takes on the wall says nothing: the machine may be busy. So a run is given up by what it does, see
`Standstill`, and never by how late it is.
"""

from __future__ import annotations

import linecache
import multiprocessing
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple, TypeVar

import psutil

from exercises.guard import raise_in, take_back
from planexec_lite import Policy, Run, Step
from planexec_lite.assembly import answer
from planexec_lite.core import HOLD, drive
from planexec_lite.events import Job, JudgeStarted, PlanStarted, StepStarted

T = TypeVar("T")
ROOT = Path(__file__).parents[2]
OURS = ROOT / "planexec_lite", ROOT / "mock_llm", ROOT / "tests"
LOOK = 0.1  # seconds between two looks
LOOKS = 40
MANY = 15  # times as many looks are enough, however late they come
IDLE = 0.02  # of a CPU: who uses less is idle, and looks at its clock now and then
LEFT: list[Run] = []  # whose tests have failed already
MOST = 5  # lines about steps of a kind


def to_its_end(work: Callable[[], T], looks: int = LOOKS) -> T:
    """Do `work` on a thread, and return what it returns or raise what it raises; fail in words if it comes to no end.

    Nothing needs to be handed over: the runs under way are read off the stacks of the threads.
    """
    __tracebackhide__ = True
    done: list[tuple[T | None, BaseException | None]] = []

    def do() -> None:
        try:
            done.append((work(), None))
        except BaseException as problem:
            done.append((None, problem))

    thread = threading.Thread(target=do, name="the test's run", daemon=True)
    thread.start()
    still = Standstill(looks)
    late = joined_late(thread)
    while thread.is_alive():
        if verdict := still.look(recorded(), seconds_worked(), late):
            message = f"{verdict}\n{words(thread)}"
            leave(thread)
            raise AssertionError(message)
        late = joined_late(thread)
    value, problem = done[0]
    if problem is not None:
        raise problem
    return value  # type: ignore[return-value]


def leave(thread: threading.Thread) -> None:
    """Nobody waits for the runs under way any more: no later test tells of them, and who goes round in circles is ended."""
    LEFT.extend(loop.run for loop in under_way())
    raise_in(thread, SystemExit)
    thread.join(LOOK)
    if thread.is_alive():  # it waits inside C code, perhaps for good
        take_back(thread)


def joined_late(thread: threading.Thread) -> bool:
    """Wait until the next look, or the end; whether that took much longer than it should."""
    before = time.monotonic()
    thread.join(LOOK)
    return time.monotonic() - before > 1.5 * LOOK


@dataclass
class Standstill:
    """Decides that a run comes to no end, from looks at it a tenth of a second apart.

    An event in between, in whatever run, is progress. Without one there are two ways to stand still, and neither can be
    mistaken for a busy machine. At forty looks hardly any CPU was used by the process and its children: nobody had
    anything to do. Looks that come late don't count, as then a machine too busy for the looks may be too busy for the
    work; one that stops for a minute stops the looks too. Or four seconds of CPU were used: somebody goes round in
    circles. A minute of looks is enough in any case.
    """

    looks: int = LOOKS
    quiet: int = 0
    all: int = 0
    events: object = None
    at_event: float = 0.0
    at_quiet: float = 0.0

    def look(self, events: object, cpu: float, late: bool = False) -> str | None:
        """Take in one look: what was recorded so far, and the seconds of CPU used so far. Return what is wrong, if so."""
        limit = self.looks * LOOK
        if self.all == 0 or events != self.events:
            self.events, self.quiet, self.all, self.at_event, self.at_quiet = events, 0, 0, cpu, cpu
        elif not 0 <= cpu - self.at_quiet <= IDLE * limit:  # it falls when a child ends
            self.quiet, self.at_event, self.at_quiet = 0, min(self.at_event, cpu), cpu
        self.quiet += not late
        self.all += 1
        if cpu - self.at_event >= limit:
            return f"the run does not end: it goes round in circles ({limit:g} s of CPU, and no event)"
        if self.quiet > self.looks or self.all > MANY * self.looks:
            return f"the run does not end: it stands still (for {limit:g} s no event, and nobody at work)"
        return None


def recorded() -> object:
    """Changes with every event that any run of this process records."""
    return frozenset((id(loop.run), len(loop.run.events)) for loop in under_way())


def seconds_worked() -> float:
    """The CPU seconds of this process without those of the looks themselves, and of its children."""
    own, children = time.process_time() - time.thread_time(), 0.0
    for child in multiprocessing.active_children():
        try:
            used = psutil.Process(child.pid).cpu_times()
        except psutil.Error:  # it has just ended
            continue
        children += used.user + used.system
    return own + children


class Loop(NamedTuple):
    """What the loop of a run works with."""

    run: Run
    policy: Policy
    session: Any


def under_way() -> list[Loop]:
    """The runs whose loop is on the stack of some thread, outer ones first, without those of earlier tests."""
    loops: dict[int, Loop] = {}
    for top in list(sys._current_frames().values()):
        for frame in reversed(list(frames(top))):
            if frame.f_code is drive.__code__:
                seen = frame.f_locals
                loops[id(seen["run"])] = Loop(seen["run"], seen["agent"].policy, seen["session"])
    return [loop for loop in loops.values() if not any(loop.run is run for run in LEFT)]


def frames(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def words(thread: threading.Thread) -> str:
    """Which steps the runs under way wait for, what they are at, and what was recorded last."""
    top = sys._current_frames().get(thread.ident or 0)
    told = [line for loop in under_way() for line in (*held_up(loop), *last_events(loop.run))]
    return "\n".join([*told, f"its thread is at {place(top)}" if top else "its thread has ended"])


def held_up(loop: Loop) -> Iterator[str]:
    """A line for each job in flight, in the order of their starts, and for each step that waits; a few of each."""
    run, board = loop.run, loop.run.board
    epoch = getattr(loop.session, "epoch", None)
    started = {job_of(event): event for event in run.events if isinstance(event, Job)}
    jobs = [event for id, event in started.items() if id in board.in_flight]
    for event in jobs[:MOST]:
        id = job_of(event)
        if isinstance(event, PlanStarted):
            yield f"the planner has been at work since {event.at:.3f} s{at_work(None)}"
        elif isinstance(event, JudgeStarted):
            yield f"the evaluator has been judging step {id} since {event.at:.3f} s"
        else:
            one = board.steps[event.step]
            again = f", attempt {event.attempt} of {event.attempts}" if event.attempt > 1 else ""
            line = f"step {id} ({one.tool}) has been running since {event.at:.3f} s{again}"
            became = standing(loop, event)
            if one.timeout is not None and epoch is not None and not became:
                over = time.perf_counter() - epoch - event.at > one.timeout
                line += f", {'longer than' if over else 'with'} its timeout of {one.timeout:g} s"
                line += " and was not given up" if over else ""
            yield line + (became or at_work(event.step))
    if len(jobs) > MOST:
        yield f"{len(jobs) - MOST} more are in flight"
    if not jobs:
        yield "nothing is in flight"
    waiting = [one for id, one in board.steps.items() if board.state[id] == "waiting"]
    for one in waiting[:MOST]:
        behind = [f"{id} ({board.state.get(id, 'unknown')})" for id in one.depends_on if id not in board.results]
        yield f"step {one.id} ({one.tool}) " + (
            f"waits for step {', '.join(behind)}" if behind else "is ready to start"
        )
    if len(waiting) > MOST:
        yield f"{len(waiting) - MOST} more wait"


def job_of(event: Any) -> str | None:
    return getattr(event, "step", None)


def standing(loop: Loop, event: StepStarted) -> str | None:
    """What became of the step's future, where it tells more than what its thread is at."""
    run, policy, session = loop
    submitted, count = getattr(session, "submitted", None), getattr(session, "started", 0)
    if submitted is None:
        return None
    jobs = [event for event in run.events if isinstance(event, Job)]
    number = next(place for place, job in enumerate(jobs, 1) if job is event) - (len(jobs) - count)
    job = submitted.get(number)
    if number < 1 or job is None:
        return "; its workers know nothing of it"
    future: Future[Any] = job.future
    if future.cancelled():
        return "; it was taken back, and the loop was not told"
    if future.done():
        return "; it has ended, and the loop was not told"
    if future.running():
        return None
    stops = ", and since nothing more is to start it should have been taken back"
    return f"; the executor has not begun with it{stops if answer(run.board, policy) is HOLD else ''}"


def at_work(id: str | None) -> str:
    """What the thread that carries out the step `id`, or the planner, is at."""
    for top in list(sys._current_frames().values()):
        for frame in frames(top):
            seen = frame.f_locals if frame.f_globals.get("__name__", "").startswith("planexec_lite.") else {}
            if id is None and frame.f_code.co_name == "propose":
                return f"; it is at {place(top)}"
            if id and frame.f_code.co_name == "perform" and isinstance(one := seen.get("step"), Step) and one.id == id:
                return f"; it is at {place(top)}"
    return "; no thread of this process is at it"


def place(top: FrameType) -> str:
    """The innermost line on a stack that is this repository's own; at the gate of a `Site`, what is waited for."""
    for frame in frames(top):
        file = Path(frame.f_code.co_filename)
        if file.name == "site.py" and frame.f_code.co_name == "until":
            return f"a gate, until the run records {frame.f_locals['what']!r}"
        if any(folder in file.parents for folder in OURS):
            return f"{file.relative_to(ROOT)}:{frame.f_lineno}: {linecache.getline(str(file), frame.f_lineno).strip()}"
    return f"{top.f_code.co_filename}:{top.f_lineno}"


def last_events(run: Run) -> Iterator[str]:
    told = [
        f"{event.at:.3f} s {type(event).__name__} {getattr(event, 'step', None) or ''}" for event in run.events[-6:]
    ]
    yield "the last events: " + ", ".join(map(str.strip, told))
