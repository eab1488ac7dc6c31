"""Every run of every small plan keeps the rules, and a wrong rule is found."""

from __future__ import annotations

import inspect
import sys
from types import ModuleType

import pytest

from planexec_lite import Policy
from planexec_lite.decide import decide
from tests.exhaustive.kinds import CRASHES, KINDS, cases, told, walked
from tests.exhaustive.walk import Case, Decide, graphs, shapes, walk

WRONG = {
    "goes on while a person is asked": ("board.ended or board.paused or", "board.ended or"),
    "ends while something is under way": ("None if board.in_flight else _over(", "_over("),
    "never judges": ("if table.to_judge:", "if False:"),
    "counts each retry as the first attempt": ("id, attempt + 1, attempts", "id, attempt, attempts"),
    "plans again while something is under way": (
        "None if board.in_flight else PlanStarted(at, reason)",
        "PlanStarted(at, reason)",
    ),
    "skips nothing": ("if table.unreachable:", "if False:"),
    "asks nobody for the plan": ("if board.needs_approval:", "if False:"),
    "tries again what may be done once": ("not retries and board.repeatable(id):", "not retries:"),
    "goes on after the failure that stops the run": ('policy.failure == "stop" and not', "False and not"),
    "ends when nothing is ready": ("if board.in_flight or board.proposal is None:", "if board.proposal is None:"),
    "plans again once too often": ("proposals.replans < policy.max_replans", "proposals.replans <= policy.max_replans"),
    "takes back while something is under way": ("None if board.in_flight else _take_back(board)", "_take_back(board)"),
    "takes back in the order in which it was done": ("rollback.left[-1]", "rollback.left[0]"),
    "tries again before it has waited": ("id not in table.rested), None", "False), None"),
    "waits again and again": ("id for id in table.retries if id not in table.rested", "id for id in table.retries"),
    "runs past the deadline": ("policy.time_left(board.now) <= 0", "policy.time_left(board.now) <= -9"),
    "calls a tool whose breaker is open": ("if closed_for > 0:", "if closed_for > 1e9:"),
    "takes nothing back": ("if wanted and board", "if False and board"),
    "takes back though it finished": ("status == policy.rollback", "policy.rollback != 'never'"),
    "goes on while a step is in doubt": ("if table.doubted:", "if False:"),
    "goes on while it is taken back": ("if board.rollback.begun:", "if False:"),
    "opens every gate": (
        'return None if board.in_flight else Paused(board.now, "gate", id)',
        "pass",
    ),
    "tries again though news has come": ("if not (board.has_planner and proposals.unplanned_news):", "if True:"),
}

# Together these take longer than all others.
LONG = ("backed off, and a planner", "taken back, and a planner", "run anyway, and a planner")
NEWS = ("news", "news, and judged", "news, and backed off")
WIDE = (*LONG, *NEWS, "failures, and a planner", "taken back, and judged")


def walk_all(decide: Decide) -> None:
    """All walks, those last that take longest: a wrong rule shows in the others already."""
    for size in (1, 2, 3):
        for kind in sorted(KINDS, key=lambda kind: (kind in WIDE, "taken back" not in kind)):
            for graph in graphs(size):
                for case in cases(graph, kind):
                    walk(case, decide)
        for kind in CRASHES if size < 3 else ():
            for graph in graphs(size):
                for case in cases(graph, kind):
                    walk(case, decide)


def test_the_labelled_graphs_are_all_there() -> None:
    assert [sum(1 for _ in graphs(size)) for size in (1, 2, 3, 4)] == [1, 3, 25, 543]
    assert [sum(1 for _ in shapes(size, "")) for size in (1, 2, 3, 4)] == [1, 2, 6, 31]


@pytest.mark.slow
@pytest.mark.parametrize("kind", [pytest.param(kind, marks=[pytest.mark.wide] * (kind in WIDE)) for kind in KINDS])
def test_every_run_of_up_to_three_steps_keeps_the_rules(kind: str) -> None:
    for size in (1, 2, 3):
        walks = walked(graphs(size), kind)
        assert all(one.ends for one in walks), told(walks)


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 2, pytest.param(3, marks=pytest.mark.wide)])
@pytest.mark.parametrize("kind", CRASHES)
def test_every_run_keeps_the_rules_when_its_process_dies(kind: str, size: int) -> None:
    walks = walked(graphs(size), kind)
    assert all(one.ends for one in walks), told(walks)


@pytest.mark.wide
@pytest.mark.slow
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in (*LONG, *NEWS, "taken back, and judged")])
def test_every_run_of_four_steps_keeps_the_rules(kind: str) -> None:
    walks = walked(shapes(4, "b"), kind)
    assert all(one.ends for one in walks), told(walks)


@pytest.mark.slow
@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_rule_is_found(name: str) -> None:
    old, new = WRONG[name]
    source = inspect.getsource(sys.modules["planexec_lite.decide"])
    assert source.count(old) == 1, "the rule reads otherwise now: change the test"
    wrong = ModuleType("planexec_lite.decide")
    exec(compile(source.replace(old, new), "decide.py", "exec"), vars(wrong))
    with pytest.raises(AssertionError):
        walk_all(wrong.decide)


def test_a_broken_rule_is_told_with_the_events_that_led_to_it() -> None:
    with pytest.raises(AssertionError) as told:
        walk(
            Case({"a": ()}, Policy()),
            lambda board, policy: None if board.state["a"] == "waiting" else decide(board, policy),
        )
    assert str(told.value).startswith("the run stands still\n")
