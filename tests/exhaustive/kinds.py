"""Kinds of cases over small graphs. `python -m tests.exhaustive 4` walks them and prints their numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from planexec_lite import Backoff, Breaker
from tests.exhaustive.walk import Case, Graph, Walk, policies, walk

BACKED_OFF = {"backoff": Backoff()}
KINDS: dict[str, dict[str, Any]] = {  # fields of a case, and under "policy" those of its policy
    "failures": {},
    "failures, and a planner": {"planner": True},
    "doubt, and an at-most-once step": {"doubt": True, "once": "b"},
    "one slot for all": {"slots": 1},
    "two slots for all": {"slots": 2, "doubt": True},
    "judged": {"judged": True, "fails": False},
    "a gate": {"gate": "b"},
    "backed off": {"policy": BACKED_OFF, "doubt": True},
    "backed off, and a planner": {"policy": BACKED_OFF, "planner": True},
    "run anyway": {"anyway": "b", "doubt": True},
    "run anyway, and a planner": {"anyway": "b", "planner": True},
    "a breaker that stays open": {"policy": {"breaker": Breaker(2, 1.0)}},
    "a breaker that lets one try": {"policy": {"breaker": Breaker(1, 0.0)}},
    "a deadline": {"policy": {"deadline": 2.0}, "ticks": True, "doubt": True},
    "a deadline, and backed off": {"policy": BACKED_OFF | {"deadline": 2.0}, "ticks": True},
    "rolled back": {"policy": {"rollback": "failed"}, "undo": True, "doubt": True},
    "rolled back, and a planner": {"policy": {"rollback": "failed"}, "undo": True, "planner": True},
    "rolled back, and judged": {"policy": {"rollback": "failed"}, "undo": True, "judged": True, "fails": False},
    "rolled back, and a gate": {"policy": {"rollback": "unfinished"}, "undo": True, "gate": "b"},
    "rolled back at a deadline": {"policy": {"deadline": 1.0, "rollback": "unfinished"}, "ticks": True, "undo": True},
    "rolled back, and backed off": {"policy": BACKED_OFF | {"rollback": "failed"}, "undo": True},
    "news": {"planner": True, "news": 1, "doubt": True},
    "news, and judged": {"planner": True, "news": 1, "judged": True, "fails": False},
    "news, and backed off": {"policy": BACKED_OFF, "planner": True, "news": 1},
}
CRASHES: dict[str, dict[str, Any]] = {  # the same kinds, with a crash after any event
    f"{kind}, and a crash": {**about, "crashes": 1, "once": "b"} for kind, about in KINDS.items()
}


def cases(graph: Graph, kind: str) -> Iterator[Case]:
    """The cases of a kind for a graph: one for each policy that matters."""
    about = {**(KINDS | CRASHES)[kind]}
    more = about.pop("policy", {})
    for policy in policies(bool(about.get("planner")), **more):
        if not about.get("judged") or policy.failure == "skip":
            yield Case(graph, policy, **about)


def walked(plans: Iterable[Graph], kind: str) -> list[Walk]:
    """Walk the cases of a kind over these graphs."""
    return [walk(case) for graph in plans for case in cases(graph, kind)]


def told(walks: Sequence[Walk]) -> str:
    """How many cases, boards and ends there were."""
    ends: Counter[str] = Counter()
    for one in walks:
        ends.update(one.ends)
    said = ", ".join(f"{count:,} {status}" for status, count in sorted(ends.items()))
    return f"{len(walks):,} cases, {sum(one.boards for one in walks):,} boards; ends: {said}"
