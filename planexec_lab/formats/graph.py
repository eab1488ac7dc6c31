"""Graphs as JSON: ``{"nodes": [{"id": …, "label": …}], "edges": [{"source": …, "target": …}]}``.

React Flow, networkx, D3, Cytoscape and LangGraph's ``to_json`` write graphs in this way, with small differences: ``links`` for the
edges, ``from`` and ``to``, a pair ``["a", "b"]``, and what a node says in ``data``. An edge leads from what must be done first.
An edge that holds only under a condition, a graph without directions, and nodes that are hidden or hold others, are faults.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from planexec_lab.formats import labels
from planexec_lab.formats.drawn import Chart, Shape, arrows
from planexec_lab.formats.shapes import fault
from planexec_lite.plan import Plan

_SHAPE = 'write {"nodes": [{"id": "a", "label": "what to do"}, …], "edges": [{"source": "a", "target": "b"}]}'
_ENDS = (("source", "target"), ("from", "to"), ("start", "end"), ("src", "dst"))
_LABELS = ("label", "relation", "relationship", "rel", "name", "title", "type", "kind", "sourceHandle")
_CHOICES = ("decision", "condition", "if", "if-else", "ifelse", "switch", "router", "branch")
_UNSUPPORTED = """
    condition conditional when if branch probability hidden disabled reverse reversed direction bidirectional markerStart parent
    parentId parentNode depends_on dependencies needs after dependsOn before next loop repeat foreach skip done
""".split()
_OVER = ("done", "completed", "skipped", "cancelled", "disabled")
_TOOLS, _ARGUMENTS = ("tool", "function"), ("params", "arguments", "args", "parameters")


def recognises(data: Any) -> bool:
    """Is this an object with nodes and edges, or with Cytoscape's elements?"""
    inner = _elements(data)
    return isinstance(inner.get("nodes"), list) and _edges(inner) is not None


def read(data: Any) -> Plan:
    """Read the graph; a node with a tool and its arguments is a call, and every other node is a step without a tool."""
    inner, chart = _elements(data), Chart()
    nodes, edges = inner.get("nodes"), _edges(inner)
    if not isinstance(nodes, list) or edges is None:
        raise fault("there are no nodes and edges", _SHAPE)
    if data.get("directed") is False:
        raise fault("the graph has no directions: directed is false", "write a directed graph", at=("directed",))
    calls: dict[str, dict[str, Any]] = {}
    for number, node in enumerate(nodes):
        fields = {"id": node} if isinstance(node, str | int) else _fields(node, "nodes", number)
        id = str(fields.get("id", fields.get("key", fields.get("name", ""))))
        if not id or id in chart.nodes:
            raise fault(f"the node {str(node)[:60]} has no id, or that of another node", _SHAPE, at=("nodes", number))
        texts = [fields.get(key) for key in ("label", "description", "title", "name")]
        words = next((text for text in texts if isinstance(text, str)), id)
        kind = str(fields.get("type", "")).lower()
        shape: Shape = "mark" if kind in ("start", "end") else "decision" if kind in _CHOICES else "box"
        chart.node(id, 1, words.split("\n"), shape)
        calls[id] = _call(fields)
    for number, edge in enumerate(edges):
        start, end, label = _ends(edge, number)
        for id in (start, end):
            if id not in chart.nodes:
                raise fault(f"an edge names the node {id!r}, which is not there", _SHAPE, at=("edges", number))
        chart.arrow(start, end, 1, label)
    return chart.plan(calls)


def write(plan: Plan) -> str:
    """Write the graph; a node says what its step does, and last the call of its tool."""
    nodes = [{"id": step.id, "label": "\n".join(labels.written(step))} for step in plan.steps]
    edges = [{"source": start, "target": end} for start, end in arrows(plan)]
    return json.dumps({"nodes": nodes, "edges": edges}, indent=2, ensure_ascii=False)


def _elements(data: Any) -> Mapping[str, Any]:
    inner = data.get("elements", data) if isinstance(data, Mapping) else {}
    return inner if isinstance(inner, Mapping) else {}


def _edges(inner: Mapping[str, Any]) -> list[Any] | None:
    edges = inner.get("edges", inner.get("links")) if not (inner.get("edges") and inner.get("links")) else None
    return edges if isinstance(edges, list) else None


def _fields(one: Any, part: str, number: int) -> dict[str, Any]:
    """The fields of a node or an edge, with those of its ``data``; raise `PlanError` for one that a plan does not have."""
    own = dict(one) if isinstance(one, Mapping) else {}
    data = own["data"] if isinstance(own.get("data"), Mapping) else {}
    for name, value in (*own.items(), *data.items()):
        off = (name in ("enabled", "directed") and value is False) or (name == "status" and value in _OVER)
        unsupported = (name in _UNSUPPORTED and value) or (name == "arrows" and value != "to")
        if off or unsupported or (part == "edges" and data.get(name, value) != value):
            message = f"{part}.{number} has {name}: {str(value)[:40]}; a plan has neither branches nor hidden or two-way edges"
            raise fault(message, "write the nodes and edges of a single branch", at=(part, number))
    return own | data


def _call(told: Mapping[str, Any]) -> dict[str, Any]:
    tool = next((told[key] for key in _TOOLS if isinstance(told.get(key), str)), None)
    params: Mapping[str, Any] = next((told[key] for key in _ARGUMENTS if isinstance(told.get(key), Mapping)), {})
    return {} if tool is None else {"tool": tool, "params": dict(params)}


def _ends(edge: Any, number: int) -> tuple[str, str, str]:
    if isinstance(edge, list) and len(edge) == 2:
        return str(edge[0]), str(edge[1]), ""
    told = _fields(edge, "edges", number)
    label = " ".join(str(told[key]) for key in _LABELS if told.get(key))
    for first, second in _ENDS:
        if first in told and second in told:
            return str(told[first]), str(told[second]), label
    raise fault(f"the edge {str(edge)[:60]} does not say from where to where", _SHAPE, at=("edges", number))
