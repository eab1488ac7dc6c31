"""Every run of every small plan keeps the rules, and a wrong rule is found."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType
from typing import Any

import pytest

from planexec_lite import Board, Policy, assembly, core
from planexec_lite.assembly import decide
from planexec_lite.core import Rule, Signal
from planexec_lite.events import Event
from tests.exhaustive.kinds import CRASHES, KINDS, cases, told, walked
from tests.exhaustive.walk import Case, Decide, graphs, shapes, walk

WRONG = {  # name: the file in planexec_lite, what it says, what it says instead
    "goes on while a person is asked": ("core.decide", "board.ended or board.paused:", "board.ended:"),
    "never judges": ("capabilities.judging", "if to_judge else None", "if False else None"),
    "counts each retry as the first attempt": ("capabilities.retries", "id, attempt + 1, attempts", "id, attempt, attempts"),
    "plans again while something is under way": ("capabilities.replanning", "else after_retries(board, asked)", "else asked"),
    "tries again what may be done once": ("capabilities.retries", "not retries and board.repeatable(step):", "not retries:"),
    "plans again once too often": ("capabilities.replanning", "replans < policy.max_replans", "replans <= policy.max_replans"),
    "takes back in the order in which it was done": ("capabilities.rollback", "undo = mine.left[-1]", "undo = mine.left[0]"),
    "tries again before it has waited": ("capabilities.retries", "if id not in ended), None)", "if False), None)"),
    "runs past the deadline": ("capabilities.deadline", "time_left(policy, board.now) > 0", "time_left(policy, board.now) > -9"),
    "calls a tool whose breaker is open": ("capabilities.breaker", "if open_for > 0:", "if open_for > 1e9:"),
    "takes back though it finished": ("capabilities.rollback", 'or event.status == "finished":', "or False:"),
    "goes on while a step is in doubt": ("capabilities.doubt", "None if doubted is None", "None if True"),
}  # fmt: skip

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
@pytest.mark.parametrize("kind", [pytest.param(kind, marks=[pytest.mark.weekly] * (kind in WIDE)) for kind in KINDS])
def test_every_run_of_up_to_three_steps_keeps_the_rules(kind: str) -> None:
    for size in (1, 2, 3):
        walks = walked(graphs(size), kind)
        assert all(one.ends for one in walks), told(walks)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "size"),
    [
        pytest.param(kind, size, marks=[pytest.mark.weekly] * (size == 3 or (size == 2 and kind.startswith("news"))))
        for kind in CRASHES
        for size in (1, 2, 3)
    ],
)
def test_every_run_keeps_the_rules_when_its_process_dies(kind: str, size: int) -> None:
    walks = walked(graphs(size), kind)
    assert all(one.ends for one in walks), told(walks)


@pytest.mark.weekly
@pytest.mark.slow
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in (*LONG, *NEWS, "taken back, and judged")])
def test_every_run_of_four_steps_keeps_the_rules(kind: str) -> None:
    walks = walked(shapes(4, "b"), kind)
    assert all(one.ends for one in walks), told(walks)


@pytest.mark.weekly
@pytest.mark.slow
@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_rule_is_found(name: str) -> None:
    place, old, new = WRONG[name]
    right = sys.modules[f"planexec_lite.{place}"]
    source = inspect.getsource(right)
    assert source.count(old) == 1, "the rule reads otherwise now: change the test"
    wrong = ModuleType(right.__name__)
    exec(compile(source.replace(old, new), f"{place}.py", "exec"), vars(wrong))
    same = {
        name: one for name, one in vars(right).items() if isinstance(one, type)
    }  # the parts and events of the board
    vars(wrong).update(same | {name: vars(core)[name] for name in ("HOLD", "WAIT")})
    rules = [replaced(one, wrong) for one in assembly.RULES]
    guards = [(about, replaced(one, wrong)) for about, one in assembly.GUARDS]

    def decide(board: Board, policy: Policy) -> Event | None:
        event = wrong_kernel(board, policy, rules, guards)
        return None if isinstance(event, Signal) else event

    wrong_kernel = getattr(wrong, "decide", core.decide)
    with pytest.raises(AssertionError):
        walk_all(decide)


def replaced(rule: Callable[..., Any], wrong: ModuleType) -> Callable[..., Any]:
    """The function of the same name in the wrong module, if the rule is defined there."""
    found: Callable[..., Any] = getattr(wrong, rule.__name__) if rule.__module__ == wrong.__name__ else rule
    return found


def test_a_broken_rule_is_told_with_the_events_that_led_to_it() -> None:
    with pytest.raises(AssertionError) as told:
        walk(
            Case({"a": ()}, Policy()),
            lambda board, policy: None if board.state["a"] == "waiting" else decide(board, policy),
        )
    assert str(told.value).startswith("the run stands still\n")


# Rules that must come before the next one in `RULES`: exchanged, some run of up to two steps goes otherwise. The walks ask for
# no approval and have no budget, so the rules about those are free here.
BEFORE_THE_NEXT = {"stop_at_failure", "back_off", "try_again", "replan", "ask_for_approval"}


@pytest.mark.weekly
def test_the_order_of_rules_matters_where_the_list_says_so() -> None:
    assert {first.__name__ for first, rules in swapped() if not same_runs(rules)} == BEFORE_THE_NEXT


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(BEFORE_THE_NEXT))
def test_a_rule_that_comes_too_late_changes_runs(name: str) -> None:
    (rules,) = (rules for first, rules in swapped() if first.__name__ == name)
    assert not same_runs(rules)


def swapped() -> Iterator[tuple[Rule, list[Rule]]]:
    """Each rule but the last, and the rules with this one and the next one exchanged."""
    for place, rule in enumerate(assembly.RULES[:-1]):
        rules = list(assembly.RULES)
        rules[place : place + 2] = reversed(rules[place : place + 2])
        yield rule, rules


def same_runs(rules: Sequence[Rule]) -> bool:
    """Whether the walks over small plans meet no board where these rules say something else."""

    def compared(board: Board, policy: Policy) -> Event | None:
        event = decide(board, policy)
        other = core.decide(board, policy, rules, assembly.GUARDS)
        if event != (None if isinstance(other, Signal) else other):
            raise OtherwiseError
        return event

    try:
        for kind in KINDS:
            for graph in (*graphs(1), *graphs(2)):
                for case in cases(graph, kind):
                    walk(case, compared)
    except OtherwiseError:
        return False
    return True


class OtherwiseError(Exception):
    """The rules in another order decide otherwise."""
