"""Growth: the time of n steps compared with that of half as many. The ratio's binary logarithm is the exponent of n."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import log2
from typing import Any

from planexec_lite import (
    ApproveAll,
    Backoff,
    Decision,
    Plan,
    PlannerExecutor,
    Policy,
    RuleEvaluator,
    RulePlanner,
    Run,
    Simulated,
    Tool,
    Toolbox,
    ToolExecutor,
    execute,
)
from tests.bench.report import Row, beside, rounds, timed


def look() -> str:
    """Return a word."""
    return "seen"


def fail() -> None:
    """Fail."""
    raise RuntimeError("not yet")


EXECUTOR = ToolExecutor(Toolbox([Tool(look, effects="none"), Tool(fail, effects="none")]))


def flat(n: int, tool: str = "look", **fields: Any) -> Plan:
    return Plan.parse([{"id": str(number), "tool": tool, **fields} for number in range(n)])


def run_of(plan: Plan, **roles: Any) -> Run:
    return execute(plan, EXECUTOR, workers=Simulated(), **roles)


def gated(n: int, reviewer: ApproveAll | None) -> tuple[PlannerExecutor, Run]:
    planner = RulePlanner(lambda goal: flat(n, gate=True))
    agent = PlannerExecutor(planner, EXECUTOR, reviewer, workers=Simulated(), policy=Policy(max_steps=n))
    return agent, agent.run("gates")


def resumed(n: int) -> Run:
    agent, run = gated(n, None)
    while run.status == "paused":
        run = agent.resume(run, Decision("approve"))
    return run


def rollback(n: int) -> Callable[[], Run]:
    run = run_of(flat(n, effects="once", undo={"tool": "look"}))
    return lambda: PlannerExecutor(None, EXECUTOR).roll_back(run)


def judged(n: int) -> Callable[[], Run]:
    plan, evaluator = flat(n, success_criteria="any"), RuleEvaluator(lambda step, result: True)
    return lambda: run_of(plan, evaluator=evaluator)


def retried(n: int) -> Callable[[], Run]:
    plan, policy = flat(n, "fail", retries=1), Policy(backoff=Backoff())
    return lambda: run_of(plan, policy=policy)


def unknown_ids(n: int) -> Callable[[], Any]:
    steps = [{"id": str(number), "tool": "look", "depends_on": [f"step-{number}"]} for number in range(n)]
    return Plan.parse(steps).problems


WORKS: dict[str, tuple[int, Callable[[int], Callable[[], Any]]]] = {  # the number of steps, and what is timed
    "judged steps": (4_000, judged),
    "the same call with effects": (4_000, lambda n: partial(run_of, flat(n, effects="unknown"))),
    "retries with backoff": (4_000, retried),
    "gates, approved by a reviewer": (400, lambda n: lambda: gated(n, ApproveAll())),
    "gates, each resumed": (400, lambda n: lambda: resumed(n)),
    "steps rolled back": (4_000, rollback),
    "unknown ids": (200, unknown_ids),
}


def measure(share: float, times: int) -> list[Row]:
    """The exponents; `share` of the steps is measured."""
    rows = []
    for what, (steps, work) in WORKS.items():
        n = max(2, int(steps * share))
        taken = rounds({"all": timed(work(n)), "half": timed(work(n // 2))}, times)
        row = beside(f"{n:,} {what}", taken, "all", "half", 1e6 / n, 1.3)
        rows.append(replace(row, second=row.second * 2, ratio=log2(row.ratio)))
    return rows
