"""WorFBench: a graph of plain-language tasks. Qiao et al., "Benchmarking Agentic Workflow Generation" (2024),
https://arxiv.org/abs/2410.07869.

``Node:`` and one task on each line, then ``Edge:`` and pairs, including START and END. Steps have no tool: the executor chooses.
``Nodes:``, ``Edges:`` and a heading ``Graph:`` above the edges mean the same: WorFBench's prompt asks for one form and its
answers have the other.
"""

from __future__ import annotations

import re

from planexec_lab.formats.shapes import fault
from planexec_lab.formats.steps import build, unwritable
from planexec_lite.plan import Plan

_SHAPE = "write 'Node:', a line '1: what to do' for each node, then 'Edge: (START,1) (1,2) (2,END)'"
_HEAD = re.compile(r"[ \t]*(?:(?P<node>nodes?)|edges?|graph)[ \t]*:", re.IGNORECASE)
_NODE = re.compile(r"\s*([\w.-]+)\s*:\s*(.*)")
_PAIR = re.compile(r"\(\s*([\w.-]+)\s*,\s*([\w.-]+)\s*\)")


def recognises(data: str) -> bool:
    """Is this a text with nodes and edges?"""
    heads = [_HEAD.match(line) for line in data.splitlines()]
    return {bool(head["node"]) for head in heads if head} == {True, False}


def read(data: str) -> Plan:
    """Read the text, which is the `graph` in a row of the data set.

    An edge from a missing node becomes a dependency. An edge to a missing node is a fault, because it has no step. A node
    without an edge is a fault too: a first step has an edge from START, and a forgotten node should not look like a first step.
    """
    nodes: list[tuple[str, str, int]] = []
    edges: list[tuple[str, str, int]] = []
    section = ""
    for number, line in enumerate(data.splitlines(), 1):
        head = _HEAD.match(line)
        section, rest = ("node" if head["node"] else "edge", line[head.end() :]) if head else (section, line)
        node = _NODE.fullmatch(rest)
        if section == "node" and node:
            nodes.append((node[1], node[2].strip(), number))
        elif section == "edge" and not _PAIR.sub("", rest).strip(" ,\t"):
            edges += [(start, end, number) for start, end in _PAIR.findall(rest)]
        elif rest.strip():
            raise fault(f"line {number}: {rest.strip()[:60]!r} is no {section or 'node'}", _SHAPE)
    after = _after(nodes, edges)
    steps = [{"id": id, "description": what, "depends_on": after[id]} for id, what, _ in nodes]
    return build(steps, lines={id: number for id, _, number in nodes})


def _after(nodes: list[tuple[str, str, int]], edges: list[tuple[str, str, int]]) -> dict[str, list[str]]:
    """The ids that each node waits for, by its id."""
    waits_for: dict[str, list[str]] = {id: [] for id, _, _ in nodes}
    named = {end for edge in edges for end in edge[:2]}
    for id, _, number in nodes:
        if id not in named:
            raise fault(
                f"line {number}: no edge names node {id}", f"add (START,{id}) and ({id},END), or the edges that it has"
            )
    for start, end, number in edges:
        if end != "END" and end not in waits_for:
            message = f"line {number}: the edge ({start},{end}) leads to no node"
            raise fault(message, f"add node {end}, or drop the edge")
        if end != "END" and start != "START":
            waits_for[end].append(start)
    return waits_for


def write(plan: Plan) -> str:
    """Write nodes and edges; a step without dependencies follows START, a step without dependents leads to END."""
    ids = {step.id for step in plan.steps}
    if taken := ids & {"START", "END"}:
        raise unwritable(min(taken), "START and END are no steps in WorFBench", "give the step another id")
    waited_for = {other for step in plan.steps for other in step.depends_on}
    edges = [(other, step.id) for step in plan.steps for other in step.depends_on or ("START",)]
    edges += [(step.id, "END") for step in plan.steps if step.id not in waited_for]
    nodes = [f"{step.id}: {step.description}" for step in plan.steps]
    return "\n".join(["Node:", *nodes, "Edge: " + " ".join(f"({start},{end})" for start, end in edges), ""])
