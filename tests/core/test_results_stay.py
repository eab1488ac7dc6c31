"""Results do not change if tools, executors, planners, judges and readers change their copies."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from planexec_lite import ApproveAll, Board, Decision, Plan, Pool, Run, Step, Tool, Toolbox, Verdict
from planexec_lite.capabilities.approval import Approvals
from planexec_lite.capabilities.judging import Judging
from planexec_lite.capabilities.news import News
from planexec_lite.capabilities.once_calls import OnceCalls, Spent
from planexec_lite.core.questions import Question
from planexec_lite.run.events import Judged, StepDone, from_dict, to_dict
from planexec_lite.tools import KnownCall
from tests.core.agents import agent_for, carry_out
from tests.core.shapes import step

NUMBERS = {"numbers": [3, 1, 2], "more": {"of": ["them"]}}


def make() -> dict[str, Any]:
    return {"numbers": [3, 1, 2], "more": {"of": ["them"]}}


def spoil(given: dict[str, Any], words: list[Any] | None = None) -> int:
    return scribble([given, words])


def scribble(value: Any) -> int:
    with suppress(TypeError):
        for part in [*(value.values() if isinstance(value, dict) else value if isinstance(value, list) else ())]:
            scribble(part)
        if isinstance(value, dict):
            value["new"] = "MALLORY"
        elif isinstance(value, list):
            value.append("MALLORY")
    return 0


class Scribbles:
    """An executor that changes its arguments, and returns a list that it changes later."""

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


@pytest.mark.parametrize("executor", [Scribbles.tools, Scribbles()], ids=["tools", "executor"])
@pytest.mark.parametrize("pool", [False, True])
def test_a_step_that_changes_its_inputs_changes_no_result(executor: Any, pool: bool) -> None:
    with ThreadPoolExecutor(2) as threads:
        run = carry_out(PLAN, executor, Pool(threads) if pool else None)
    check(run)
    if isinstance(executor, Scribbles):
        executor.kept.append("MALLORY")
        assert run.results["3"] == ["3"]


def everywhere(board: Board) -> None:
    """Change everything that a board shows."""
    params = [step.params for step in board.steps.values()]
    scribble([*board.results.values(), *board[Judging].results.values(), *params])
    for id in [*board.steps]:
        board.steps[id] = Step(id=id, tool="spoil", params={"given": {"x": "MALLORY"}})
    board.results.update(dict.fromkeys(["1", "2", "3"], "MALLORY"))
    board[Approvals].approved.add(str(board.proposal and board.proposal.hash))
    board[Approvals].asks.update(dict.fromkeys(board.steps))
    board[Approvals].grant_scope = None
    board.state.clear()
    board[News].texts.append("MALLORY")
    board.started = replace(board.started, limits=(), reviewer=False)
    board[OnceCalls].spent["x", 1] = Spent(KnownCall("x", 1, "done"), "1")


def test_a_role_that_changes_its_board_changes_nothing() -> None:
    class Roles:
        def plan(self, goal: str, board: Board, tools: Toolbox) -> Plan:
            everywhere(board)
            return PLAN if not board.steps else Plan(goal=goal)

        def evaluate(self, step: Step, result: Any, board: Board) -> Verdict:
            everywhere(board)
            scribble(result)
            return Verdict("accept")

        def review(self, question: Question, board: Board, tools: Toolbox) -> Decision:
            everywhere(board)
            return ApproveAll().review(question, board, tools) or Decision("reject")

    check(agent_for(Scribbles(), Roles(), reviewer=Roles(), evaluator=Roles()).run("numbers"))


def test_a_board_that_a_role_keeps_stays_as_it_was() -> None:
    kept: list[Board] = []

    class Keeps:
        def evaluate(self, step: Step, result: Any, board: Board) -> Verdict:
            kept.append(board)
            return Verdict("accept")

    plan = [step(id, "make", success_criteria="any") for id in "123"]
    run = carry_out(plan, Scribbles.tools, evaluator=Keeps())
    first = next(number for number, event in enumerate(run.events) if isinstance(event, Judged))
    assert kept == [Board.of(run.events[:first])] * 3


def test_a_copy_of_a_board_shares_no_container() -> None:
    board = carry_out([step("1", "make")], Scribbles.tools).board
    board[OnceCalls].calls["x"] = {0: KnownCall("x", 0, "open")}
    copy = board.copy()
    board[OnceCalls].calls["x"][0] = KnownCall("x", 0, "done")
    board.steps.clear()
    assert (copy[OnceCalls].calls["x"][0].state, [*copy.steps]) == ("open", ["1"])


def test_changing_the_values_that_a_run_returns_does_not_change_the_run() -> None:
    run = carry_out([step("1", "make")], Scribbles())
    for again in (run, Run([from_dict(to_dict(event)) for event in run.events])):
        for value in (again.results, again.answer, again.board.results["1"]):
            scribble(value)
        again.results.clear()
        check(again)
