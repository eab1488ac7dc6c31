"""The spans of a run in the order of their ends; the same code handles whole runs and running runs."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from typing import get_args

from planexec_lab.spans import names
from planexec_lab.spans.jobs import Job, Key, Steps, Told, ended_by, name_of, what
from planexec_lab.spans.outcome import Failure, event_text, failure_of, fields_of, of_tool, raised
from planexec_lab.spans.span import Span, SpanEvent, Value, nanoseconds, seconds, utf8
from planexec_lite.meter import ModelCall, Usage
from planexec_lite.model.prices import PRICES, cost
from planexec_lite.run import events as e

AGENT = "planner-executor"
_KINDS = get_args(e.Event)
_TOOL, _RUN, _ACTION, _CALL = range(4)  # the order of a job's children

Place = tuple[int, ...]  # sorted by it, each span comes behind the one around it
Placed = tuple[Place, Span]


@dataclass(frozen=True, slots=True)
class Trace:
    """The common part of all spans of a trace; `epoch` in nanoseconds."""

    trace_id: str
    epoch: int
    content: bool

    def span(
        self,
        name: str,
        path: str,
        parent: str | None,
        start: float,
        end: float,
        attributes: Mapping[str, Value],
        noted: tuple[SpanEvent, ...] = (),
        failure: Failure | None = None,
        asks: bool = False,
    ) -> Span:
        """A span; `start` and `end` are seconds on the run's clock."""
        clean = {key: utf8(value) if isinstance(value, str) else value for key, value in attributes.items()}
        clean |= {} if failure is None else {names.ERROR: failure.kind}
        why = None if failure is None else utf8(failure.words) if self.content else ""
        begun, over = self.at(start), self.at(max(start, end))
        return Span(utf8(name), self.trace_id, self.id(path), parent, begun, over, clean, noted, why, asks)

    def at(self, at: float) -> int:
        """Nanoseconds since 1970."""
        return self.epoch + nanoseconds(at)

    def id(self, path: str) -> str:
        """The id of the span with this path, always the same."""
        return digest(f"{self.trace_id}/{path}")[:16]


class RunSpans:
    """One run's span and the spans of its jobs.

    Args:
        place: the place of the run's span.
        numbered: whether its events have numbers for reading them back; those of a nested run have none.
    """

    def __init__(self, trace: Trace, path: str, parent: str | None, place: Place = (), *, numbered: bool) -> None:
        self.trace, self.path, self.parent, self.place, self.numbered = trace, path, parent, place, numbered
        self.id = trace.id(path)
        self.now = 0.0
        self._steps = Steps()
        self._flying: dict[Key, Job] = {}
        self._nested: dict[str, RunSpans] = {}  # by the path of its job; the last run of a job can continue
        self._noted: list[SpanEvent] = []
        self._calls: list[ModelCall] = []
        self._first: Told | None = None
        self._last: Told | None = None

    def take(self, told: Told) -> Iterator[Placed]:
        """Learn of the next event, and give the spans that ended with it."""
        event = told.event
        self._first, self._last, self.now = self._first or told, told, max(self.now, told.at)
        self._steps.learn(event)  # first, so that a step is drawn as the plan says at that moment
        if not isinstance(event, e.Inside):
            self._calls += getattr(event, "calls", ())
        if isinstance(event, e.Job):
            self._flying[what(event), getattr(event, "step", None)] = self._steps.job(told, self.trace.content)
        elif isinstance(event, e.Inside) and ("step", event.step) in self._flying:
            yield from self._inside(self._flying["step", event.step], told)
        elif isinstance(event, e.Outcome) and (key := ended_by(event, self._flying)) is not None:
            job = self._flying.pop(key)
            job.outcome = told
            yield from self._job(job, told.at)
        else:
            self._noted.append(self._fact(told))

    def rest(self, now: float) -> Iterator[Placed]:
        """The jobs in flight, as if they ended now, and the run's span. Events inside a step do not move the run's clock."""
        now = max(now, self.now)
        for job in self._flying.values():
            yield from self._job(job, now) if self.numbered else _tolerant(self._job(job, now))
        yield self.place, self._own(now)

    def _own(self, now: float) -> Span:
        attributes: dict[str, Value] = {names.OPERATION: names.INVOKE_AGENT, names.PROVIDER: names.OPENAI}
        attributes |= {names.AGENT: AGENT} | (_used(self._calls) if self._calls else {})
        begun, ended = self._first and self._first.event, self._last and self._last.event
        failure = None
        if isinstance(ended, e.Ended):
            attributes[names.OWN + "status"] = ended.status
            if ended.status != "finished":
                failure = Failure(ended.status.replace(" ", "_"), ended.reason)
        if isinstance(begun, e.RunStarted) and self.trace.content:
            attributes[names.OWN + "goal"] = begun.goal
        start, name = self._first.at if self._first else 0.0, f"{names.INVOKE_AGENT} {AGENT}"
        return self.trace.span(name, self.path, self.parent, start, now, attributes, tuple(self._noted), failure)

    def _inside(self, job: Job, told: Told) -> Iterator[Placed]:
        """An event inside a job: an action of a model, or an event of a nested run."""
        job.inside.append(told)
        inner, place = Told(told.path, told.at, told.event.event), len(job.inside) - 1
        if isinstance(inner.event, e.Observation) and place:
            yield from self._action(job, place - 1, inner, told.at)
        if not isinstance(inner.event, _KINDS):
            return
        around = job.asked.path
        # a run that continues after a pause has no start here
        if isinstance(inner.event, e.RunStarted) or around not in self._nested:
            yield from self._end_nested(around)
            at = *self.place, int(around), _RUN, place
            run = RunSpans(self.trace, f"{around}/{told.path}/run", self.trace.id(around), at, numbered=False)
            self._nested[around] = run
        yield from _tolerant(self._nested[around].take(inner))

    def _end_nested(self, job: str) -> Iterator[Placed]:
        """The rest of the nested run of a job, if there is one."""
        if nested := self._nested.pop(job, None):
            yield from nested.rest(0.0)

    def _job(self, job: Job, end: float) -> Iterator[Placed]:
        asked, outcome = job.asked, job.outcome
        event = outcome.event if outcome else None
        content = self.trace.content
        attributes: dict[str, Value] = {}
        name = name_of(asked.event)
        if isinstance(asked.event, e.PlanStarted):
            attributes, name = {names.OPERATION: names.PLAN, names.AGENT: AGENT}, f"plan {AGENT}"
        attributes |= {names.STARTED: type(asked.event).__name__} | fields_of(asked.event)
        if event is not None:
            attributes |= {names.ENDED: type(event).__name__} | fields_of(event)
        if isinstance(asked.event, e.StepStarted) and job.step is not None:
            attributes |= {names.DEPENDS_ON: job.step.depends_on} if job.step.depends_on else {}
            attributes |= {names.OWN + "description": job.step.description} if content and job.step.description else {}
        own = [one for one in (asked, outcome) if one is not None and self.numbered]
        noted = [self._fact(one) for one in (*own[:1], *job.inside, *own[1:])]
        if isinstance(event, e.Judged):
            noted.append(self._verdict(event, job, end))
        span = self.trace.span(name, asked.path, self.id, asked.at, end, attributes, tuple(noted), failure_of(event))
        place = (*self.place, int(asked.path))
        if not isinstance(asked.event, e.BackoffStarted):
            yield from self._below(job, place, span.span_id, end)
        yield place, span

    def _below(self, job: Job, place: Place, parent: str, end: float) -> Iterator[Placed]:
        """A job's children: a tool call, model calls, a nested run."""
        asked, event = job.asked, job.outcome.event if job.outcome else None
        worked = getattr(event, "seconds", None)
        begun = asked.at if worked is None else max(round(end - worked, 9), asked.at)
        calls = getattr(event, "calls", ())
        cancelled = isinstance(event, e.Requeued) and event.reason == "cancelled"  # it had not begun
        called = event is not None and not cancelled
        if job.tool is not None and not job.inside and called:
            done = isinstance(event, e.StepDone | e.UndoDone)
            attributes = of_tool(job.tool, job.params, getattr(event, "result", None), self.trace.content, done=done)
            name, path = f"{names.EXECUTE_TOOL} {job.tool}", f"{asked.path}/tool"
            own = self.trace.span(name, path, parent, begun, end, attributes, (), failure_of(event))
            yield (*place, _TOOL), own
            parent = own.span_id
        if asked.path in self._nested:
            calls = ()  # the model calls of a nested run are below its own jobs
        yield from self._end_nested(asked.path)
        for one in range(len(job.inside)):
            if one not in job.actions:  # nothing was seen of it
                yield from self._action(job, one, None, end)
        acted = [job.actions[one] for one in sorted(job.actions)]
        epoch = self.trace.epoch
        at, waits = begun, deque((seconds(one.start - epoch), seconds(one.end - epoch)) for one in acted)
        for number, used in enumerate(calls):
            while waits and waits[0][0] < at + used.seconds - 1e-6:  # the model waits for the tools that it called
                at = max(at, waits.popleft()[1])
            attributes = {names.OPERATION: names.CHAT, names.PROVIDER: names.OPENAI, names.MODEL: used.model}
            attributes |= _used([used]) | {names.CALL: number}
            name, path = f"{names.CHAT} {used.model}", f"{asked.path}/call {number}"
            asking = self.trace.span(name, path, parent, at, at + used.seconds, attributes, asks=True)
            yield (*place, _CALL, number), asking
            at += used.seconds

    def _action(self, job: Job, at: int, seen: Told | None, end: float) -> Iterator[Placed]:
        """A model's tool calls in a step, in sequence, each until its observation."""
        one, event = job.inside[at], job.inside[at].event.event
        if not isinstance(event, e.Action):
            return
        text = seen.event.text if seen else None
        attributes = of_tool(event.tool, event.params, text, self.trace.content, done=seen is not None)
        failure = raised(seen.event.text) if seen and seen.event.error else None
        name, path = f"{names.EXECUTE_TOOL} {event.tool}", f"{one.path}/{at}/tool"
        parent = self.trace.id(job.asked.path)
        job.actions[at] = self.trace.span(name, path, parent, one.at, end, attributes, (), failure)
        yield (*self.place, int(job.asked.path), _ACTION, at), job.actions[at]

    def _fact(self, told: Told) -> SpanEvent:
        """An event: as JSON, or by its kind alone, without content and in a nested run, whose events the run around it has too."""
        event = told.event.event if isinstance(told.event, e.Inside) else told.event
        attributes: dict[str, Value] = {}
        if self.numbered and self.trace.content:
            attributes = {names.EVENT: event_text(told.event), names.NUMBER: int(told.path)}
        return SpanEvent(names.OWN + type(event).__name__, self.trace.at(told.at), attributes)

    def _verdict(self, event: e.Judged, job: Job, at: float) -> SpanEvent:
        attributes: dict[str, Value] = {names.VERDICT: event.verdict}
        if self.trace.content:
            criterion = job.step.success_criteria if job.step else None
            attributes |= {names.CRITERION: utf8(criterion or f"step {event.step}")}
            attributes |= {names.EXPLANATION: utf8(event.reason)}
        return SpanEvent(names.EVALUATION, self.trace.at(at), attributes)


def _tolerant(placed: Iterator[Placed]) -> Iterator[Placed]:
    """These spans up to the first invalid span, because a tool can emit text that looks like a run's."""
    with suppress(Exception):
        yield from placed


def _used(calls: list[ModelCall]) -> dict[str, Value]:
    """Tokens, and dollars where all prices are known."""
    usage = Usage.of(calls)
    tokens: dict[str, Value] = {names.TOKENS_IN: usage.input_tokens, names.TOKENS_OUT: usage.output_tokens}
    return tokens | ({names.COST: cost(calls)} if all(call.model in PRICES for call in calls) else {})


def digest(text: str) -> str:
    """A text as hexadecimal digits, the same everywhere."""
    return sha256(text.encode(errors="surrogatepass")).hexdigest()
