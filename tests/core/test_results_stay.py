"""A result stays what it was: whoever is handed one, or a board, may do with it what they like, and changes nothing."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
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
    Policy,
    Pool,
    Run,
    Simulated,
    Step,
    Toolbox,
    ToolExecutor,
    Verdict,
    execute,
    tool,
)
from planexec_lite.capabilities.approval import Approvals
from planexec_lite.capabilities.judging import Judging
from planexec_lite.capabilities.news import News
from planexec_lite.capabilities.once_calls import OnceCalls
from planexec_lite.events import StepDone, from_dict, to_dict

NUMBERS = {"numbers": [3, 1, 2], "more": {"of": ["them"]}}


@tool(effects="none")
def make() -> dict[str, Any]:
    return {"numbers": [3, 1, 2], "more": {"of": ["them"]}}


@tool(effects="none")
def spoil(given: dict[str, Any], words: list[Any] | None = None) -> int:
    """Change everything that was given."""
    return scribble(given) + scribble(words or [])


def scribble(value: Any) -> int:
    """Change `value` wherever that is possible."""
    with suppress(TypeError):
        if isinstance(value, dict):
            for part in [*value.values()]:
                scribble(part)
            value["new"] = "MALLORY"
        elif isinstance(value, list):
            for part in value:
                scribble(part)
            value.append("MALLORY")
    return 0


class Scribbles:
    """An executor that changes what it is given, and gives back a list that it keeps."""

    tools = Toolbox([make, spoil])

    def __init__(self) -> None:
        self.kept: list[Any] = []

    def execute(self, step: Step, inputs: Mapping[str, Any]) -> Any:
        if not inputs:
            return make()
        scribble(dict(inputs))
        for value in inputs.values():
            scribble(value)
        scribble(step.params)
        self.kept = [step.id]
        return self.kept


PLAN = Plan.parse(
    [
        {"id": "1", "tool": "make"},
        {"id": "2", "tool": "spoil", "params": {"given": "{step_1_result}", "words": ["{step_1_result.more}", {"a": []}]},
         "depends_on": ["1"], "success_criteria": "fine"},
        {"id": "3", "tool": "spoil", "params": {"given": "{step_1_result}"}, "depends_on": ["1", "2"]},
    ]
)  # fmt: skip


def check(run: Run) -> None:
    assert run.status == "finished"
    assert (run.results["1"], run.board.results["1"]) == (NUMBERS, NUMBERS)
    assert next(event.result for event in run.events if isinstance(event, StepDone)) == NUMBERS
    assert "MALLORY" not in str(run.events) + str(run.plan)
    assert Board.of(run.events) == run.board


@pytest.mark.parametrize("executor", [ToolExecutor(Toolbox([make, spoil])), Scribbles()], ids=["tools", "executor"])
@pytest.mark.parametrize("workers", [Inline(), Simulated()], ids=["inline", "simulated"])
def test_what_a_step_does_to_its_inputs_changes_no_result(executor: Any, workers: Any) -> None:
    check(execute(PLAN, executor, workers=workers))


def test_what_a_step_on_a_thread_does_to_its_inputs_changes_no_result() -> None:
    with ThreadPoolExecutor(2) as threads:
        check(execute(PLAN, Scribbles(), workers=Pool(threads)))


def test_what_an_executor_does_to_its_result_afterwards_changes_no_result() -> None:
    executor = Scribbles()
    run = execute(PLAN, executor)
    executor.kept.append("MALLORY")
    assert run.results["3"] == ["3"]


def everywhere(board: Board) -> None:
    """Scribble on whatever a board shows."""
    for value in (
        *board.results.values(),
        *board[Judging].results.values(),
        *(step.params for step in board.steps.values()),
    ):
        scribble(value)
    for step in [*board.steps]:
        board.steps[step] = Step(id=step, tool="spoil", params={"given": {"x": "MALLORY"}})
    board.results.update(dict.fromkeys(["1", "2", "3"], "MALLORY"))
    board[Approvals].approved.add(str(board.proposal and board.proposal.hash))
    board[Approvals].opened.update(board.steps)
    board.state.clear()
    board[News].texts.append("MALLORY")
    board[Approvals].grant_scope = None
    board.started = replace(board.started, limits=(), reviewer=False)
    board[OnceCalls].spent.append((PLAN.steps[0], 1))


def test_what_somebody_does_to_the_board_that_they_are_shown_changes_nothing() -> None:
    class Plans:
        def plan(self, goal: str, board: Board, tools: Toolbox) -> Plan:
            everywhere(board)
            return PLAN if not board.steps else Plan(goal=goal)

    class Judges:
        def evaluate(self, step: Step, result: Any, board: Board) -> Verdict:
            everywhere(board)
            scribble(result)
            return Verdict("accept")

    class Reviews:
        def review(self, plan: Plan, board: Board, tools: Toolbox) -> Decision:
            everywhere(board)
            return ApproveAll().review(plan, board, tools) or Decision("reject")

    one = PlannerExecutor(Plans(), Scribbles(), Reviews(), Judges(), Simulated())
    check(one.run("numbers"))


def test_a_planner_that_approves_its_plan_itself_has_approved_nothing() -> None:
    class Plans:
        def plan(self, goal: str, board: Board, tools: Toolbox) -> Plan:
            board[Approvals].approved.add(PLAN.hash)
            board.started = replace(board.started, reviewer=False)
            self.seen = board
            return PLAN

    class Nobody:
        def review(self, plan: Plan, board: Board, tools: Toolbox) -> None:
            board[Approvals].approved.add(plan.hash)
            board.paused = None

    run = PlannerExecutor(Plans(), Scribbles(), Nobody(), workers=Simulated()).run("numbers")
    assert (run.status, run.results) == ("paused", {})


def test_a_planner_that_streams_is_shown_a_board_that_stands_still() -> None:
    begun, seen = threading.Event(), []

    @tool(effects="none")
    def one() -> int:
        begun.set()
        return 1

    class Streams:
        stream = True

        def plan(self, goal: str, board: Board, tools: Toolbox) -> Plan:
            raise AssertionError

        def parts(self, goal: str, board: Board, tools: Toolbox) -> Any:
            yield Step(id="1", tool="one")
            assert begun.wait(20)
            seen.append(dict(board.state))
            yield Plan.parse([{"id": "1", "tool": "one"}, {"id": "2", "tool": "one", "depends_on": ["1"]}])

    with ThreadPoolExecutor(1) as threads:
        run = PlannerExecutor(Streams(), ToolExecutor(Toolbox([one])), workers=Pool(threads)).run("go")
    assert (run.status, seen) == ("finished", [{}])


@pytest.mark.parametrize("read", [lambda run: run.results["1"], lambda run: run.answer], ids=["results", "answer"])
def test_what_is_read_off_a_run_may_be_changed_and_the_run_stays(read: Callable[[Run], Any]) -> None:
    run = execute(Plan.parse([{"id": "1", "tool": "make"}]), Scribbles())
    for again in (run, Run([from_dict(to_dict(event)) for event in run.events])):
        read(again)["numbers"].append("MALLORY")
        scribble(again.board.results["1"])
        check(again)


@pytest.mark.parametrize("result", [threading.Lock(), len, object()], ids=["a lock", "a function", "any"])
def test_what_cannot_be_written_down_is_no_result(result: Any) -> None:
    class Gives:
        tools = Toolbox([make])

        def execute(self, step: Step, inputs: Mapping[str, Any]) -> Any:
            return result

    run = execute(Plan.parse([{"id": "1", "tool": "make"}]), Gives(), policy=Policy())
    assert run.status == "failed"
    kind = type(result).__name__
    assert f"step 1: make returned a value of type {kind}, which JSON can't hold" in run.reason
