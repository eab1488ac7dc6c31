"""The common part of drawn plans (Mermaid's flowcharts and Graphviz's graphs): nodes, and arrows from dependency to dependent.

A node is a step; `labels` reads the text. A node that only marks start or stop, joins arrows, or is invisible is not a step: what
comes after it waits for what comes before it. The words at arrows and groups are left out and listed, unless they name a
condition ("if it fails", the branches of a decision), which a plan does not have, or turn the arrow around ("depends on"). An
amount ("rows > 5") is neither. In charts of agent frameworks, which have a node ``__start__``, a dotted arrow is a condition.
LangGraph's ``__interrupt = before`` is a gate, and so are words for a person's approval. A name that no step can have, such as
``data/raw.csv``, becomes the step's description.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from planexec_lab.formats import labels
from planexec_lab.formats.shapes import fault, left_out
from planexec_lab.formats.steps import build, names_approval, through, unwritable
from planexec_lite.plan import Plan, PlanError, Problem

Shape = Literal["box", "round", "decision", "mark"]
_NO_BRANCHES = "draw a single branch, with arrows from what must be done first"
_INTERRUPT = re.compile(r"__interrupt\s*=\s*(.*)")
_MARKERS = {"start", "begin", "end", "stop", "finish"}
_ALWAYS = {"__start__", "__end__", "START", "END"}  # of LangGraph and other tools, in every shape
_MEANS = re.compile(  # a condition, or that an arrow leads the other way
    r"^\W*(?:no|false|nein|否|нет|(?-i:any))\W*$|^\W*[\w.-]*\s*[<>~=!^]=+\s*v?\d[\w.,<>=!~ ]*$"
    r"|\b(?:if|when|unless|else|otherwise|not|fail\w*|error\w*|exceptions?|catch\w*|reject\w*|denied|invalid|time-?outs?"
    r"|approv\w*|optional\w*|sometimes|maybe|skip\w*|retry|retries|repeat|again|loop|back|depends?(?:_?on)?|dependency|requires?|needs?|waits?|blocked|after|follows|reversed?"
    r"|always|all done|one (?:done|success))\b"  # the last three are trigger rules of Airflow
    r"|<-|←",
    re.IGNORECASE,
)
_SOMETIMES = re.compile(
    r"\b(?:if|when|unless|else|otherwise|only|fail\w*|approv\w*|optional\w*|skip\w*|loop|repeat\w*)\b", re.IGNORECASE
)


@dataclass
class Node:
    """A node: on which line it is first named, what it says (None: its id), its shape."""

    line: int
    lines: list[str] | None = None
    shape: Shape = "box"

    def is_marker(self, id: str) -> bool:
        """Does it only say where to start or to stop, or join arrows?"""
        text = " ".join([id] if self.lines is None else self.lines).strip()
        return (
            self.shape == "mark"
            or id in _ALWAYS
            or text in _ALWAYS
            or (self.shape == "round" and text.lower() in ("", *_MARKERS))
        )


@dataclass
class Chart:
    """A drawing during reading, line by line."""

    goal: str = ""
    nodes: dict[str, Node] = field(default_factory=dict)
    before: dict[str, list[str]] = field(default_factory=dict)
    ways: dict[str, dict[str, int]] = field(default_factory=dict)
    arrow_ids: set[str] = field(default_factory=set)
    faults: list[PlanError] = field(default_factory=list)
    dotted: list[PlanError] = field(default_factory=list)
    left_out: list[Problem] = field(default_factory=list)

    def node(self, id: str, line: int, lines: list[str] | None = None, shape: Shape | None = None) -> None:
        """Name a node; a shape that it gets later takes the place of an earlier one, and another text is a fault."""
        node = self.nodes.setdefault(id, Node(line))
        if lines is not None and node.lines not in (None, lines):
            message = f"line {line}: {id} has another text than on line {node.line}"
            self.faults.append(fault(message, "give each step a name of its own, and a name one text"))
        node.lines = node.lines if lines is None else lines
        node.shape = node.shape if shape is None else shape

    def arrow(self, start: str, end: str, line: int, label: str = "", dotted: bool = False) -> None:
        """Draw an arrow between two nodes that were named."""
        self.remark(label, f"the arrow from {start} to {end}", line, _MEANS)
        if dotted:
            message = f"line {line}: the arrow from {start} to {end} is dotted, a condition; a plan has no branches"
            self.dotted.append(fault(message, _NO_BRANCHES))
        self.before.setdefault(end, []).append(start)
        self.ways.setdefault(start, {}).setdefault(label.strip() or end, line)

    def remark(self, words: str, of: str, line: int, conditions: re.Pattern[str] = _SOMETIMES) -> None:
        """Leave out the words at an arrow or a group; keep a fault where they name a condition or turn an arrow around."""
        text = " ".join(words.split())[:60]
        if conditions.search(re.sub(r"_|(?<=[a-z])(?=[A-Z])", " ", words)) or names_approval(words):
            self.faults.append(fault(f"line {line}: {of} says {text!r}; a plan has no branches", _NO_BRANCHES))
        elif text:
            self.left_out.append(left_out(f"{text!r} at {of}", line))

    def group(self, id: str, title: str, line: int) -> None:
        """Leave out the title of a group; a group that only has a name loses nothing."""
        if title != id or _SOMETIMES.fullmatch(id):
            self.remark(title, "a group of nodes", line)

    def plan(self) -> Plan:
        """Return the plan; raise `PlanError` with the line of a fault."""
        self.nodes = {id: node for id, node in self.nodes.items() if id not in self.arrow_ids}
        markers = {id for id, node in self.nodes.items() if node.is_marker(id)}
        passed = {id: self.before.get(id, []) for id in markers}
        steps = []
        for id, node in self.nodes.items():
            if node.shape == "decision" and len(ways := self.ways.get(id, {})) > 1:
                message = f"line {node.line}: from {id} one goes {' or '.join(map(repr, ways))}; a plan has no branches"
                raise fault(message, "draw a single branch; a run that takes another branch needs a new plan")
            if id not in markers:
                steps.append({"id": id, "depends_on": through(self.before.get(id, []), passed), **_says(id, node)})
        for one in (*self.faults, *(self.dotted if not _ALWAYS.isdisjoint(self.nodes) else ())):
            raise one
        return build(steps, self.goal, {id: node.line for id, node in self.nodes.items()}, self.left_out)


def _says(id: str, node: Node) -> dict[str, Any]:
    lines = [id] if node.lines is None else node.lines
    stops = [match[1] for line in lines if (match := _INTERRUPT.fullmatch(line))]
    if any("after" in stop for stop in stops):
        mend = "let the step after it wait: __interrupt = before"
        raise fault(f"line {node.line}: after {id}, the chart stops for a person; a plan asks before a step", mend)
    lines = [line for line in lines if not _INTERRUPT.fullmatch(line)]
    if state := labels.STATE.search(" ".join(lines)):
        mend = "leave out what is not to be done, or say it in other words"
        raise fault(f"line {node.line}: {state[0]!r} at {id} can mean that it is done or left out", mend)
    try:
        return {"gate": bool(stops), **labels.read(lines or [id])}
    except ValueError as error:
        message = f"line {node.line}: {lines[-1].strip()[:60]!r} looks like a call and can't be read: {error}"
        mend = "write the label as search(query='Oslo'), with every text in quotes; or as words that are no call"
        raise fault(message, mend) from None


def arrows(plan: Plan) -> Iterator[tuple[str, str]]:
    """Yield the arrows of a plan; raise `PlanError` for an arrow from an unknown step."""
    ids = {step.id for step in plan.steps}
    for step in plan.steps:
        for other in step.depends_on:
            if other not in ids:
                message = f"it waits for step {other!r}, which the plan does not have: no arrow can begin there"
                raise unwritable(step.id, message, f"add step {other!r}, or drop the dependency")
            yield other, step.id
