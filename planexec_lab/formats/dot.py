"""Graphviz DOT, the graph language of many drawing tools: https://graphviz.org/doc/info/lang.html.

``1 -> 2`` says that 2 waits for 1; `drawn` says what a node is. The label of the graph is the goal. Colours, fonts and
the like are left out; an HTML label can't be read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise, product
from typing import Any

from planexec_lab.formats import labels
from planexec_lab.formats.drawn import Chart, Shape, arrows
from planexec_lab.formats.shapes import fault
from planexec_lite.plan import Plan, PlanError

CARRIES = frozenset({"goal", "description", "tool", "params"})
LINE = re.compile(r"[ \t]*(?:strict[ \t]+)?digraph\b|[^\n{]*[^\n{-]->[^>]")

_HEADER = re.compile(r"\s*(?:(?://[^\n]*|/\*.*?\*/|#[^\n]*)\s*)*(?:strict\s+)?digraph\b", re.DOTALL | re.IGNORECASE)
_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*|/\*.*?\*/|^\#[^\n]*)
      | (?P<quoted>"(?:\\.|[^"\\])*")
      | (?P<word>-?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?!\w)|\w+)
      | (?P<sign>->|--|[{}\[\];,=:])""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_SHAPES: dict[str, Shape] = {
    "diamond": "decision",
    **dict.fromkeys(("circle", "doublecircle", "ellipse", "oval"), "round"),
}
_MEND = 'write digraph { "1" [label="what to do"]; "2" [label="what to do next"]; "1" -> "2" }'
_Token = tuple[str, str, int]  # its kind, its text, its line
_END: _Token = ("sign", "", 0)


def recognises(data: Any) -> bool:
    """Is this a text that begins with ``digraph``?"""
    return isinstance(data, str) and _HEADER.match(data) is not None


def read(data: Any) -> Plan:
    """Read a directed graph: an arrow leads from what must be done first."""
    if not isinstance(data, str):
        raise fault("this is not a string", _MEND)
    return _Graph(list(_tokens(data))).read()


def write(plan: Plan) -> str:
    """Write a directed graph, a node and an arrow a line; the steps come first, in the order of the plan."""
    goal = [f"  label={_quoted([plan.goal])};"] if plan.goal else []
    nodes = [f'  "{step.id}" [label={_quoted(labels.written(step))}];' for step in plan.steps]
    lines = [f'  "{start}" -> "{end}";' for start, end in arrows(plan)]
    return "\n".join(["digraph {", *goal, "  node [shape=box];", *nodes, *lines, "}", ""])


def _quoted(lines: list[str]) -> str:
    text = [labels.encoded(line, lambda character: f"&#{ord(character)};", "&") for line in lines]
    return '"' + "\\n".join(line.replace("\\", "\\\\").replace('"', '\\"') for line in text) + '"'


def _tokens(text: str) -> Iterator[_Token]:
    place, line = 0, 1
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            what = "a quote or a comment is not closed" if text[place] in '"/' else f"{text[place]!r} can't be read"
            raise fault(f"line {line}: {what}", _MEND)
        if match.lastgroup != "space":
            yield str(match.lastgroup), match[0], line
        place, line = match.end(), line + match[0].count("\n")


class _Graph:
    """The tokens, read from left to right into a chart."""

    def __init__(self, tokens: list[_Token]) -> None:
        self.tokens, self.place, self.chart = tokens, 0, Chart()
        self.shape: Shape = "box"

    def read(self) -> Plan:
        self._word("strict")
        if not self._word("digraph"):
            raise self._fault("this is no directed graph")
        if self._next[1] != "{":
            self._name()
        self._expect("{")
        open_groups = 1
        while open_groups:
            if self._sign(";"):
                continue
            if self._sign("}"):
                open_groups -= 1
            elif self._word("subgraph"):
                if self._next[1] != "{":
                    self._name()
                self._expect("{")
                open_groups += 1
            else:
                self._statement(outermost=open_groups == 1)
        if self._next != _END:
            raise self._fault(f"{self._next[1][:60]!r} comes after the end of the graph")
        return self.chart.plan()

    def _statement(self, outermost: bool) -> None:
        line = self._next[2]
        groups = [self._group()]
        if self._sign("="):
            value = self._name()
            if groups[0] == ["label"] and outermost:
                self.chart.goal = "\n".join(_lines(value))
            return
        if groups[0] in (["graph"], ["node"], ["edge"]) and self._next[1] == "[":
            self._defaults(groups[0][0], outermost)
            return
        while self._sign("->"):
            groups.append(self._group())
        attributes = self._attributes()
        shape = _SHAPES.get(attributes["shape"].lower(), "box") if "shape" in attributes and len(groups) == 1 else None
        label = attributes.get("label") if len(groups) == 1 else None
        for id in dict.fromkeys(id for group in groups for id in group):
            default = None if id in self.chart.nodes else self.shape
            lines = None if label is None else _lines(label.replace("\\N", id))
            self.chart.node(id, line, lines, default if shape is None else shape)
        for starts, ends in pairwise(groups):
            for start, end in product(starts, ends):
                self.chart.arrow(start, end, line, attributes.get("label", ""))

    def _defaults(self, of: str, outermost: bool) -> None:
        attributes = self._attributes()
        if of == "graph" and outermost and "label" in attributes:
            self.chart.goal = "\n".join(_lines(attributes["label"]))
        if of == "node":
            self.shape = _SHAPES.get(attributes.get("shape", "").lower(), "box")

    def _group(self) -> list[str]:
        """A node, or several in braces."""
        if not self._sign("{"):
            return [self._node()]
        ids = []
        while not self._sign("}"):
            if not (self._sign(";") or self._sign(",")):
                ids.append(self._node())
        return ids

    def _node(self) -> str:
        id = self._name()
        while self._sign(":"):  # a port says where the arrow touches the node
            self._name()
        return id

    def _attributes(self) -> dict[str, str]:
        attributes = {}
        while self._sign("["):
            while not self._sign("]"):
                name = self._name()
                attributes[name] = self._name() if self._sign("=") else "true"
                if not self._sign(","):
                    self._sign(";")
        return attributes

    def _name(self) -> str:
        kind, text, _ = self._next
        if kind == "sign":
            raise self._fault(f"{text!r} is no name" if text else "the graph is not closed")
        self.place += 1
        return text[1:-1].replace('\\"', '"') if kind == "quoted" else text

    @property
    def _next(self) -> _Token:
        return self.tokens[self.place] if self.place < len(self.tokens) else _END

    def _sign(self, sign: str) -> bool:
        here = self._next[:2] == ("sign", sign)
        self.place += here
        return here

    def _word(self, word: str) -> bool:
        here = self._next[0] == "word" and self._next[1].lower() == word
        self.place += here
        return here

    def _expect(self, sign: str) -> None:
        if not self._sign(sign):
            raise self._fault(f"{sign!r} is missing")

    def _fault(self, message: str) -> PlanError:
        line = self._next[2] or (self.tokens[-1][2] if self.tokens else 1)
        return fault(f"line {line}: {message}", _MEND)


def _lines(written: str) -> list[str]:
    """The lines of a label: ``\\n``, ``\\l`` and ``\\r`` end one, and any other backslash stands for what follows it."""
    text = _ESCAPED.sub(lambda match: "\n" if match[1] in "nlr" else match[1], written)
    return [labels.decoded(line, "&") for line in text.split("\n")]
