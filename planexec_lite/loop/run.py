"""A run: the events so far, the board that they add up to, and what can be read off it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from threading import Lock
from typing import Any, Literal, Protocol
from uuid import uuid4

from planexec_lite import references
from planexec_lite.board import Board
from planexec_lite.events import Event, Inside, News, RunStarted, Status
from planexec_lite.meter import Usage
from planexec_lite.plan import Plan
from planexec_lite.plan.data import copied


class EventLog(Protocol):
    """Where the events of a run are written down as they happen."""

    def append(self, number: int, events: Sequence[Event], status: str, news: Sequence[int] = ()) -> None:
        """Write down events, the first of which is number `number`, from 0, and how the run stands after them.

        `news` are the numbers of what is in the inbox, and is among the events now: with them it is out of the inbox.
        """

    def inbox(self) -> Mapping[int, str]:
        """What the run was told from outside and has not recorded yet, by number, in the order in which it came."""

    def inside(self, step: str, number: int) -> RunStore:
        """Where the run inside a step is written down, which event number `number` started. It can be sent to another process."""


class RunStore(Protocol):
    """Keeps runs; `Journal` is one."""

    def carry_on(self, run: Run) -> AbstractContextManager[None]:
        """Write down what `run` records from here on, and let nobody else carry it on meanwhile."""

    def take_over(self, run: Run) -> Mapping[str, Sequence[Event]]:
        """Return what was written down of the runs inside steps that are in flight: nobody writes more of it from here on.

        By where it is: "17" is the run inside the step that event 17 of `run` started, "17/4" a run inside that one. It is empty
        where the step has not begun.
        """


_telling = Lock()  # between those who tell a run something and its loop, which may be about to stop


class Run:
    """What has happened and where it stands: the events, and the board that they add up to.

    Attributes:
        journal: where it is written down; None: nowhere.
        id: how it is called there; "" where it is not written down.
        stored: how many of its events are written down.
        log: what they are written to while it is carried on.
        inbox: the news that it was told in this process and has not recorded yet; what is left of a run that has ended came
            too late.
    """

    journal: RunStore | None = None
    id: str = ""
    stored: int = 0
    log: EventLog | None = None
    _uid: str = ""
    _listens: bool = False

    def __init__(self, events: list[Event] | None = None) -> None:
        self.events: list[Event] = list(events or [])
        self.inbox: deque[str] = deque()
        self.board = Board.of(self.events)

    @property
    def uid(self) -> str:
        """How the run is called everywhere: no other run has this."""
        self._uid = self._uid or uuid4().hex
        return self._uid

    @uid.setter
    def uid(self, uid: str) -> None:
        self._uid = uid

    def again(self) -> Run:
        """A copy to go on with, which is the same run to its journal; this one stays as it is."""
        run = Run(self.events)
        run.journal, run.id, run.uid, run.stored = self.journal, self.id, self.uid, self.stored
        run.inbox.extend(self.inbox)
        return run

    @contextmanager
    def listen(self) -> Iterator[None]:
        """While it is carried on: what is put into its inbox is read by its loop."""
        with _telling:
            self._listens = True
        try:
            yield
        finally:
            with _telling:
                self._listens = False

    def put(self, news: str) -> bool:
        """Put news into the inbox, from whatever thread. False: nobody carries the run on in this process."""
        with _telling:
            if self._listens:
                self.inbox.append(news)
            return self._listens

    def take_news(self) -> None:
        """Record what it was told since the last time: in its journal, then in this process. After the end it records nothing."""
        if self.board.ended:
            return
        if self.log is not None and (told := self.log.inbox()):
            news = [News(self.board.now, text) for text in told.values()]
            # written down before it is shown: what is recorded can't be in the inbox still, to be read a second time
            self.log.append(self.stored, [*self.events[self.stored :], *news], "running", [*told])
            for one in news:
                self.record(one)
            self.stored = len(self.events)
        while self.inbox:
            self.record(News(self.board.now, self.inbox.popleft()))

    def commit(self) -> None:
        """Write down what was recorded since the last time, where the run has a journal."""
        if self.log is not None and self.stored < len(self.events):
            self.log.append(self.stored, self.events[self.stored :], self.status)
            self.stored = len(self.events)

    def record(self, event: Event) -> None:
        """Show an event on the board, and append it. Raises `IllegalTransition` where it can't have happened."""
        self.board.apply(event)
        self.events.append(event)

    @property
    def status(self) -> Status | Literal["paused", "running"]:
        """How the run stands: "finished", "failed", "stopped", "rolled back", "paused" or, inside a run, "running"."""
        if self.board.ended:
            return self.board.ended.status
        return "paused" if self.board.paused else "running"

    @property
    def reason(self) -> str:
        """Why the run ended or paused, in words."""
        if self.board.ended:
            return self.board.ended.reason
        if paused := self.board.paused:
            if paused.reason == "budget":
                return f"waits for more budget: {', '.join(paused.short.values())} used"
            if paused.reason == "doubt":
                return f"waits to be told whether step {paused.step} was done"
            if paused.step is None:
                return f"waits for {paused.reason}"
            if paused.reason == "undo":
                return f"waits before {self.board.rollback.left[-1].name}"
            why = self.board.why_asked(paused.step)
            return f"waits for {paused.reason} of step {paused.step}" + (f": {why}" if why else "")
        return ""

    @property
    def plan(self) -> Plan:
        """The merged plan: done steps, and those of the latest plan."""
        return self.board.plan

    @property
    def results(self) -> dict[str, Any]:
        """A copy of the results, by step id, in the order in which the steps were done."""
        return {id: copied(result) for id, result in self.board.results.items()}

    @property
    def answer(self) -> Any:
        """The plan's answer with its references resolved; without one, the result of the only step nothing depends on.

        None while the run has not finished, and where several steps are last. Raises `MissingResultError`, with what is
        there instead, where the plan's answer refers to a part that a result does not have.
        """
        if self.status != "finished":
            return None
        plan = self.plan
        if plan.answer is not None:
            try:
                return references.resolve(plan.answer, self.board.results)
            except references.MissingResultError as error:
                raise references.MissingResultError(
                    f"the plan's answer can't be written: {error}; see run.results"
                ) from None
        waited_for = {id for step in plan.steps for id in step.depends_on}
        last = [step.id for step in plan.steps if step.id not in waited_for]
        return copied(self.board.results[last[0]]) if len(last) == 1 else None

    @property
    def makespan(self) -> float:
        """Seconds from the start to the latest event, on the workers' clock."""
        return self.board.now

    @property
    def usage(self) -> Usage:
        """What the models of this run used."""
        return Usage.of(self.board.calls)

    def inside(self, step: str | int) -> Run:
        """The run inside a step that a `PlannerExecutor` carried out: its latest attempt, as far as it went.

        Raises `ValueError` where there is none.
        """
        events: list[Event] = []
        for event in self.events:
            if isinstance(event, Inside) and event.step == str(step):
                if isinstance(event.event, RunStarted):
                    events.clear()
                events += [event.event] if events or isinstance(event.event, RunStarted) else []
        if not events:
            raise ValueError(f"there is no run inside step {step}")
        return Run(events)

    def __repr__(self) -> str:
        steps = [state for state in self.board.state.values() if state != "superseded"]
        return f"Run({self.status}: {steps.count('done')} of {len(steps)} steps done)"
