"""The ledger: every call of a model is counted once, whichever way the lines are drawn."""

from typing import Any

import pytest

from planexec_lab import views
from planexec_lite import Budget, Plan, PlannerExecutor, Policy, Run, Simulated
from planexec_lite.meter import ModelCall, charge
from tests.capabilities.test_budget import FIVE, TOOLS, Asked, Thinking, approve, nested


@pytest.mark.parametrize("by", ["role", "plan"])
def test_the_lines_add_up_to_what_the_run_used(by: Any) -> None:
    run = PlannerExecutor(Asked(FIVE), Thinking(TOOLS), workers=Simulated()).run("go")
    text = views.ledger(run, by).text
    assert text.startswith("6 model calls, 6,000 tokens, $0.0014")
    counted = [line.split() for line in text.splitlines()[2:]]
    lines = [line for line in counted if line[0] != "in"]
    assert sum(int(line[-6] if line[-1] == "s" and by == "plan" else line[1]) for line in lines) == 6


def test_runs_inside_steps_are_counted_with_the_step_and_once() -> None:
    agent = nested(Budget(model_calls=2), Policy())
    run = agent.run("go")
    while run.status == "paused":
        run = agent.resume(run, approve(model_calls=1))
    assert views.ledger(run).text.startswith("5 model calls, 5,000 tokens")


def test_a_model_without_a_price_costs_nobody_knows_what() -> None:
    class Mine:
        def plan(self, *_: object) -> Plan:
            charge(1.0, ModelCall("mine", 10, 10))
            return FIVE

    run = PlannerExecutor(Mine(), Thinking(TOOLS)).run("go")
    assert views.ledger(run).text.startswith("6 model calls, 5,020 tokens, ?")
    assert views.ledger(Run()).text.startswith("0 model calls, 0 tokens, $0.0000")
    with pytest.raises(ValueError, match="by='day': one of role, plan"):
        views.ledger(run, "day")  # type: ignore[arg-type]
