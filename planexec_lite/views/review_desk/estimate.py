"""What a plan will take and cost, as far as its tools declare seconds and prices; what is not declared is named."""

from __future__ import annotations

from math import fsum

from planexec_lite.plan import Plan, Step
from planexec_lite.tools import Toolbox
from planexec_lite.views.drawing.wording import count, in_a_row, listed, seconds


def estimate(plan: Plan, toolbox: Toolbox) -> str:
    """Return in sentences how long the plan takes at the least and what its calls cost, before anything is tried again."""
    chosen = [step.id for step in plan.steps if step.tool is None]
    left = "leaves its tool" if len(chosen) == 1 else "leave their tools"
    open_ = f"{_steps(chosen)} {left} to the executor, whose time and model calls nobody declared." if chosen else ""
    return " ".join(sentence for sentence in (_time(plan, toolbox), _cost(plan, toolbox), open_) if sentence)


def durations(plan: Plan, toolbox: Toolbox) -> dict[str, float]:
    """Return the seconds that each step's tool declares, by step id, for those that declare any."""
    declared = ((step.id, _declared(step, toolbox)) for step in plan.steps)
    return {id: time for id, time in declared if time}


def _declared(step: Step, toolbox: Toolbox) -> float:
    if step.tool is None or step.tool not in toolbox:
        return 0.0
    tool = toolbox[step.tool]
    try:
        return float(tool.seconds(tool.bind(step.params)))
    except Exception:  # a latency is the tool's own code, and an argument may still be a reference
        return 0.0


def _time(plan: Plan, toolbox: Toolbox) -> str:
    taken = durations(plan, toolbox)
    if not taken:
        return "No tool declares how long it takes." if plan.steps else ""
    path, least = plan.critical_path({step.id: taken.get(step.id, 0.0) for step in plan.steps})
    whole = fsum(taken.values())
    path = [id for id in path if id in taken]
    after = f", {seconds(whole)} one after the other" if whole > least else ""
    return f"At least {seconds(least)} (the critical path {in_a_row(path)}){after}."


def _cost(plan: Plan, toolbox: Toolbox) -> str:
    called = {
        step.id: toolbox[step.tool].price for step in plan.steps if step.tool is not None and step.tool in toolbox
    }
    priced = {id: price for id, price in called.items() if price is not None}
    if not priced:
        return "No tool declares a price." if called else ""
    free = [id for id, price in called.items() if price is None]
    rest = f"; {_steps(free).lower()} {_verb(free, 'declares', 'declare')} no price" if free else ""
    return f"${fsum(priced.values()):,.2f} for {count(len(priced), 'call')}{rest}."


def _steps(ids: list[str]) -> str:
    return f"{_verb(ids, 'Step', 'Steps')} {listed(ids)}"


def _verb(ids: list[str], one: str, many: str) -> str:
    return one if len(ids) == 1 else many
