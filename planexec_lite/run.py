"""A run: the events so far, the board that they add up to, and what can be read off it."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import MISSING, fields
from threading import Lock
from typing import Any, Literal, Protocol, cast
from uuid import uuid4

from planexec_lite import core, references
from planexec_lite.assembly import Board, Event
from planexec_lite.capabilities.news import NewsReceived
from planexec_lite.capabilities.rollback import Rollback
from planexec_lite.core.events import Inside, Status
from planexec_lite.meter import Usage
from planexec_lite.plan import Plan, Step
from planexec_lite.plan.data import copied


class EventLog(Protocol):
    """Where the events of a run are written down as they happen."""

    def append(self, number: int, events: Sequence[Event], status: str, news: Sequence[int] = ()) -> None:
        """Write down events, the first of which is number `number`, from 0, and how the run stands after them.

        `news` are the numbers of what is in the inbox, and is among the events now: with them it is out of the inbox.
        """

    def inbox(self) -> Mapping[int, str]:
        """What the run was told from outside and has not recorded yet, by number, in the order in which it came."""


class RunStore(Protocol):
    """Keeps runs; `Journal` is one. It can be sent to another process."""

    def carry_on(self, run: Run) -> AbstractContextManager[None]:
        """Write down what `run` records from here on, and let nobody else carry it on meanwhile."""

    def find(self, uid: str) -> Run | None:
        """Return the run inside a step that is called `uid`, as far as it was written down; None: it has not begun."""


_telling = Lock()  # between those who tell a run something and its loop, which may be about to stop


class Run:
    """What has happened and where it stands: the events, and the board that they add up to.

    Attributes:
        journal: where it is written down; None: nowhere.
        id: what it is called there; "" if it is not written down.
        stored: how many of its events are written down.
        log: what they are written to while it is carried on.
        uid: what the run is called everywhere: no other run has this.
        inner: whether it is a run inside a step. `key` is then what the idempotency keys of its steps are made from.
        inbox: the news that it was told in this process and has not recorded yet; what is left of a run that has ended came
            too late.
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
        """A copy to go on with, which is the same run to its journal; this one stays as it is."""
        run = Run(self.events)
        run.journal, run.id, run.uid, run.stored = self.journal, self.id, self.uid, self.stored
        run.inner, run.key = self.inner, self.key
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
            news = [NewsReceived(self.board.now, text) for text in told.values()]
            # written down before it is shown: what is recorded can't be in the inbox still, to be read a second time
            self.log.append(self.stored, [*self.events[self.stored :], *news], "running", [*told])
            for one in news:
                self.record(one)
            self.stored = len(self.events)
        while self.inbox:
            self.record(NewsReceived(self.board.now, self.inbox.popleft()))

    def commit(self) -> None:
        """Write down what was recorded since the last time, if the run has a journal."""
        if self.log is not None and self.stored < len(self.events):
            self.log.append(self.stored, self.events[self.stored :], self.status)
            self.stored = len(self.events)

    def record(self, event: core.Event) -> None:
        """Show an event on the board, and append it. Raises `IllegalTransition` if it can't have happened."""
        self.board.apply(event)
        self.events.append(event)  # type: ignore[arg-type]  # the board takes no other events

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
        if (paused := self.board.paused) is None:
            return ""
        why = f": {paused.why}" if paused.why else ""
        if paused.reason == "budget":
            return f"waits for more budget: {', '.join(paused.short.values())} used"
        if paused.reason == "doubt":
            return f"waits to be told whether step {paused.step} was done"
        if paused.step is None:
            return f"waits for {paused.reason}"
        if paused.reason == "undo":
            if paused.inside is not None:
                return f"waits inside step {paused.step}, {paused.why.removeprefix('waits ')}"
            return f"waits before {self.board[Rollback].left[-1].name}"
        return f"waits for {paused.reason} of step {paused.step}{why}"

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

        None while the run has not finished, and if several steps are last. Raises `MissingResultError`, with what is
        there instead, if the plan's answer refers to a part that a result does not have.
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
        """The run inside a step that an agent carried out: its latest attempt, as far as it was told.

        Raises `ValueError` if there is none.
        """
        told = [event for event in self.events if isinstance(event, Inside) and event.step == str(step) and event.run]
        if not told:
            raise ValueError(f"there is no run inside step {step}")
        latest = max(event.run for event in told)
        return Run([event.event for event in told if event.run == latest])

    def story(self, step: str | int) -> str:
        """Return everything that happened to a step, a line for each event, in words: when, what, and what the event says.

        Raises `ValueError` for a step that the run does not have.
        """
        id = str(step)
        if id not in self.board.steps:
            raise ValueError(f"there is no step {id}; there are: {', '.join(self.board.steps) or 'none'}")
        lines = [f"step {id}: {self.board.steps[id]}"]
        for event in self.events:
            about = getattr(event, "step", None)
            if about == id or (isinstance(about, Step) and about.id == id):
                lines.append(f"  {event.at:g} s  {_in_words(event)}")
        return "\n".join([*lines, f"  it is {self.board.state[id]}"])

    def __repr__(self) -> str:
        steps = [state for state in self.board.state.values() if state != "superseded"]
        return f"Run({self.status}: {steps.count('done')} of {len(steps)} steps done)"


def _in_words(event: Any) -> str:
    """An event: its name as words, and its fields that differ from their defaults."""
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
