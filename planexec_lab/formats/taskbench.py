"""TaskBench: nodes and links. Shen et al., "TaskBench: Benchmarking Large Language Models for Task Automation" (2023),
https://arxiv.org/abs/2311.18760; plans that small models wrote in it: Wu et al., "Can Graph Learning Improve Planning
in LLM-based Agents?" (2024), https://arxiv.org/abs/2405.19119.

Nodes are numbered from 0, and ``<node-0>`` is the result of the first. ``<node-0>.output`` and ``<output of node-0>``
mean the same. A link names tools, not nodes: where a name stands for several nodes, it joins the nearest two that no
link has joined yet, forwards if it can.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from itertools import cycle, product
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator

from planexec_lab.formats.shapes import fault, shaped
from planexec_lab.formats.steps import build, by_position, only_tools, positional, rewriter, step, unwritable
from planexec_lite import references
from planexec_lite.plan import Plan
from planexec_lite.references import Reference

_SHAPE = 'write {"task_nodes": [{"task": …, "arguments": […]}], "task_links": [{"source": …, "target": …}]}'
_NODE = re.compile(r"<(?:output (?:of|from) )?node-([0-9]+)>(?:\.output\b)?((?:\.\w+|\[[0-9]+\])*)", re.ASCII)
_MOST = 10_000  # pairs of nodes that a link between two tools could mean
_ENDS = {"", "none", "null", "start", "input", "end", "output"}  # what models write where a link has no other side


_Names = Annotated[list[str], BeforeValidator(lambda name: name if isinstance(name, list) else [name or ""])]


class _Node(BaseModel):
    task: str
    arguments: list[Any] = []


class _Link(BaseModel):
    source: _Names
    target: _Names


class _Row(BaseModel):
    user_request: str = ""
    task_steps: list[Any] = []
    task_nodes: list[_Node]
    task_links: list[_Link] = []


def recognises(data: Any) -> bool:
    """Is this a row with `task_nodes`, or one that holds them in its `result`?"""
    return isinstance(data, Mapping) and ("task_nodes" in data or "task_nodes" in _result(data))


def read(data: Any) -> Plan:
    """Read a row of the data set or of its predictions.

    A link to a tool that no node has is a fault, unless it only marks the end ("none", "Output").
    """
    inside = ("result",) if isinstance(data, Mapping) and _result(data) else ()
    row = shaped(_Row, {**data, **_result(data)} if isinstance(data, Mapping) else data, _SHAPE, inside)
    told = row.task_steps if len(row.task_steps) == len(row.task_nodes) else [""] * len(row.task_nodes)
    rewrite = rewriter(_NODE, lambda match: Reference(match[1], match[2]))
    nodes = enumerate(zip(row.task_nodes, _after(row, inside), told, strict=True))
    steps = [step(str(n), node.task, _params(node.arguments), rewrite, ids, str(why)) for n, (node, ids, why) in nodes]
    return build(steps, row.user_request)


def _result(data: Mapping[str, Any]) -> Mapping[str, Any]:
    return data["result"] if isinstance(data.get("result"), Mapping) else {}


def _params(arguments: list[Any]) -> dict[str, Any]:
    """Arguments have names if each is a ``{"name", "value"}`` with a unique name; otherwise they are positional."""
    pairs = [one if isinstance(one, Mapping) and {"name", "value"} <= {*one} else {"value": one} for one in arguments]
    params = {str(pair["name"]): pair["value"] for pair in pairs if "name" in pair}
    return params if len(params) == len(pairs) else by_position(pair["value"] for pair in pairs)


def _after(row: _Row, inside: tuple[str, ...]) -> list[list[str]]:
    """For each node the ids that its links make it wait for; a source that no node has stays, by its name."""
    nodes: dict[str, list[int]] = {}
    for place, node in enumerate(row.task_nodes):
        nodes.setdefault(node.task, []).append(place)
    after: list[list[str]] = [[] for _ in row.task_nodes]
    pairs: dict[tuple[str, str], Iterator[tuple[int, int]]] = {}
    for place, link in enumerate(row.task_links):
        for tools_joined in product(link.source, link.target):
            source, target = tools_joined
            if source in nodes and target in nodes:
                if len(nodes[source]) * len(nodes[target]) > _MOST:
                    message = f"task_links.{place}: too many nodes have the tool {source!r} or {target!r}"
                    raise fault(
                        message, "write the plan in a format whose links name nodes", at=(*inside, "task_links", place)
                    )
                if tools_joined not in pairs:
                    pairs[tools_joined] = cycle(_nearest(nodes[source], nodes[target]))
                start, end = next(pairs[tools_joined])
                after[end].append(str(start))
            elif target in nodes and source.lower() not in _ENDS:
                after[nodes[target][0]].append(re.sub(r"[^\w.-]+", "-", source, flags=re.ASCII) or "-")
            elif target not in nodes and target.lower() not in _ENDS:
                message = f"task_links.{place}: no node has the tool {target!r}"
                raise fault(message, "link to the tool of a node", at=(*inside, "task_links", place))
    return after


def _nearest(sources: list[int], targets: list[int]) -> list[tuple[int, int]]:
    """Return every (source, target), those that lead forwards first, the nearest first."""
    return sorted(product(sources, targets), key=lambda pair: (pair[0] >= pair[1], abs(pair[1] - pair[0])))


def write(plan: Plan) -> str:
    """Write a row of the data set; the steps are numbered from 0."""
    for place, one in enumerate(plan.steps):
        if one.id != str(place):
            raise unwritable(
                one.id, f"TaskBench numbers nodes from 0, so it would be step {place}", "number the steps so"
            )
    tools = {one.id: tool for one, tool in only_tools(plan)}
    nodes = [{"task": tools[one.id], "arguments": _arguments(one.params)} for one in plan.steps]
    links = [
        {"source": tools.get(other, other), "target": tools[one.id]} for one in plan.steps for other in one.depends_on
    ]
    told = [one.description for one in plan.steps]
    row: dict[str, Any] = {"user_request": plan.goal, "task_steps": told if any(told) else []}
    return json.dumps({**row, "task_nodes": nodes, "task_links": links}, indent=2, ensure_ascii=False)


def _arguments(params: Mapping[str, Any]) -> list[Any]:
    ours = references.translate(dict(params), lambda reference: f"<node-{reference.step}>{reference.path}")
    values = positional(ours)
    return [{"name": name, "value": value} for name, value in ours.items()] if values is None else values
