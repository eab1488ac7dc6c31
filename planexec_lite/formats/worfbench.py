"""WorFBench: a graph of tasks in words. Qiao et al., "Benchmarking Agentic Workflow Generation" (2024),
https://arxiv.org/abs/2410.07869.

``Node:`` and a task a line, then ``Edge:`` and pairs, START and END among them. Steps have no tool: the executor
decides.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from planexec_lite.formats.shapes import fault
from planexec_lite.formats.steps import build
from planexec_lite.plan import Plan

_SHAPE = "write 'Node:', a line '1: what to do' for each node, then 'Edge: (START,1) (1,2) (2,END)'"
_PAIR = re.compile(r"\(\s*([\w.-]+)\s*,\s*([\w.-]+)\s*\)")


def recognises(data: Any) -> bool:
    """Is this a row with a `graph`, or a text with nodes and edges?"""
    text = data.get("graph") if isinstance(data, Mapping) else data
    return isinstance(text, str) and all(re.search(rf"^[ \t]*{part}:", text, re.M) for part in ("Node", "Edge"))


def read(data: Any) -> Plan:
    """Read a row of the data set, or the text of its `graph`.

    An edge from a node that does not exist comes through as a dependency; one to such a node has no step to stand in,
    and is a fault.
    """
    text = data.get("graph") if isinstance(data, Mapping) else data
    if not isinstance(text, str):
        raise fault("there is no graph", _SHAPE)
    nodes: list[tuple[str, str]] = []
    edges: list[tuple[str, str, int]] = []
    section = ""
    for number, line in enumerate(text.splitlines(), 1):
        head = re.match(r"\s*(Node|Edge):", line)
        section, rest = (head[1], line[head.end() :]) if head else (section, line)
        node = re.fullmatch(r"\s*([\w.-]+)\s*:\s*(.*)", rest)
        if section == "Node" and node:
            nodes.append((node[1], node[2].strip()))
        elif section == "Edge" and not _PAIR.sub("", rest).strip(" ,\t"):
            edges += [(start, end, number) for start, end in _PAIR.findall(rest)]
        elif rest.strip():
            raise fault(f"line {number}: {rest.strip()[:60]!r} is no {section.lower() or 'node'}", _SHAPE)
    waits_for: dict[str, list[str]] = {id: [] for id, _ in nodes}
    for start, end, number in edges:
        if end != "END" and end not in waits_for:
            raise fault(
                f"line {number}: the edge ({start},{end}) leads to no node", f"add node {end}, or drop the edge"
            )
        if end != "END" and start != "START":
            waits_for[end].append(start)
    return build([{"id": id, "description": what, "depends_on": waits_for[id]} for id, what in nodes])
