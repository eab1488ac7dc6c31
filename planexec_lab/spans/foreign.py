"""The spans of another framework's agent as a run's events.

An agent that asks a model, calls the tools that the model names, and asks again, is this kit's loop with a planner that plans one
step ahead. So a model call is planning. A tool call is a step; so are a retrieval, a call for embeddings, and an agent that the
agent calls. Spans below a step happened inside it. There is no written plan: the calls in one answer are parallel, and depend on
the calls before that answer, because the model had seen their results. A model call during running steps is a step, because the
other steps don't wait for it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import NamedTuple, get_args

from pydantic import ValidationError

from planexec_lab.spans import names
from planexec_lab.spans.contents import answer, arguments, question, result
from planexec_lab.spans.span import Span, TraceError, seconds
from planexec_lab.spans.tree import Tree
from planexec_lite.core.events import PLANNER_FAILED
from planexec_lite.meter import ModelCall
from planexec_lite.plan import Plan, Problem, Step
from planexec_lite.run import events as e
from planexec_lite.tools import shown
from planexec_lite.tools.references import escape

MOST_EDGES = 2_000  # between what one answer asked for and what was done before it
_PLANNING = (*names.MODELS_ASKED, names.PLAN)
_STEPS = (names.EXECUTE_TOOL, names.EMBEDDINGS, names.RETRIEVAL)
_MODELS = (*names.MODELS_ASKED, names.EMBEDDINGS)
_MOST_NAMED = 5  # kinds of spans that were not understood


@dataclass
class _Round:
    """The request to the model, if there was one, and its steps."""

    asked: Sequence[Span] = ()
    steps: list[Span] = field(default_factory=list)


def events(tree: Tree) -> list[e.Event]:
    """Return the events of the run that a trace tells of. Raises `TraceError` for a step that can't be one."""
    return _Telling(tree).events()


class _Telling:
    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        units = _units(tree)
        known = (*_PLANNING, names.EXECUTE_TOOL, names.EMBEDDINGS)
        inside = {one.span_id for span in units for one in tree.walk(span)}
        self.around = [span for span in tree.spans if span.span_id not in inside]
        chosen = {span.span_id for span in units if _operation(span)}
        others = [span for span in tree.spans if _operation(span) not in known and span.span_id not in chosen]
        self.left_out = [span for span in others if not tree.inside(span)] if len(tree.spans) > 1 else []
        thinking = _together([span for span in units if _operation(span) in _PLANNING])
        work = [span for span in units if _operation(span) not in _PLANNING]
        self.rounds = _rounds(thinking, work)
        asked = [*tree.top, *(span for some in thinking for span in some)]
        self.goal = next((text for span in asked if (text := question(span))), tree.top[0].name)
        steps = [span for one in self.rounds for span in one.steps]
        self.ids = {span.span_id: str(number) for number, span in enumerate(steps, 1)}
        self.counts = _counts(tree, names.TOKENS_IN), _counts(tree, names.TOKENS_OUT)
        self.unknown = 0  # calls of models of which the trace has no tokens
        told = (names.RESULT, *names.RESULT_TOO)
        self.silent = sum(
            _operation(span) == names.EXECUTE_TOOL and span.error is None and span.attributes.keys().isdisjoint(told)
            for span in steps
        )

    def events(self) -> list[e.Event]:
        told: list[e.Event] = [e.RunStarted(0.0, self.goal, True, False, models_in_steps=True)]
        done: list[Span] = []
        for number, one in enumerate(self.rounds):
            plan = self._plan(one, done, last=number == len(self.rounds) - 1)
            told += self._planned(one, plan, first=number == 0)
            told += self._worked(one.steps)
            done = [span for span in one.steps if span.error is None] or done
        top = self.tree.top
        status = next((ended for span in top if (ended := span.attributes.get(names.OWN + "status"))), None)
        failed = [span for span in top if span.error is not None]
        over = self._at(max(span.end for span in self.tree.spans))
        if status not in get_args(e.Status):
            status = "failed" if failed else "finished"
        reason = (failed[0].error if failed else "") or "the trace ends"
        reason += self._not_understood()
        dropped = sum(names.DROPPED in span.attributes for span in self.tree.spans)
        reason += f" (attributes or events were dropped: {dropped} × a span)" if dropped else ""
        reason += f" (tokens unknown: {self.unknown} × a model's call)" if self.unknown else ""
        reason += f" (results unknown: {self.silent} × a tool's call)" if self.silent else ""
        made = any(_operation(span) == names.EXECUTE_TOOL for span in self.tree.spans)
        asked = 0 if made else self._that_ended_with("tool_|function_call")
        reason += f" (tools' calls missing: asked for in {asked} × a model's call)" if asked else ""
        cut = self._that_ended_with("length|max_tokens|content_filter")
        reason += f" (answers cut off: {cut} × a model's call)" if cut else ""
        return [*told, e.Ended(over, status, reason)]  # type: ignore[arg-type]

    def _that_ended_with(self, reasons: str) -> int:
        """The number of spans of models whose answers ended for one of these reasons."""
        return sum(
            any(re.search(reasons, str(value)) for name, value in span.attributes.items() if "finish_reason" in name)
            for span in self.tree.spans
            if _operation(span) in names.MODELS_ASKED
        )

    def _not_understood(self) -> str:
        """Count the spans that are neither model calls nor steps, by name; "" if there are no such spans."""
        if not self.left_out:
            return ""
        counted = Counter(span.name for span in self.left_out).most_common()
        named = ", ".join(f"{number} × {shown(name[:40])}" for name, number in counted[:_MOST_NAMED])
        more = f" and {len(counted) - _MOST_NAMED} other names" if len(counted) > _MOST_NAMED else ""
        return f" (not understood: {named}{more})"

    def _plan(self, one: _Round, done: Sequence[Span], *, last: bool) -> Plan:
        waits = sorted(done, key=lambda span: span.end)
        if len(waits) * len(one.steps) > MOST_EDGES:
            waits = waits[-1:]
        before = tuple(self.ids[span.span_id] for span in waits)
        steps = tuple(self._step(span, before) for span in one.steps)
        text = answer(one.asked[-1]) if last and one.asked and not steps else None
        return Plan(goal=self.goal, steps=steps, complete=last, answer=escape(text) if text else None)

    def _step(self, span: Span, before: tuple[str, ...]) -> Step:
        id = self.ids[span.span_id]
        try:
            if _operation(span) == names.EXECUTE_TOOL:
                return Step(id=id, tool=_tool(span), params=arguments(span), depends_on=before)
            return Step(id=id, description=span.name or "step", depends_on=before)
        except (ValidationError, RecursionError) as problem:
            raise TraceError(f"{self.tree.places[span.span_id]}: it can't be a step: {str(problem)[:200]}") from problem

    def _planned(self, one: _Round, plan: Plan, *, first: bool) -> Iterator[e.Event]:
        calls = tuple(call for span in (self.around if first else ()) for call in self._call(span))
        if one.asked:
            start, end = min(span.start for span in one.asked), max(span.end for span in one.asked)
            calls += tuple(call for span in one.asked for call in self._calls(span))
            yield e.PlanStarted(self._at(start), "first" if first else "horizon")
            failed = next((span.error for span in one.asked if span.error is not None), None)
            if failed is None:
                yield e.PlanProposed(self._at(end), plan, seconds=seconds(end - start), calls=calls)
                return
            problem = Problem(PLANNER_FAILED, None, failed or "failed", "answer again")
            yield e.PlanProposed(self._at(end), None, (problem,), "", seconds(end - start), calls)
            calls = ()
        if plan.steps or calls:
            yield e.PlanProposed(self._at(one.steps[0].start) if one.steps else 0.0, plan, calls=calls)

    def _worked(self, steps: Sequence[Span]) -> Iterator[e.Event]:
        """The beginnings and ends of steps in their order; at one moment an end comes first, but not before its beginning."""
        moments = [(span.start, 1, place, span) for place, span in enumerate(steps)]
        moments += [(span.end, 0 if span.end > span.start else 2, place, span) for place, span in enumerate(steps)]
        for at, what, _, span in sorted(moments, key=lambda moment: moment[:3]):
            if what == 1:
                yield e.StepStarted(self._at(at), self.ids[span.span_id])
            else:
                yield from self._ended(span)

    def _ended(self, span: Span) -> Iterator[e.Event]:
        id, at, took = self.ids[span.span_id], self._at(span.end), seconds(span.end - span.start)
        calls = tuple(self._calls(span))
        for one in self.tree.walk(span):
            if one is not span and _operation(one) == names.EXECUTE_TOOL:
                seen = one.error if one.error is not None else str(result(one))
                yield e.Inside(self._at(one.start), id, e.Action(_tool(one), arguments(one)))
                yield e.Inside(self._at(one.end), id, e.Observation(seen, one.error is not None))
        if span.error is not None:
            yield e.StepFailed(at, id, span.error or "failed", took, calls, final=True)
        else:
            yield e.StepDone(at, id, result(span), took, calls)

    def _calls(self, span: Span) -> Iterator[ModelCall]:
        """The calls of models at a span or below; one inside another is the same call, told twice."""
        for one in self.tree.walk(span, lambda one: _operation(one) in _MODELS):
            yield from self._call(one)

    def _call(self, span: Span) -> Iterator[ModelCall]:
        """The call of a model; or the tokens that only a span around such calls has, because they are not in the trace."""
        read, written = (counts[span.span_id] for counts in self.counts)
        model = span.attributes.get(names.MODEL) or span.attributes.get(names.MODEL_THAT_ANSWERED) or "unknown"
        if _operation(span) in _MODELS:
            counts = (read,) if _operation(span) == names.EMBEDDINGS else (read, written)
            unknown = span.error is None and any(count.whole is None for count in counts)
            self.unknown += unknown
            note = "tokens unknown: the trace has none" if unknown else ""
            yield ModelCall(str(model), read.whole or 0, written.whole or 0, seconds(span.end - span.start), note)
        elif read.rest or written.rest:
            yield ModelCall(str(model), read.rest, written.rest, note="a sum: its calls are not in the trace")

    def _at(self, time: int) -> float:
        return seconds(time - self.tree.start)


def _units(tree: Tree) -> list[Span]:
    """Return the outermost spans that are planning or steps.

    If no span is planning or a step, the spans without children are the steps. A tool called below a model's span, as ADK writes
    it, is a step; the model had answered when it began.
    """
    units, leaves = [], []
    waiting = [(span, False, False) for span in reversed(tree.top)]
    while waiting:
        span, in_agent, in_model = waiting.pop()
        operation, inside = _operation(span), tree.inside(span)
        agent = operation == names.INVOKE_AGENT
        if operation in _STEPS or (agent and in_agent):
            units.append(span)
            continue
        if operation in _PLANNING and not in_model:
            called = [one.start for one in tree.walk(span) if _operation(one) == names.EXECUTE_TOOL]
            units.append(replace(span, end=max(span.start, min(called))) if called else span)
            waiting += [(one, in_agent, True) for one in reversed(inside)]
            continue
        leaves += [] if inside or agent else [span]
        asks = in_agent or (agent and _asks(tree, span))
        waiting += [(one, asks, in_model) for one in reversed(inside)]
    return sorted(units or leaves, key=lambda span: span.start)


def _asks(tree: Tree, agent: Span) -> bool:
    """Whether an agent asks a model or calls a tool itself; one that only contains other agents is their frame."""
    inner = tree.walk(agent, lambda one: one is not agent and _operation(one) == names.INVOKE_AGENT)
    return any(_operation(one) in (*_PLANNING, *_STEPS) for one in inner)


def _together(thinking: Sequence[Span]) -> list[list[Span]]:
    """Calls of models at the same time are taken together: there is one planner."""
    groups: list[list[Span]] = []
    end = -1
    for span in thinking:
        if span.start >= end:
            groups.append([])
        groups[-1].append(span)
        end = max(end, span.end)
    return groups


def _rounds(thinking: Sequence[list[Span]], work: Sequence[Span]) -> list[_Round]:
    """Assign the steps to the requests before them. A request during a running step is a step."""
    starts, ends = [span.start for span in work], list(accumulate((span.end for span in work), max))
    quiet, busy = [], []
    for group in thinking:
        before = bisect_left(starts, max(span.end for span in group))
        at_work = before > 0 and ends[before - 1] > group[0].start
        busy += group if at_work else []
        quiet += [] if at_work else [group]
    rounds = [_Round(), *(_Round(group) for group in quiet)]
    place = 0
    for span in sorted([*work, *busy], key=lambda span: span.start):
        while place + 1 < len(rounds) and rounds[place + 1].asked[0].start <= span.start:
            place += 1
        rounds[place].steps.append(span)
    return rounds if rounds[0].steps or len(rounds) == 1 else rounds[1:]


def _tool(span: Span) -> str:
    return str(span.attributes.get(names.TOOL) or span.name or "tool")


def _operation(span: Span) -> str:
    return str(span.attributes.get(names.OPERATION, ""))


class _Count(NamedTuple):
    """Tokens: the `whole` of a span and of those inside it, None if it is unknown; the `rest` that those inside don't have."""

    whole: int | None
    rest: int


def _counts(tree: Tree, name: str) -> dict[str, _Count]:
    """The tokens of each span by its id; a span around others repeats theirs."""
    counts: dict[str, _Count] = {}
    for span in reversed([one for top in tree.top for one in tree.walk(top)]):
        inside = [counts[one.span_id].whole for one in tree.inside(span)]
        numbers = [count for count in (_tokens(span.attributes.get(name)), *inside) if count is not None]
        below = sum(count or 0 for count in inside)
        whole = max(below, numbers[0]) if numbers else None
        counts[span.span_id] = _Count(whole, (whole or 0) - below)
    return counts


def _tokens(value: object) -> int | None:
    """A number of tokens, which some exporters write as a text or as a fraction; None for any other value."""
    digits = re.fullmatch(r"([0-9]{1,15})(\.0*)?", "" if isinstance(value, bool) else str(value))
    return int(digits[1]) if digits else None
