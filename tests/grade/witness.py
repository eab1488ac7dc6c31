"""An independent witness of grades, with networkx, and random plans to compare."""

from collections.abc import Hashable, Sequence
from typing import Any

import networkx as nx
from hypothesis import strategies as st

from planexec_lite import Plan, Step


def drawn(plan: Plan) -> nx.DiGraph:
    """The graph of a plan: an edge leads from what must be done first to what waits for it."""
    graph = nx.DiGraph()
    for step in plan.steps:
        graph.add_node(step.id, label=step.tool or step.description.lower())
    graph.add_edges_from((other, step.id) for step in plan.steps for other in step.depends_on)
    return graph


def f1_of_lists(ours: Sequence[Hashable], gold: Sequence[Hashable]) -> float:
    """Precision and recall, with each thing of the gold list ticked off once."""
    if not ours and not gold:
        return 1.0
    left, hits = list(gold), 0
    for one in ours:
        if one in left:
            left.remove(one)
            hits += 1
    if not hits:
        return 0.0
    precision, recall = hits / len(ours), hits / len(gold)
    return 2 * precision * recall / (precision + recall)


def tool_f1(plan: Plan, gold: Plan) -> float:
    named = [[label for _, label in drawn(one).nodes(data="label")] for one in (plan, gold)]
    return f1_of_lists(*named)


def order_kept(plan: Plan, gold: Plan) -> float:
    """For plans in which no label comes twice, so that there is one way to pair the steps."""
    closed = []
    for one in (plan, gold):
        graph = drawn(one)
        label = nx.get_node_attributes(graph, "label")
        closed.append({(label[a], label[b]) for a, b in nx.transitive_closure_dag(graph).edges})
    shared = {label for _, label in drawn(plan).nodes(data="label")}
    if not closed[1]:
        return 1.0
    both = {pair for pair in closed[1] if set(pair) <= shared}
    return len(both & closed[0]) / len(both) if both else 0.0


def most_pairs(plan: Plan, gold: Plan) -> int:
    """How many steps can be paired at most, where a pair has one label."""
    graph = nx.Graph()
    for ours, label in drawn(plan).nodes(data="label"):
        for theirs, other in drawn(gold).nodes(data="label"):
            if label == other:
                graph.add_edge(("plan", ours), ("gold", theirs))
    return len(nx.max_weight_matching(graph, maxcardinality=True))


def plan(text: str, **more: Any) -> Plan:
    """A plan such as ``plan("1 a; 2 b < 1; 3 c < 1 2")``: an id and a tool, and behind < the ids that it waits for."""
    steps = []
    for line in text.split(";"):
        what, _, after = line.partition("<")
        id, tool = what.split()
        steps.append(Step(id=id, tool=tool, depends_on=tuple(after.split())))
    return Plan(steps=tuple(steps), **more)


@st.composite
def plans(draw: st.DrawFn, most: int = 7, repeats: bool = True) -> Plan:
    """A valid plan over the tools a to h, its ids and the order of its list left to chance; without repeats each tool once."""
    tools = draw(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=most, unique=not repeats))
    ids = draw(st.permutations([str(n) for n in range(1, len(tools) + 1)]))
    steps = []
    for place, tool in enumerate(tools):
        after = draw(st.lists(st.sampled_from(ids[:place]), unique=True, max_size=3)) if place else []
        params = {"x": draw(st.integers(0, 2))} if draw(st.booleans()) else {}
        criteria = draw(st.sampled_from([None, "it is there"]))
        steps.append(Step(id=ids[place], tool=tool, depends_on=tuple(after), params=params, success_criteria=criteria))
    return Plan(steps=tuple(draw(st.permutations(steps))))
