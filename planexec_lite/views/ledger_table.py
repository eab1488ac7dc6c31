"""The ledger: what the models of a run were asked, and what that came to, by role, step, model or plan."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple, get_args

from planexec_lite import events as e
from planexec_lite.loop.run import Run
from planexec_lite.meter import ModelCall, Usage
from planexec_lite.model.prices import PRICES, cost
from planexec_lite.views.drawing.figure import Figure
from planexec_lite.views.drawing.table import Row, table
from planexec_lite.views.drawing.text_fitting import clean
from planexec_lite.views.drawing.theme import LOOKS
from planexec_lite.views.drawing.wording import count, seconds

By = Literal["role", "step", "model", "plan"]
HEAD = ("", "calls", "read", "written", "cost", "time")


class Entry(NamedTuple):
    """A call of a model: for which role, about which step, and while which plan stood, from 1."""

    role: str
    step: str
    plan: int
    call: ModelCall


def entries(run: Run) -> Iterator[Entry]:
    """Give every call of a model in `run`, in the order in which they were reported."""
    plan = 1
    for event in run.events:
        if isinstance(event, e.PlanStarted) and event.reason in ("failure", "news", "stall"):
            plan += 1
        role = (
            "planner"
            if isinstance(event, e.PlanProposed | e.PlanFailed)
            else "evaluator"
            if isinstance(event, e.Judged | e.JudgeFailed)
            else "executor"
        )
        # what happened inside a step is counted with the step
        for call in () if isinstance(event, e.Inside) else getattr(event, "calls", ()):
            yield Entry(role, getattr(event, "step", None) or "–", plan, call)


def ledger(run: Run, by: By = "role") -> Figure:
    """Show what the models of a run used: calls, tokens read and written, US dollars, seconds; and the sum of it.

    Args:
        run: the run; what happened inside steps is counted with them.
        by: a line for each "role", "step" ("–": the planner), "model", or "plan": the first, and each that came after a replan.

    A model without a price in `planexec_lite.model.prices` has "?" for its cost. Raises `ValueError` for another `by`.
    """
    if by not in get_args(By):
        raise ValueError(f"by={by!r}: one of {', '.join(get_args(By))}")
    calls: dict[str, list[ModelCall]] = {}
    for one in entries(run):
        name = {"role": one.role, "step": one.step, "model": one.call.model, "plan": f"plan {one.plan}"}[by]
        calls.setdefault(clean(name), []).append(one.call)
    every = [call for some in calls.values() for call in some]
    rows = [Row(_cells(name, some), LOOKS["waiting"]) for name, some in calls.items()]
    rows += [Row(_cells("in all", every), LOOKS["waiting"])] if len(calls) > 1 else []
    usage = Usage.of(every)
    title = f"{count(usage.calls, 'model call')}, {usage.input_tokens + usage.output_tokens:,} tokens"
    return table(f"{title}, {_dollars(every)}", (by, *HEAD[1:]), rows)


def _cells(name: str, calls: list[ModelCall]) -> list[str]:
    usage = Usage.of(calls)
    tokens = [f"{usage.input_tokens:,}", f"{usage.output_tokens:,}"]
    return [name, str(usage.calls), *tokens, _dollars(calls), seconds(usage.seconds)]


def _dollars(calls: list[ModelCall]) -> str:
    """What calls cost; "?" where a price is missing."""
    return "?" if any(call.model not in PRICES for call in calls) else f"${cost(calls):.4f}"
