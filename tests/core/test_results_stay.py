"""A result stays what it was, whatever tools, executors, planners, judges and readers do with their copies of it."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from planexec_lite import (
    ApproveAll,
    Board,
    Decision,
    Inline,
    Plan,
    PlannerExecutor,
    Pool,
    Run,
    Simulated,
    Step,
    Tool,
    Toolbox,
    ToolExecutor,
    Verdict,
    execute,
)
from planexec_lite.capabilities.approval import Approvals
from planexec_lite.capabilities.judging import Judging
from planexec_lite.capabilities.news import News
from planexec_lite.capabilities.once_calls import OnceCalls
from planexec_lite.events import StepDone, from_dict, to_dict
from tests.core.shapes import step

NUMBERS = {"numbers": [3, 1, 2], "more": {"of": ["them"]}}


def make() -> dict[str, Any]:
    """Make numbers."""
    return {"numbers": [3, 1, 2], "more": {"of": ["them"]}}


def spoil(given: dict[str, Any], words: list[Any] | None = None) -> int:
    """Change everything that was given."""
    return scribble([given, words])


def scribble(value: Any) -> int:
    """Change `value` wherever that is possible."""
    with suppress(TypeError):
        for part in [*(value.values() if isinstance(value, dict) else value if isinstance(value, list) else ())]:
            scribble(part)
        if isinstance(value, dict):
            value["new"] = "MALLORY"
        elif isinstance(value, list):
            value.append("MALLORY")
    return 0


class Scribbles:
    """An executor that changes what it is given, and gives back a list that it keeps."""

    tools = Toolbox([Tool(make, effects="none"), Tool(spoil, effects="none")])

    def __init__(self) -> None:
        self.kept: list[Any] = []

    def execute(self, step: Step, inputs: Mapping[str, Any]) -> Any:
        if not inputs:
            return make()
        scribble([dict(inputs), *inputs.values()])
        scribble(step.params)
        self.kept = [step.id]
        return self.kept


PLAN = Plan.parse(
    [
        step("1", "make"),
        step("2", "spoil", "1", given="{step_1_result}", words=["{step_1_result.more}", {"a": []}],
             success_criteria="fine"),
        step("3", "spoil", "1", "2", given="{step_1_result}"),
    ]
)  # fmt: skip


def check(run: Run) -> None:
    assert run.status == "finished"
    assert (run.results["1"], run.board.results["1"]) == (NUMBERS, NUMBERS)
    assert next(event.result for event in run.events if isinstance(event, StepDone)) == NUMBERS
    assert "MALLORY" not in str(run.events) + str(run.plan)
    assert Board.of(run.events) == run.board


@pytest.mark.parametrize("executor", [ToolExecutor(Scribbles.tools), Scribbles()], ids=["tools", "executor"])
@pytest.mark.parametrize("kind", ["inline", "simulated", "threads"])
def test_what_a_step_does_to_inputs_and_results_changes_no_result(executor: Any, kind: str) -> None:
    with ThreadPoolExecutor(2) as threads:
        workers: Any = {"inline": Inline(), "simulated": Simulated()}.get(kind) or Pool(threads)
        run = execute(PLAN, executor, workers=workers)
    check(run)
    if isinstance(executor, Scribbles):
        executor.kept.append("MALLORY")
        assert run.results["3"] == ["3"]


def everywhere(board: Board) -> None:
    """Scribble on whatever a board shows."""
    scribble(
        [*board.results.values(), *board[Judging].results.values(), *(step.params for step in board.steps.values())]
    )
    for id in [*board.steps]:
        board.steps[id] = Step(id=id, tool="spoil", params={"given": {"x": "MALLORY"}})
    board.results.update(dict.fromkeys(["1", "2", "3"], "MALLORY"))
    board[Approvals].approved.add(str(board.proposal and board.proposal.hash))
    board[Approvals].opened.update(board.steps)
    board[Approvals].grant_scope = None
    board.state.clear()
    board[News].texts.append("MALLORY")
    board.started = replace(board.started, limits=(), reviewer=False)
    board[OnceCalls].spent.append((PLAN.steps[0], 1))


def test_what_a_role_does_to_the_board_that_it_is_shown_changes_nothing() -> None:
    class Roles:
        def plan(self, goal: str, board: Board, tools: Toolbox) -> Plan:
            everywhere(board)
            return PLAN if not board.steps else Plan(goal=goal)

        def evaluate(self, step: Step, result: Any, board: Board) -> Verdict:
            everywhere(board)
            scribble(result)
            return Verdict("accept")

        def review(self, plan: Plan, board: Board, tools: Toolbox) -> Decision:
            everywhere(board)
            return ApproveAll().review(plan, board, tools) or Decision("reject")

    check(PlannerExecutor(Roles(), Scribbles(), Roles(), Roles(), Simulated()).run("numbers"))


def test_what_is_read_off_a_run_may_be_changed_and_the_run_stays() -> None:
    run = execute(Plan.parse([step("1", "make")]), Scribbles())
    for again in (run, Run([from_dict(to_dict(event)) for event in run.events])):
        for value in (again.results, again.answer, again.board.results["1"]):
            scribble(value)
        again.results.clear()
        check(again)
