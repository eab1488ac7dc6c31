"""TaskBench: nodes and links. Shen et al., "TaskBench: Benchmarking Large Language Models for Task Automation" (2023),
https://arxiv.org/abs/2311.18760; plans that small models wrote in it: Wu et al., "Can Graph Learning Improve Planning
in LLM-based Agents?" (2024), https://arxiv.org/abs/2405.19119.

Nodes are numbered from 0, and ``<node-0>`` is the result of the first. ``<node-0>.output`` and ``<output of node-0>``
mean the same. A link names tools, not nodes: where a name stands for several nodes, it joins the nearest two that no
link has joined yet, forwards if it can.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import product
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator

from planexec_lite.formats.shapes import fault, shaped
from planexec_lite.formats.steps import build, by_position, rewriter, step
from planexec_lite.plan import Plan
from planexec_lite.references import Reference

_SHAPE = 'write {"task_nodes": [{"task": …, "arguments": […]}], "task_links": [{"source": …, "target": …}]}'
_NODE = re.compile(r"<(?:output (?:of|from) )?node-([0-9]+)>(?:\.output\b)?((?:\.\w+|\[[0-9]+\])*)", re.ASCII)
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
    row = shaped(_Row, {**data, **_result(data)} if isinstance(data, Mapping) else data, _SHAPE)
    told = row.task_steps if len(row.task_steps) == len(row.task_nodes) else [""] * len(row.task_nodes)
    rewrite = rewriter(_NODE, lambda match: Reference(match[1], match[2]))
    nodes = enumerate(zip(row.task_nodes, _after(row), told, strict=True))
    steps = [step(str(n), node.task, _params(node.arguments), rewrite, ids, str(why)) for n, (node, ids, why) in nodes]
    return build(steps, row.user_request)


def _result(data: Mapping[str, Any]) -> Mapping[str, Any]:
    return data["result"] if isinstance(data.get("result"), Mapping) else {}


def _params(arguments: list[Any]) -> dict[str, Any]:
    """Arguments have names when each is a ``{"name", "value"}`` with a name of its own; else they go by position."""
    pairs = [one if isinstance(one, Mapping) and {"name", "value"} <= {*one} else {"value": one} for one in arguments]
    params = {str(pair["name"]): pair["value"] for pair in pairs if "name" in pair}
    return params if len(params) == len(pairs) else by_position(pair["value"] for pair in pairs)


def _after(row: _Row) -> list[list[str]]:
    """For each node the ids that its links make it wait for; a source that no node has stays, by its name."""
    tools = [node.task for node in row.task_nodes]
    nodes = {tool: [n for n, other in enumerate(tools) if other == tool] for tool in dict.fromkeys(tools)}
    after: list[list[str]] = [[] for _ in row.task_nodes]
    joined: set[tuple[int, int]] = set()
    for place, link in enumerate(row.task_links):
        for source, target in product(link.source, link.target):
            pairs = list(product(nodes.get(source, []), nodes.get(target, [])))
            if pairs:
                start, end = min(pairs, key=lambda pair: (pair in joined, pair[0] >= pair[1], abs(pair[1] - pair[0])))
                joined.add((start, end))
                after[end].append(str(start))
            elif target in nodes and source.lower() not in _ENDS:
                after[nodes[target][0]].append(re.sub(r"[^\w.-]+", "-", source, flags=re.ASCII) or "-")
            elif target not in nodes and target.lower() not in _ENDS:
                raise fault(f"task_links.{place}: no node has the tool {target!r}", "link to the tool of a node")
    return after
