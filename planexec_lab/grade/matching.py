"""Which steps of two plans are the same, and how much of the one is in the other.

Nothing here depends on the order in which a plan lists its steps, nor on how it calls them.
"""

import json
from collections import Counter, defaultdict
from typing import Any

from planexec_lite.plan import Plan, Step
from planexec_lite.plan.graph import all_before


def label(step: Step) -> str:
    """The label of a step: its tool or, without a tool, its description in lower case with single blanks."""
    return step.tool or " ".join(step.description.casefold().split())


def labels(plan: Plan) -> Counter[str]:
    """The labels of a plan's steps; a tool that is called twice counts twice."""
    return Counter(map(label, plan.steps))


def f1(plan: Counter[Any], gold: Counter[Any]) -> float:
    """The harmonic mean of precision and recall over two multisets; 1 where both are empty."""
    total = plan.total() + gold.total()
    return 2 * (plan & gold).total() / total if total else 1.0


def before(plan: Plan) -> dict[str, set[str]]:
    """The ids that must be done before each step, directly or not: the transitive closure of `Plan.graph`."""
    graph = plan.graph
    return {id: all_before(graph, id) for id in graph}


def matched(plan: Plan, gold: Plan) -> list[tuple[str, str]]:
    """Pair steps of two plans that have the same label: (id in the plan, id in the gold plan).

    Equal calls are paired first, then the others; ties go to the step with fewer steps before it, then by call and by id. The
    best of all pairings is a hard problem, maximum common subgraph.
    """
    pairs, ours, theirs = [], _ranked(plan), _ranked(gold)
    for alike in (_call, label):
        waiting: dict[str, list[Step]] = defaultdict(list)
        for step in theirs:
            waiting[alike(step)].append(step)
        left = []
        for step in ours:
            if waiting[alike(step)]:
                pairs.append((step.id, waiting[alike(step)].pop(0).id))
            else:
                left.append(step)
        ours, theirs = left, [step for step in theirs if any(step is one for one in waiting[alike(step)])]
    return sorted(pairs)


def order_kept(plan: Plan, gold: Plan) -> float:
    """The share of the pairs "this before that" of the gold plan that the plan keeps, over the steps that both have.

    1 where the gold plan orders no two steps; 0 where it does, and the plan has no two such steps. In a cycle no step is
    before another.
    """
    earlier, must = before(plan), before(gold)
    if not any(must.values()):
        return 1.0
    ours = {other: one for one, other in matched(plan, gold)}
    pairs = [(ours[first], ours[then]) for then in must for first in must[then] if {first, then} <= ours.keys()]
    kept = [first in earlier[then] and then not in earlier[first] for first, then in pairs]
    return sum(kept) / len(kept) if kept else 0.0


def _call(step: Step) -> str:
    return json.dumps([label(step), step.params], sort_keys=True)


def _ranked(plan: Plan) -> list[Step]:
    earlier = before(plan)
    return sorted(plan.steps, key=lambda step: (len(earlier[step.id]), _call(step), step.id, step.description))
