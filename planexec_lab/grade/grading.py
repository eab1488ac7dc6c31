"""Grades: a plan compared with its gold plan.

Tool F1 is TaskBench's node F1 and WorFBench's node measure (Shen et al. 2023, https://arxiv.org/abs/2311.18760; Qiao et
al. 2024, https://arxiv.org/abs/2410.07869), with two differences. TaskBench counts a tool once even if it occurs several
times; here every occurrence counts. WorFBench compares plain-language tasks by a sentence model; here descriptions must be
equal.
"""

from dataclasses import dataclass

from planexec_lab.grade import matching
from planexec_lite.plan import Plan, PlanError, Problem
from planexec_lite.tools import Toolbox


@dataclass(frozen=True, slots=True)
class Grade:
    """The grade of one plan.

    Args:
        valid: whether `Plan.problems` is empty.
        problems: the codes of its problems, each once; "no_plan" if `plan` is None.
        tool_f1: agreement of its calls with the gold plan's, in any order: Tool F1 = 2 × (calls in common) / (total calls in
            both plans); 0 to 1.
        order_kept: the share of the gold plan's order that it keeps (`matching.order_kept`); 0 to 1.
    """

    valid: bool
    problems: tuple[str, ...]
    tool_f1: float = 0.0
    order_kept: float = 0.0


def grade(plan: Plan | None, gold: Plan, toolbox: Toolbox | None = None) -> Grade:
    """Return the grade of `plan`.

    Args:
        plan: None for an unreadable answer; it gets 0 everywhere.
        gold: a plan that is known to be good.
        toolbox: checks the plan. None: tools and arguments are not checked.

    Raises `PlanError` for an invalid gold plan.
    """
    if problems := gold.problems():
        fault = Problem("invalid_gold", None, "a gold plan must be valid", "correct it, or leave it out")
        raise PlanError([fault, *problems])
    if plan is None:
        return Grade(False, ("no_plan",))
    codes = tuple(dict.fromkeys(problem.code for problem in plan.problems(toolbox)))
    return Grade(
        not codes,
        codes,
        matching.f1(matching.labels(plan), matching.labels(gold)),
        matching.order_kept(plan, gold),
    )
