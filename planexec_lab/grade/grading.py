"""Grades: a plan compared with its gold plans.

Tool F1 is TaskBench's node F1 and WorFBench's node measure (Shen et al. 2023, https://arxiv.org/abs/2311.18760; Qiao et
al. 2024, https://arxiv.org/abs/2410.07869), edge F1 is TaskBench's link F1. There are two differences. TaskBench counts
a tool, or a link between two tools, once even if it occurs several times; here every occurrence counts. WorFBench compares
plain-language tasks by a sentence model; here descriptions must be equal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from planexec_lab.grade import matching
from planexec_lite.plan import Plan, PlanError, Problem
from planexec_lite.tools import Toolbox


class Cost(NamedTuple):
    """The cost of carrying out each step of a plan once.

    Args:
        calls: number of steps.
        seconds: sum of the declared seconds; not the makespan, in which steps overlap.
    """

    calls: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Grade:
    """The grade of one plan.

    Args:
        valid: whether `Plan.problems` is empty.
        problems: the codes of its problems, each once; "no_plan" if `plan` is None.
        tool_f1: agreement of its calls with the gold plan's, in any order: Tool F1 = 2 × (calls in common) / (total calls in
            both plans); 0 to 1.
        edge_f1: the same for direct dependencies, as pairs of tools; 0 to 1.
        order_kept: the share of the gold plan's order that it keeps (`matching.order_kept`); 0 to 1.
        makespan_ratio: its critical path divided by the gold plan's; above 1 it is slower. A plan with missing work is short,
            so read this together with tool F1. None if it can't run.
        cost: the cost of its steps; None if it can't run.
        criteria: the share of steps with a success criterion: among the steps that have one in the gold plan, or among all
            its steps if the gold plan has none; 0 to 1.
        risks: ids of at-most-once steps without an undo and without a gate.
        gold: the index of the gold plan that it was compared with, from 0.
    """

    valid: bool
    problems: tuple[str, ...]
    tool_f1: float
    edge_f1: float
    order_kept: float
    makespan_ratio: float | None
    cost: Cost | None
    criteria: float
    risks: tuple[str, ...]
    gold: int = 0


_NO_PLAN = ("no_plan",)
METRICS: dict[str, Callable[[Grade], float | None]] = {
    "valid": lambda grade: float(grade.valid),
    "tool F1": lambda grade: grade.tool_f1,
    "edge F1": lambda grade: grade.edge_f1,
    "order kept": lambda grade: grade.order_kept,
    "makespan ratio": lambda grade: grade.makespan_ratio,
    "calls": lambda grade: None if grade.cost is None else float(grade.cost.calls),
    "criteria": lambda grade: grade.criteria,
    "risks": lambda grade: None if grade.problems == _NO_PLAN else float(len(grade.risks)),
}
"""A number of a grade by its name in tables; None where it was not measured."""


def grade(
    plan: Plan | None,
    gold: Plan | Iterable[Plan],
    toolbox: Toolbox | None = None,
    durations: Mapping[str, float] | None = None,
) -> Grade:
    """Return the grade of `plan`.

    Args:
        plan: None for an unreadable answer; it gets 0 everywhere.
        gold: one gold plan or several. With several the best match counts: by tool F1, then edge F1, then order kept, then
            position.
        toolbox: checks the plan, and gives effects and seconds. None: tools and arguments are not checked, and the effects
            are those that the steps declare.
        durations: seconds by tool, instead of the toolbox's. If the gold plan takes no time by either, all steps take the
            same time.

    Raises `ValueError` without a gold plan, for an invalid gold plan without a toolbox (`PlanError`), and for a tool without a
    duration.
    """
    golds = [gold] if isinstance(gold, Plan) else list(gold)
    if not golds:
        raise ValueError("there is no gold plan; give one at least")
    for one in golds:
        if problems := one.problems():
            fault = Problem("invalid_gold", None, "a gold plan must be valid", "correct it, or leave it out")
            raise PlanError([fault, *problems])
    if plan is None:
        return Grade(False, _NO_PLAN, 0.0, 0.0, 0.0, None, None, 0.0, ())
    measured = [
        (
            matching.f1(matching.labels(plan), matching.labels(one)),
            matching.f1(matching.edges(plan), matching.edges(one)),
            matching.order_kept(plan, one),
        )
        for one in golds
    ]
    best = max(range(len(golds)), key=lambda place: (measured[place], -place))
    codes = tuple(dict.fromkeys(problem.code for problem in plan.problems(toolbox)))
    ratio = cost = None
    if not codes:
        seconds, of_gold = (_seconds(one, toolbox, durations) for one in (plan, golds[best]))
        ratio = _length(plan, seconds, of_gold) / _length(golds[best], of_gold, of_gold)
        cost = Cost(len(plan.steps), round(sum(seconds.values()), 9))
    tools = toolbox if toolbox is not None else Toolbox()
    once = [id for id, effects in plan.effects(tools).items() if effects == "once"]
    risks = tuple(problem.step for problem in plan.without_undo(tools) if problem.step in once)
    return Grade(
        not codes, codes, *measured[best], ratio, cost, _criteria(plan, golds[best]), tuple(filter(None, risks)), best
    )


def _criteria(plan: Plan, gold: Plan) -> float:
    ours, wanted = ({step.id for step in one.steps if step.success_criteria} for one in (plan, gold))
    if not wanted:
        return sum(bool(step.success_criteria) for step in plan.steps) / len(plan.steps) if plan.steps else 0.0
    return sum(one in ours for one, other in matching.matched(plan, gold) if other in wanted) / len(wanted)


def _seconds(plan: Plan, toolbox: Toolbox | None, durations: Mapping[str, float] | None) -> dict[str, float]:
    """The seconds of each step, by its id; 0 where nothing declares them."""
    if durations is not None:
        if lacking := sorted(matching.labels(plan).keys() - durations.keys()):
            raise ValueError(f"durations has no seconds for {', '.join(map(repr, lacking))}; add them")
        return {step.id: durations[matching.label(step)] for step in plan.steps}
    if toolbox is None:
        return dict.fromkeys(plan.graph, 0.0)
    known = plan.changed(steps=tuple(step for step in plan.steps if _callable(step.tool, step.params, toolbox)))
    return dict.fromkeys(plan.graph, 0.0) | known.durations(toolbox)


def _callable(tool: str | None, params: Mapping[str, object], toolbox: Toolbox) -> bool:
    return tool is not None and tool in toolbox and not toolbox[tool].faults(params)


def _length(plan: Plan, seconds: Mapping[str, float], of_gold: Mapping[str, float]) -> float:
    """The length of the critical path; each step counts 1 where the gold plan takes no time."""
    return plan.critical_path(seconds if any(of_gold.values()) else None)[1]
