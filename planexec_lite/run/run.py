"""A run: its events, the board that is computed from them, and the values that can be read from it."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from copy import copy
from dataclasses import MISSING, fields, replace
from threading import Lock
from typing import Any, Literal, Protocol, cast
from uuid import uuid4

from planexec_lite import core
from planexec_lite.assembly import Board, Event
from planexec_lite.capabilities.news import NewsReceived
from planexec_lite.core.events import Inside, Status
from planexec_lite.core.questions import Question
from planexec_lite.meter import Usage
from planexec_lite.plan import Plan, Step
from planexec_lite.plan.data import copied
from planexec_lite.tools import escaped, references


class EventLog(Protocol):
    """The place where a run's events are saved while it is running."""

    def append(
        self, number: int, events: Sequence[Event], status: str, news: Sequence[int] = ()
    ) -> None:
        """Save events and the run's status after them.

        Args:
            number: the position of the first of these events in the run, from 0.
            events: the new events.
            status: the run's status after them.
            news: the numbers of the inbox entries that are recorded by these events; they are deleted from the inbox.
        """

    def inbox(self) -> Mapping[int, str]:
        """Return the news that was sent to the run and is not recorded yet: text by number, oldest first."""


class RunStore(Protocol):
    """A store of runs, such as `Journal`. It can be sent to another process."""

    def carry_on(self, run: Run) -> AbstractContextManager[None]:
        """Save what `run` records inside the ``with`` block. Meanwhile no other process can drive the run."""

    def find(self, uid: str) -> Run | None:
        """Return the saved part of the nested run with this `uid`; None if it has not begun."""


_telling = Lock()  # between a thread that sends news and the loop, which might be about to stop


class Run:
    """A run's events, and the board that is computed from them.

    Attributes:
        journal: where the run is saved; None: nowhere.
        id: its id in the journal; "" if it is not saved.
        stored: the number of its events that are saved.
        log: the open event log while the run is driven.
        uid: a globally unique id.
        inner: whether it is a nested run. Then `key` is the basis of its steps' idempotency keys.
        inbox: the news that this process has sent to the run and that is not recorded yet. If the run has ended, the
            remaining news came too late.
    """

    journal: RunStore | None = None
    id: str = ""
    stored: int = 0
    log: EventLog | None = None
    inner: bool = False
    key: str = ""
    _listens: bool = False

    def __init__(self, events: Sequence[core.Event] | None = None) -> None:
        self.events: list[Event] = [*cast("Sequence[Event]", events or ())]
        self.inbox: deque[str] = deque()
        self.board = Board.of(self.events)
        self.uid = uuid4().hex

    def again(self) -> Run:
        """Return a copy of this run to continue. The journal treats both as the same run, and this one does not
        change.
        """
        run = copy(self)
        run.events, run.board = [*self.events], self.board.copy()
        run.inbox, run.log, run._listens = deque(self.inbox), None, False
        return run

    @contextmanager
    def listen(self) -> Iterator[None]:
        """Inside this ``with`` block the loop reads the inbox, so `put` accepts news."""
        with _telling:
            self._listens = True
        try:
            yield
        finally:
            with _telling:
                self._listens = False

    def put(self, news: str) -> bool:
        """Put news into the inbox; any thread can call this. Returns False if no loop in this process is driving the
        run.
        """
        with _telling:
            if self._listens:
                self.inbox.append(news)
            return self._listens

    def take_news(self) -> None:
        """Record the news that has arrived in the journal and then in this process. A run that has ended records
        none.
        """
        if self.board.ended:
            return
        if self.log is not None and (unread := self.log.inbox()):
            news = [NewsReceived(self.board.now, text) for text in unread.values()]
            # saved before it is applied, so that recorded news can't be in the inbox any more and be read twice
            self.log.append(
                self.stored, [*self.events[self.stored :], *news], "running", [*unread]
            )
            for one in news:
                self.record(one)
            self.stored = len(self.events)
        while self.inbox:
            self.record(NewsReceived(self.board.now, self.inbox.popleft()))

    def commit(self) -> None:
        """Save the events recorded since the last commit, if the run has a journal."""
        if self.log is not None and self.stored < len(self.events):
            self.log.append(self.stored, self.events[self.stored :], self.status)
            self.stored = len(self.events)

    def record(self, event: core.Event) -> None:
        """Apply an event to the board and append it. Raises `IllegalTransition` if the event is impossible in the
        current state.
        """
        self.board.apply(event)
        self.events.append(event)  # type: ignore[arg-type]  # the board takes no other events

    @property
    def status(self) -> Status | Literal["paused", "running"]:
        """The run's status: "finished", "failed", "stopped", "rolled back", "paused", or "running" while it is
        driven.
        """
        if self.board.ended:
            return self.board.ended.status
        return "paused" if self.board.paused else "running"

    @property
    def reason(self) -> str:
        """Why the run ended or paused, as a phrase on one line."""
        if self.board.ended:
            return escaped(self.board.ended.reason)
        return "" if self.board.paused is None else escaped(f"waits for {self.board.asked}")

    @property
    def question(self) -> Question | None:
        """The question that the run asks a person; None if it does not wait."""
        paused = self.board.paused
        return None if paused is None else replace(paused.question, run=self.uid)

    @property
    def plan(self) -> Plan:
        """The merged plan: the done steps and the steps of the latest plan."""
        return self.board.plan

    @property
    def results(self) -> dict[str, Any]:
        """A copy of the results by step id, in order of completion."""
        return {step_id: copied(result) for step_id, result in self.board.results.items()}

    @property
    def answer(self) -> Any:
        """The plan's answer with its references resolved. A plan without an answer gives the result of its only final
        step.

        None until the run has finished, and if several steps are final. Raises `MissingResultError`, which lists the
        available parts, if the answer refers to a part that a result does not have.
        """
        if self.status != "finished":
            return None
        if self.plan.answer is not None:
            try:
                return references.resolve(self.plan.answer, self.board.results)
            except references.MissingResultError as error:
                raise references.MissingResultError(
                    f"the plan's answer can't be written: {error}; see run.results"
                ) from None
        last = self.last_results
        return next(iter(last.values())) if len(last) == 1 else None

    @property
    def last_results(self) -> dict[str, Any]:
        """The results of the steps that no other step depends on, by id."""
        steps = self.plan.steps
        waited_for = {step_id for step in steps for step_id in step.depends_on}
        results = self.board.results
        return {one.id: copied(results[one.id]) for one in steps if one.id not in waited_for}

    @property
    def makespan(self) -> float:
        """Seconds from the start to the latest event, on the workers' clock."""
        return self.board.now

    @property
    def usage(self) -> Usage:
        """The model calls, tokens and seconds that this run used."""
        return Usage.of(self.board.calls)

    def inside(self, step: str | int) -> Run:
        """Return a step's latest nested run, as far as its events were reported.

        Raises `ValueError` if the step has no nested run.
        """
        step_id = str(step)
        numbers = (
            event.run
            for event in self.events
            if isinstance(event, Inside) and event.step == step_id
        )
        latest = max(numbers, default=0)
        if latest == 0:
            raise ValueError(f"there is no run inside step {step}")
        return Run([*self.events_inside(step_id, latest)])

    def events_inside(self, step_id: str, number: int) -> Iterator[Event]:
        """Yield the events of nested run `number` of a step, as far as they were reported."""
        for event in self.events:
            if isinstance(event, Inside) and (event.step, event.run) == (step_id, number):
                yield event.event

    def story(self, step: str | int) -> str:
        """Return the history of a step as text, with one line for each of its events: the time, the event and its
        fields.

        Raises `ValueError` if the run has no such step.
        """
        step_id = str(step)
        if step_id not in self.board.steps:
            raise ValueError(
                f"there is no step {step_id}; there are: {', '.join(self.board.steps) or 'none'}"
            )
        lines = [f"step {step_id}: {self.board.steps[step_id]}"]
        for event in self.events:
            about = getattr(event, "step", None)
            if about == step_id or (isinstance(about, Step) and about.id == step_id):
                lines.append(f"  {event.at:g} s  {escaped(_in_words(event))}")
        return "\n".join([*lines, f"  it is {self.board.state[step_id]}"])

    def __repr__(self) -> str:
        steps = [state for state in self.board.state.values() if state != "superseded"]
        return f"Run({self.status}: {steps.count('done')} of {len(steps)} steps done)"


def _in_words(event: Any) -> str:
    """Return the name of an event as lower-case words, followed by its fields that differ from their defaults."""
    name = re.sub("(?<=[a-z])(?=[A-Z])", " ", type(event).__name__).lower()
    shown = []
    for one in fields(event):
        value = getattr(event, one.name)
        default = one.default_factory() if one.default_factory is not MISSING else one.default
        if one.name in ("at", "step") or not one.repr or value == default:
            continue
        text = _in_words(value) if isinstance(value, core.Event) else references.as_text(value)
        shown.append(f"{one.name.replace('_', ' ')} {text}")
    return f"{name}: {', '.join(shown)}" if shown else name
