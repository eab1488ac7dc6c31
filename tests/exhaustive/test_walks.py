"""Every run of every small plan follows the rules."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from unittest.mock import patch

import pytest

from planexec_lite import Board, Policy, assembly
from planexec_lite.assembly import decide
from planexec_lite.core import Rule
from planexec_lite.run.events import Event
from tests.exhaustive.walk import CRASHES, KINDS, Case, cases, graphs, shapes, told, walk, walked

# These take longer than all others together.
LONG = ("backed off, and a planner", "rolled back, and a planner", "run anyway, and a planner")
NEWS = ("news", "news, and judged", "news, and backed off")
BOTH = "rolled back, and backed off"
WIDE = ("failures, and a planner", "rolled back, and judged")


def test_all_labelled_graphs_are_generated() -> None:
    assert [sum(1 for _ in graphs(size)) for size in (1, 2, 3, 4)] == [1, 3, 25, 543]
    assert [sum(1 for _ in shapes(size, "")) for size in (1, 2, 3, 4)] == [1, 2, 6, 31]


def is_weekly(kind: str, size: int) -> bool:
    if kind in CRASHES:
        return size == 3 or (size == 2 and (kind.startswith("news") or "and a planner" in kind))
    return (
        size == 4 or kind in (*LONG, *WIDE) or (size == 3 and kind in (*NEWS, BOTH)) or (size == 2 and kind in NEWS[1:])
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "size"),
    [
        pytest.param(kind, size, marks=[pytest.mark.weekly] * is_weekly(kind, size))
        for kind in (*KINDS, *CRASHES)
        for size in (1, 2, 3, 4)
        if size < 4 or kind not in (*CRASHES, *LONG, *NEWS, "rolled back, and judged")
    ],
)
def test_every_run_of_a_small_plan_follows_the_rules(kind: str, size: int) -> None:
    walks = walked(graphs(size) if size < 4 else shapes(4, "b"), kind)
    assert all(one.ends for one in walks), told(walks)


def test_a_broken_rule_is_reported_with_its_events() -> None:
    with pytest.raises(AssertionError) as told:
        walk(Case({"a": ()}), lambda board, policy: None if board.state["a"] == "waiting" else decide(board, policy))
    assert str(told.value).startswith("the run stands still\n")


# Rules that must come before the next one in `RULES`: exchanging the two changes a run of up to two steps. The walks have
# no budget and no approvals of later plans, so the order of the rules about those does not matter here.
BEFORE_THE_NEXT = {
    "stop_at_deadline",
    "stop_at_failure",
    "stop_without_plan",
    "back_off",
    "try_again",
    "replan",
    "ask_for_approval",
}


NAMES = [rule.__name__ for rule in assembly.RULES]


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.weekly] * (name not in BEFORE_THE_NEXT)) for name in NAMES[:-1]]
)
def test_exchanging_a_rule_with_the_next_one_changes_runs_if_it_is_listed(name: str) -> None:
    rules, place = list(assembly.RULES), NAMES.index(name)
    rules[place : place + 2] = reversed(rules[place : place + 2])
    assert same_runs(rules) == (name not in BEFORE_THE_NEXT)


def same_runs(rules: Sequence[Rule]) -> bool:
    """Whether these rules decide the same on all boards of the walks over small plans."""

    def compared(board: Board, policy: Policy) -> Event | None:
        event = decide(board, policy)
        with patch.object(assembly, "RULES", rules):
            if decide(board, policy) != event:
                raise DifferentDecisionError
        return event

    try:
        for size, kind in product((1, 2), KINDS):
            for case in (case for graph in graphs(size) for case in cases(graph, kind)):
                walk(case, compared)
    except DifferentDecisionError:
        return False
    return True


class DifferentDecisionError(Exception):
    """The rules in another order decide differently."""
