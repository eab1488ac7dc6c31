"""The ledger: what the models of a run were asked, and what that came to, by role or plan."""

from __future__ import annotations

from typing import Literal, get_args

from planexec_lab.views.drawing.figure import Figure
from planexec_lab.views.drawing.table import Row, table
from planexec_lab.views.drawing.theme import LOOKS
from planexec_lab.views.drawing.wording import count, seconds
from planexec_lite.meter import ModelCall, Usage
from planexec_lite.model.prices import PRICES, cost
from planexec_lite.run import Run
from planexec_lite.run import events as e

By = Literal["role", "plan"]
HEAD = ("", "calls", "read", "written", "cost", "time")


def ledger(run: Run, by: By = "role") -> Figure:
    """Show what the models of a run used: calls, tokens read and written, US dollars, seconds; and the sum of it.

    Args:
        run: the run; what happened inside steps is counted with them.
        by: a line for each "role", or for each "plan": the first, and each that came after a replan.

    A model without a price in `planexec_lite.model.prices` has "?" for its cost. If some calls have no number of tokens, a sum
    begins with "≥"; if all have none, it is "?". Raises `ValueError` for another `by`.
    """
    if by not in get_args(By):
        raise ValueError(f"by={by!r}: one of {', '.join(get_args(By))}")
    calls: dict[str, list[ModelCall]] = {}
    plan = 1
    for event in run.events:
        if isinstance(event, e.PlanStarted) and event.reason in ("failure", "news", "stall"):
            plan += 1
        if used := () if isinstance(event, e.Inside) else getattr(event, "calls", ()):  # it is counted with its step
            calls.setdefault(_role(event) if by == "role" else f"plan {plan}", []).extend(used)
    every = [call for some in calls.values() for call in some]
    rows = [Row(_cells(name, some), LOOKS["waiting"]) for name, some in calls.items()]
    rows += [Row(_cells("in all", every), LOOKS["waiting"])] if len(calls) > 1 else []
    usage = Usage.of(every)
    tokens = _known(every, f"{usage.input_tokens + usage.output_tokens:,}")
    title = f"{count(usage.calls, 'model call')}, {tokens} tokens"
    return table(f"{title}, {_dollars(every)}", (by, *HEAD[1:]), rows)


def _role(event: e.Event) -> str:
    if isinstance(event, e.PlanProposed):
        return "planner"
    return "evaluator" if isinstance(event, e.Judged) else "executor"


def _cells(name: str, calls: list[ModelCall]) -> list[str]:
    usage = Usage.of(calls)
    tokens = [_known(calls, f"{number:,}") for number in (usage.input_tokens, usage.output_tokens)]
    return [name, str(usage.calls), *tokens, _dollars(calls), seconds(usage.seconds)]


def _dollars(calls: list[ModelCall]) -> str:
    """What calls cost; "?" where a price is missing."""
    if any(call.model not in PRICES for call in calls):
        return "?"
    return _known(calls, f"${cost(calls):.4f}")


def _known(calls: list[ModelCall], number: str) -> str:
    """A number of tokens or dollars; at least that if the tokens of some calls are unknown, and "?" if those of all are."""
    unknown = [call for call in calls if "tokens unknown" in call.note]
    if not unknown:
        return number
    return f"≥ {number}" if len(unknown) < len(calls) else "?"
