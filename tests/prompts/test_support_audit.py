"""All of it on one agent: the support audit's prompt is released, its runs logged, and another version held against it."""

from __future__ import annotations

from pathlib import Path

import pytest

from planexec_lab.connect import connect
from planexec_lab.prompts import Registry, asked, backtest, check, compare, log_table, rows_from_runs
from planexec_lab.worlds import support
from planexec_lite import Journal, LLMEvaluator, PlannerExecutor, Policy, Simulated, ToolExecutor
from planexec_lite.roles.planners import INSTRUCTIONS


def test_an_audit_is_logged_turned_into_rows_and_asked_again(tmp_path: Path) -> None:
    registry, journal = Registry(tmp_path / "prompts.db"), Journal(tmp_path / "runs.db")
    registry.release("planner", registry.save("planner", INSTRUCTIONS).number, "production")
    world, client = support.World(), connect("support")
    planner = registry.planner(client, "production")
    evaluator = LLMEvaluator(registry.logged(client))
    hands = ToolExecutor(world.tools)
    policy = Policy(replan="failure")
    agent = PlannerExecutor(planner, hands, evaluator=evaluator, workers=Simulated(4), policy=policy, journal=journal)
    run = agent.run(support.GOAL)
    assert run.status == "finished"

    log = registry.log("planner", 1)
    assert len(log) >= 2  # the gap in the logs was noticed, and the rest planned again
    assert {one.status for one in log} == {"answered"}
    assert sum(one.input_tokens for one in registry.log()) == run.usage.input_tokens
    assert "planner 1" in log_table(registry.log())

    rows = rows_from_runs(journal, world.tools, ["audit"])
    registry.add_rows("audits", rows)
    assert rows[0].tags[1] == "first"
    assert len(rows) == len(log)
    assert "4b" in rows[-1].answer
    for row, one in zip(registry.rows("audits"), log, strict=True):  # the question is the same, word for word
        again = planner.messages(row.goal, row.board, row.toolbox)
        assert again == one.request["messages"]

    brief = registry.save("planner", INSTRUCTIONS + "\n- Be brief.", "shorter plans?")
    old, new = (backtest(one, registry.rows("audits"), asked(client)) for one in (registry.get("planner", 1), brief))
    assert old.share.hits == old.share.of == len(rows)
    with pytest.raises(ValueError, match="take more rows"):  # two questions are no evidence
        check(compare(new, old))
    assert registry.release("planner", 2, "staging").number == 2
