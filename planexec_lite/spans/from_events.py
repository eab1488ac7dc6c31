"""From the events of a run to spans.

A job is a span from the event that asked for it to the one that it came to: planning, each try of a step, judging, backoff,
undo. Below it stand what it did: the call of a tool, calls of models, a run inside. All other events (a pause, a decision, a
step that is skipped) are span events of the run's own span.

Ids come from the events: the same run has the same ids, in every process. Times are those of the run's clock. An event says
how long its calls of models took and not when each began, so they stand one behind the other from when the work began, and
after the tools that they called.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, NamedTuple, get_args

from planexec_lite import events as e
from planexec_lite.loop.run import Run
from planexec_lite.meter import ModelCall, Usage
from planexec_lite.plan import Step
from planexec_lite.references import resolve
from planexec_lite.spans import names
from planexec_lite.spans.outcome import error_of, error_type, event_text, fields_of, inner_text, of_tool, prices_of
from planexec_lite.spans.span import Span, SpanEvent, Value, nanoseconds, seconds, utf8

AGENT = "planner-executor"
EPOCH = 946_684_800.0  # the year 2000: collectors take a time of zero for none
_KINDS = get_args(e.Event)
_OUTCOMES = (*get_args(e.Outcome), e.Interrupted, e.StepPaused)


def of(
    run: Run, *, epoch: float = EPOCH, trace_id: str | None = None, agent: str = AGENT, content: bool = True
) -> list[Span]:
    """Return a run as spans, each behind the one around it: pure, and linear in the number of events.

    Args:
        run: finished, paused, or under way; what is in flight ends now.
        epoch: when the run began, in seconds since 1970. A run knows its own clock alone, so by default it is the year 2000.
        trace_id: 32 hexadecimal digits; by default made from all events so far. Give one, such as `run.uid`, where a run that
            was paused is to be the same trace after it has gone on.
        agent: what the run's agent is called.
        content: with what was said: goal, plans, arguments, results, errors. The conventions leave that out where nobody asked
            for it, since it may be private; without it a trace still tells names, times, tokens and costs.

    Raises `ValueError` for an epoch before 1970, and for a trace id that is none.
    """
    if not 0 <= epoch < 2**33:
        raise ValueError(f"epoch={epoch!r}: seconds since 1970 are wanted, as time.time() gives them")
    if trace_id is not None and not re.fullmatch("(?!0{32})[0-9a-f]{32}", trace_id):
        raise ValueError(f"trace_id={trace_id!r}: 32 hexadecimal digits are wanted, not all of them zero")
    id = trace_id or _digest("".join(map(event_text, run.events)))[:32]
    told = [_Told(str(number), event.at, event) for number, event in enumerate(run.events)]
    return _Drawing(id, nanoseconds(epoch), agent, content).run("run", None, told, run.makespan, numbered=True)


class _Told(NamedTuple):
    """An event, what its spans are called, and when it happened on the clock of the outermost run."""

    path: str
    at: float
    event: Any


@dataclass(slots=True)
class _Job:
    """A job, what was told inside it, and what it came to: None as long as it is in flight."""

    asked: _Told
    inside: list[_Told] = field(default_factory=list)
    outcome: _Told | None = None


@dataclass(frozen=True)
class _Drawing:
    """What all spans of a trace have in common."""

    trace_id: str
    epoch: int
    agent: str
    content: bool

    def run(self, path: str, parent: str | None, told: Sequence[_Told], now: float, *, numbered: bool) -> list[Span]:
        """A run's own span, and those of its jobs. `numbered`: its events have numbers, by which it can be read back."""
        jobs, facts = _jobs(told)
        id = self._id(path)
        steps = _Steps()
        below: list[Span] = []
        calls: list[ModelCall] = []
        asked = {job.asked.path: job for job in jobs}
        for one in told:  # in the order of the events, so that a step is drawn as the plan says at that moment
            steps.learn(one.event)
            if one.path in asked and not isinstance(one.event, e.Inside):
                below += self._job(asked[one.path], id, steps, now, numbered)
            calls += [] if isinstance(one.event, e.Inside) else getattr(one.event, "calls", ())
        attributes: dict[str, Value] = {names.OPERATION: names.INVOKE_AGENT, names.PROVIDER: names.OPENAI}
        attributes |= {names.AGENT: self.agent} | (_used(calls) if calls else {})
        begun, ended = told[0].event if told else None, told[-1].event if told else None
        error = None
        if isinstance(ended, e.Ended):
            attributes[names.OWN + "status"] = ended.status
            if ended.status != "finished":
                error = ended.reason
                attributes[names.ERROR] = ended.status.replace(" ", "_")
        if isinstance(begun, e.RunStarted) and self.content:
            attributes[names.OWN + "goal"] = begun.goal
        noted = tuple(self._fact(fact, numbered) for fact in facts)
        start = told[0].at if told else 0.0
        return [
            self._span(f"{names.INVOKE_AGENT} {self.agent}", path, parent, start, now, attributes, noted, error),
            *below,
        ]

    def _job(self, job: _Job, parent: str, steps: _Steps, now: float, numbered: bool) -> Iterator[Span]:
        asked, outcome = job.asked, job.outcome
        end = outcome.at if outcome else now
        event = outcome.event if outcome else None
        attributes: dict[str, Value] = {}
        if isinstance(asked.event, e.PlanStarted):
            attributes |= {names.OPERATION: names.PLAN, names.AGENT: self.agent}
        attributes |= {names.STARTED: type(asked.event).__name__} | fields_of(asked.event, self.content)
        if event is not None:
            attributes |= {names.ENDED: type(event).__name__} | fields_of(event, self.content)
        if isinstance(asked.event, e.StepStarted) and asked.event.step in steps.steps:
            attributes |= steps.shown(asked.event.step, self.content)
        if numbered and self.content:
            attributes |= {names.FIRST: int(asked.path)} | ({names.LAST: int(outcome.path)} if outcome else {})
        error = error_of(event)
        if error is not None:
            attributes[names.ERROR] = error_type(event, error)
        noted = [self._fact(one, numbered) for one in job.inside]
        if isinstance(event, e.Judged):
            noted.append(self._verdict(event, outcome.at if outcome else now, steps))
        name = f"plan {self.agent}" if isinstance(asked.event, e.PlanStarted) else _name(asked.event)
        yield self._span(name, asked.path, parent, asked.at, end, attributes, tuple(noted), error)
        yield from self._below(job, self._id(asked.path), steps, end)

    def _below(self, job: _Job, parent: str, steps: _Steps, end: float) -> Iterator[Span]:
        """What a job did: the call of a tool, calls of models, a run inside."""
        asked, event = job.asked, job.outcome.event if job.outcome else None
        worked = getattr(event, "seconds", None)
        begun = asked.at if worked is None else max(round(end - worked, 9), asked.at)
        calls = () if event is None else getattr(event, "calls", ())
        step = steps.steps.get(asked.event.step) if isinstance(asked.event, e.StepStarted) else None
        call = asked.event.call if isinstance(asked.event, e.UndoStarted) else step
        if isinstance(asked.event, e.BackoffStarted):
            return
        called = event is not None and not isinstance(event, e.StepCancelled)  # what is taken back had not begun
        if call is not None and call.tool is not None and not job.inside and called:
            params = steps.resolved(call.params) if self.content else None
            result = getattr(event, "result", None) if isinstance(event, e.StepDone | e.UndoDone) else None
            attributes = of_tool(
                call.tool, params, result, self.content, done=isinstance(event, e.StepDone | e.UndoDone)
            )
            error = error_of(event)
            if error is not None:
                attributes[names.ERROR] = error_type(event, error)
            path = f"{asked.path}/tool"
            yield self._span(f"{names.EXECUTE_TOOL} {call.tool}", path, parent, begun, end, attributes, (), error)
            parent = self._id(path)
        inside = [_Told(one.path, one.at, one.event.event) for one in job.inside]
        for one in _runs(inside):
            path, now = f"{asked.path}/{one[0].path}/run", max(told.at for told in one)
            try:
                yield from self.run(path, parent, one, now, numbered=False)
                calls = ()  # what a run inside asked of models stands below it, on its own jobs
            except Exception:  # what a tool emits may look like a run, and be none: it is noted all the same
                continue
        actions = list(self._actions(inside, parent, end))
        yield from actions
        at, waits = begun, deque((seconds(one.start - self.epoch), seconds(one.end - self.epoch)) for one in actions)
        for number, used in enumerate(calls):
            while waits and waits[0][0] < at + used.seconds - 1e-6:  # the model waits for the tools that it called
                at = max(at, waits.popleft()[1])
            attributes = {names.OPERATION: names.CHAT, names.PROVIDER: names.OPENAI, names.MODEL: used.model}
            attributes |= _used([used]) | {names.CALL: number}
            name, path = f"{names.CHAT} {used.model}", f"{asked.path}/call {number}"
            yield self._span(name, path, parent, at, at + used.seconds, attributes, asks=True)
            at += used.seconds

    def _actions(self, inside: Sequence[_Told], parent: str, end: float) -> Iterator[Span]:
        """The calls of tools that a model made in a step: each until what the model saw of it."""
        for place, one in enumerate(inside):
            if not isinstance(one.event, e.Action):
                continue
            seen = inside[place + 1] if place + 1 < len(inside) else None
            observed = seen.event if seen and isinstance(seen.event, e.Observation) else None
            text = observed.text if observed else None
            attributes = of_tool(one.event.tool, one.event.params, text, self.content, done=observed is not None)
            error = observed.text if observed and observed.error else None
            if error is not None:
                attributes[names.ERROR] = error_type(None, error)
            # a model may ask for several at once: they are carried out one after the other
            until = seen.at if seen and observed else end
            name = f"{names.EXECUTE_TOOL} {one.event.tool}"
            yield self._span(name, f"{one.path}/{place}/tool", parent, one.at, until, attributes, (), error)

    def _fact(self, told: _Told, numbered: bool) -> SpanEvent:
        """An event that is no job: as JSON, or, without content, by its kind alone."""
        event = told.event.event if isinstance(told.event, e.Inside) else told.event
        attributes: dict[str, Value] = {}
        if numbered and self.content:
            attributes = {names.EVENT: event_text(told.event), names.NUMBER: int(told.path)}
        elif self.content and not (isinstance(told.event, e.Inside) and isinstance(event, _KINDS)):
            attributes = {names.EVENT: utf8(inner_text(event))}
        return SpanEvent(names.OWN + type(event).__name__, self._at(told.at), attributes)

    def _verdict(self, event: e.Judged, at: float, steps: _Steps) -> SpanEvent:
        attributes: dict[str, Value] = {names.VERDICT: event.verdict}
        if self.content:
            step = steps.steps.get(event.step)
            criterion = step.success_criteria if step else None
            attributes |= {names.CRITERION: utf8(criterion or f"step {event.step}")}
            attributes |= {names.EXPLANATION: utf8(event.reason)}
        return SpanEvent(names.EVALUATION, self._at(at), attributes)

    def _span(
        self,
        name: str,
        path: str,
        parent: str | None,
        start: float,
        end: float,
        attributes: Mapping[str, Value],
        noted: tuple[SpanEvent, ...] = (),
        error: str | None = None,
        asks: bool = False,
    ) -> Span:
        clean = {key: utf8(value) if isinstance(value, str) else value for key, value in attributes.items()}
        why = None if error is None else utf8(error) if self.content else ""
        begun, over = self._at(start), self._at(max(start, end))
        return Span(utf8(name), self.trace_id, self._id(path), parent, begun, over, clean, noted, why, asks)

    def _at(self, at: float) -> int:
        return self.epoch + nanoseconds(at)

    def _id(self, path: str) -> str:
        return _digest(f"{self.trace_id}/{path}")[:16]


class _Steps:
    """The steps of all plans so far, and the results: what a step is called with is known when it starts."""

    def __init__(self) -> None:
        self.steps: dict[str, Step] = {}
        self.results: dict[str, Any] = {}

    def learn(self, event: Any) -> None:
        """Something happened."""
        match event:
            case e.PlanProposed(plan=plan) | e.Reviewed(plan=plan) if plan is not None:
                self.steps.update({step.id: step for step in plan.steps})
            case e.StepProposed(step=step):
                self.steps[step.id] = step
            case e.Judged(changed=step) if step is not None:
                self.steps[step.id] = step
            case e.StepDone(step=id, result=result):
                self.results[id] = result

    def shown(self, id: str, content: bool) -> dict[str, Value]:
        """What a span says of its step."""
        step = self.steps[id]
        waits: dict[str, Value] = {names.DEPENDS_ON: step.depends_on} if step.depends_on else {}
        return waits | ({names.OWN + "description": step.description} if content and step.description else {})

    def resolved(self, params: Mapping[str, Any]) -> Any:
        """Arguments with what their references stand for; as the plan has them where a result is not there."""
        try:
            return resolve(params, self.results)
        except (LookupError, ValueError, TypeError):
            return params


def _jobs(told: Sequence[_Told]) -> tuple[list[_Job], list[_Told]]:
    """The jobs in the order in which they were started, and the events that are about none."""
    jobs: list[_Job] = []
    facts: list[_Told] = []
    flying: dict[tuple[str, str | None], _Job] = {}
    for one in told:
        event, step = one.event, getattr(one.event, "step", None)
        if isinstance(event, e.JOBS):
            flying[_what(event), step] = job = _Job(one)
            jobs.append(job)
        elif isinstance(event, e.Inside) and ("step", step) in flying:
            flying["step", step].inside.append(one)
        elif isinstance(event, _OUTCOMES) and (key := _ends(event, step, flying)) is not None:
            flying.pop(key).outcome = one
        else:
            facts.append(one)
    return jobs, facts


def _ends(event: Any, step: str | None, flying: Mapping[tuple[str, str | None], _Job]) -> tuple[str, str | None] | None:
    """Which job an outcome is of. One that was interrupted, or taken back, is named by its step alone."""
    vague = isinstance(event, e.Interrupted | e.StepCancelled)
    kinds = ("undo", "judge", "backoff", "step", "plan") if vague else (_what(event),)
    return next(((kind, step) for kind in kinds if (kind, step) in flying), None)


def _what(event: Any) -> str:
    """What is done: the steps of a plan are carried out, judged, waited for, taken back."""
    if isinstance(event, e.PlanStarted | e.PlanProposed | e.PlanFailed):
        return "plan"
    if isinstance(event, e.JudgeStarted | e.Judged | e.JudgeFailed):
        return "judge"
    if isinstance(event, e.BackoffStarted | e.BackoffEnded):
        return "backoff"
    return "undo" if isinstance(event, e.UndoStarted | e.UndoDone | e.UndoFailed) else "step"


def _name(event: Any) -> str:
    again = f", try {event.attempt}" if isinstance(event, e.StepStarted) and event.attempt > 1 else ""
    return f"{_what(event)} {event.step}{again}"


def _runs(inside: Sequence[_Told]) -> list[list[_Told]]:
    """The events of the runs inside a step, each run for itself; one that goes on after a pause has no beginning here."""
    runs: list[list[_Told]] = []
    for one in inside:
        if isinstance(one.event, _KINDS):
            if isinstance(one.event, e.RunStarted) or not runs:
                runs.append([])
            runs[-1].append(one)
    return runs


def _used(calls: Sequence[ModelCall]) -> dict[str, Value]:
    """Tokens, and dollars where all prices are known."""
    usage, cost = Usage.of(calls), prices_of(calls)
    tokens: dict[str, Value] = {names.TOKENS_IN: usage.input_tokens, names.TOKENS_OUT: usage.output_tokens}
    return tokens if cost is None else tokens | {names.COST: cost}


def _digest(text: str) -> str:
    return sha256(text.encode(errors="surrogatepass")).hexdigest()
