"""Graphviz DOT, the graph language of many drawing tools: https://graphviz.org/doc/info/lang.html.

``1 -> 2`` says that 2 waits for 1; `drawn` says what a node is. An arrow may end at several nodes in braces. ``dir=back`` turns an
arrow around, and an arrow in both directions is a fault. The graph's label is the goal. Colours, ranks and fonts are not read.
Tooltips, links, invisible arrows, dashed nodes and a drawing from right to left are left out and listed. An attribute that
Graphviz does not have is a fault, and so is a graph of a tool whose arrows lead to what must be done first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from itertools import pairwise, product

from planexec_lab.formats import labels
from planexec_lab.formats.drawn import Chart, Shape, arrows
from planexec_lab.formats.shapes import fault, left_out
from planexec_lite.plan import Plan, PlanError

_HEADER = re.compile(
    r"\s*(?:(?://[^\n]*\n|/\*(?:[^*]|\*(?!/))*\*/|#[^\n]*\n)\s*)*(?:strict\s+)?digraph\b", re.DOTALL | re.IGNORECASE
)
_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*|/\*.*?\*/|^\#[^\n]*)
      | (?P<quoted>"(?:\\.|[^"\\])*")
      | (?P<word>-?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?!\w)|\w+)
      | (?P<sign>->|--|[{}\[\];,=:])""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_HTML = re.compile(r"<(?:[^<>]|<(?:[^<>]|<[^<>]*>)*>)*>")  # tags in the brackets of the label, and comments in tags
_INVISIBLE, _LABELS = re.compile(r"\binvis\b"), ("label", "xlabel", "headlabel", "taillabel")
_SHAPES: dict[str, Shape] = {
    "diamond": "decision",
    "point": "mark",
    **dict.fromkeys(("circle", "doublecircle", "ellipse", "oval", "mdiamond", "msquare", "mcircle"), "round"),
}
_LOOKS = frozenset(
    """
    _background arrowhead arrowsize arrowtail bb bgcolor center charset clusterrank color colorscheme compound
    concentrate constraint damping decorate defaultdist dim dimen dir diredgeconstraints distortion dpi epsilon esep
    fillcolor fixedsize fontcolor fontname fontnames fontpath fontsize forcelabels gradientangle group head_lp headclip
    headport height id image imagepath imagepos imagescale k labelangle labeldistance labelfloat labelfontcolor
    labelfontname labelfontsize labeljust labelloc landscape layout len levels lheight lhead ltail lp lwidth margin
    maxiter mclimit mindist minlen mode model newrank nodesep nojustify normalize nslimit ordering orientation
    outputorder overlap overlap_scaling pack packmode pad page pagedir pencolor penwidth peripheries pin pos quadtree
    quantum rank rankdir ranksep ratio rects regular remincross resolution root rotate samehead sametail samplepoints
    scale searchsize sep shape showboxes sides size skew smoothing sortv splines start style tail_lp tailclip tailport
    truecolor vertices viewport voro_margin weight width xlp z
    """.split()
)
_LEADS = re.compile("o?[lr]?(?:normal|vee|open|halfopen|empty)")  # a tee can mean "blocks", a diamond "is a part of"
_REMARKS = re.compile(r"(?:edge|head|tail|label)?(?:url|href|target|tooltip)|comment|class")
_OF_PACKAGES = re.compile(
    r"\[root\] |@?//|@@|\S+@v?\d|legendNode\d|[\w.-]+:[\w.-]+:(?:[jwep]ar|ejb|pom|zip|bundle|test-jar|maven-plugin)(?::[\w.-]+)+$"
)
_LIKE_THEM = re.compile(  # a node alone can have such a name in any graph
    r"[\w@-]+\.(?:service|target|socket|mount|slice)$"
    r"|(?:data\.)?(?:aws|google|azure\w*|kubernetes|helm|docker|github|null|local|random|tls|time|vault)_\w+\.[\w-]+$"
)
_UNSEEN = re.compile(r"transparent|none|#[0-9a-f]{6}00", re.IGNORECASE)
_MEND = 'write digraph { "1" [label="what to do"]; "2" [label="what to do next"]; "1" -> "2" }'
_Token = tuple[str, str, int]  # its kind, its text, its line
_Defaults = dict[str, dict[str, str]]
_END: _Token = ("sign", "", 0)
_HTML_LABEL = "\0html:"  # marks a name in <…>, until its use


def recognises(data: str) -> bool:
    """Is this a text that begins with ``digraph``?"""
    return _HEADER.match(data) is not None


def read(data: str) -> Plan:
    """Read a directed graph: an arrow leads from what must be done first."""
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
        match = _TOKEN.match(text, place) or _HTML.match(text, place)
        if match is None:
            what = "a quote or a comment is not closed" if text[place] in '"/' else f"{text[place]!r} can't be read"
            raise fault(f"line {line}: {what}", _MEND)
        if match.lastgroup != "space":
            yield match.lastgroup or "html", match[0], line
        place, line = match.end(), line + match[0].count("\n")


class _Graph:
    """The tokens, read from left to right into a chart."""

    def __init__(self, tokens: list[_Token]) -> None:
        self.tokens, self.place, self.chart = tokens, 0, Chart()
        self.named: dict[str, None] = {}  # in the order of their names in the text

    def read(self) -> Plan:
        self._take("strict")
        if not self._take("digraph"):
            raise self._fault("this is no directed graph")
        if self._next[1] != "{":
            self._name()
        self._expect("{")
        defaults: _Defaults = {"graph": {}, "node": {}, "edge": {}}
        self._statements(defaults)
        if self._next != _END:
            raise self._fault(f"{self._next[1][:60]!r} comes after the end of the graph")
        self.chart.goal = "\n".join(_lines(defaults["graph"].get("label", "")))
        alike = [id for id in filter(_LIKE_THEM.match, self.named) if self.chart.nodes[id].lines in (None, [id])]
        others = [*filter(_OF_PACKAGES.match, self.named), *(alike if len(alike) > 1 else ())]
        if others:
            tools = "Terraform, Bazel, CMake, systemd or packages; their arrows lead to what is first"
            raise fault(f"line 1: {others[0]!r} is of {tools}", "turn each arrow around: dir=back")
        self.chart.nodes = {id: self.chart.nodes[id] for id in self.named if id in self.chart.nodes}
        return self.chart.plan()

    def _statements(self, defaults: _Defaults) -> list[str]:
        """Read to the closing brace; return the nodes that are named. `defaults` are the attributes of nodes and so on."""
        ids = list[str]()
        while not self._take("}"):
            if not (self._take(";") or self._take(",")):
                ids += self._statement(defaults)
        return list(dict.fromkeys(ids))

    def _statement(self, defaults: _Defaults) -> list[str]:
        line = self._next[2]
        ends = [self._end(defaults)]
        kind = ends[0][0].lower() if len(ends[0]) == 1 and self.tokens[self.place - 1][0] == "word" else ""
        if self._take("="):
            defaults["graph"][kind] = self._name()
            self._check(kind, defaults["graph"][kind], line)
            return []
        if kind in defaults and self._next[1] == "[":
            defaults[kind] |= self._attributes()
            return []
        while self._take("->"):
            ends.append(self._end(defaults))
        attributes = self._attributes()
        for id in dict.fromkeys(id for end in ends for id in end):
            self._draw_node(id, line, {} if len(ends) > 1 else attributes, defaults["node"])
        for starts, stops in pairwise(ends):
            self._draw_arrows(starts, stops, line, defaults["edge"] | attributes)
        return [id for end in ends for id in end]

    def _draw_node(self, id: str, line: int, attributes: dict[str, str], defaults: dict[str, str]) -> None:
        new = id not in self.chart.nodes
        given = defaults | attributes if new else attributes
        shape = _SHAPES.get(given.get("shape", "").lower(), "box") if new or "shape" in given else None
        if _INVISIBLE.search(given.get("style", "")):
            shape = "mark"
            self.chart.left_out.append(left_out(f"the invisible node {id}", line))
        if "dashed" in given.get("style", ""):  # Snakemake draws so what is up to date
            self.chart.left_out.append(left_out(f"the dashed look of {id}", line))
        self.chart.remark(" ".join(_lines(attributes.get("xlabel", ""))), f"the node {id}", line)
        lines = _lines(given["label"].replace("\\N", id)) if "label" in given else None
        self.chart.node(id, line, lines, shape)

    def _draw_arrows(self, starts: list[str], ends: list[str], line: int, attributes: dict[str, str]) -> None:
        way = attributes.get("dir", "forward").lower()
        head = attributes.get("arrowhead", "normal").lower()
        if _UNSEEN.fullmatch(attributes.get("color", "")) or attributes.get("penwidth") == "0":
            raise fault(f"line {line}: the arrow can't be seen, by its color or penwidth", "show it, or leave it out")
        if not _LEADS.fullmatch(head):
            way = f"none, arrowhead={head}"
        if way not in ("forward", "back"):
            raise fault(
                f"line {line}: an arrow with dir={way} does not say which comes first", "draw one arrow, a -> b"
            )
        for name in ("lhead", "ltail"):
            if name in attributes:
                message = f"line {line}: {name} draws the arrow to {attributes[name]!r}, a group of nodes"
                raise fault(message, "draw the arrows between the nodes that they mean, without " + name)
        style = attributes.get("style", "")
        label = " ".join(" ".join(_lines(attributes[name])) for name in _LABELS if name in attributes)
        for start, end in product(starts, ends) if way == "forward" else product(ends, starts):
            if _INVISIBLE.search(style):
                self.chart.left_out.append(left_out(f"the invisible arrow from {start} to {end}", line))
            else:
                self.chart.arrow(start, end, line, label, re.search("dotted|dashed", style) is not None)

    def _end(self, defaults: _Defaults) -> list[str]:
        """One end of an arrow: a node, or all nodes of a group in braces. A group has its own defaults."""
        subgraph, line = self._take("subgraph"), self._next[2]
        name = self._name() if subgraph and self._next[1] != "{" else ""
        if subgraph or self._next[1] == "{":
            self._expect("{")
            inner = {kind: dict(attributes) for kind, attributes in defaults.items()}
            ids = self._statements(inner)
            if (title := inner["graph"].get("label")) != defaults["graph"].get("label"):
                self.chart.group(name.removeprefix("cluster_"), " ".join(_lines(title or "")), line)
            return ids
        id = self._node()
        self.named.setdefault(id)
        return [id]

    def _node(self) -> str:
        id = self._name()
        while self._take(":"):  # a port says where the arrow touches the node
            self._name()
        return " ".join(_lines(id)) if id.startswith(_HTML_LABEL) else id

    def _attributes(self) -> dict[str, str]:
        attributes = {}
        while self._take("["):
            while not self._take("]"):
                line, name = self._next[2], self._name()
                attributes[name] = self._name() if self._take("=") else "true"
                self._check(name, attributes[name], line)
                if not self._take(","):
                    self._take(";")
        return attributes

    def _check(self, name: str, value: str, line: int) -> None:
        """List an attribute with words that no plan has; raise `PlanError` for one that Graphviz does not have."""
        if _REMARKS.fullmatch(name.lower()) or (name, value.upper()) == ("rankdir", "RL"):
            self.chart.left_out.append(left_out(f"{name}={value[:60]!r}", line))
        elif name not in _LABELS and name.lower() not in _LOOKS:
            raise fault(f"line {line}: Graphviz has no attribute {name!r}, and a plan neither", "say it in the label")

    def _name(self) -> str:
        kind, text, _ = self._next
        if kind == "sign":
            raise self._fault(f"{text!r} is no name" if text else "the graph is not closed")
        self.place += 1
        if kind == "html":
            return _HTML_LABEL + text[1:-1]
        return text[1:-1].replace("\\\n", "").replace('\\"', '"') if kind == "quoted" else text

    @property
    def _next(self) -> _Token:
        return self.tokens[self.place] if self.place < len(self.tokens) else _END

    def _take(self, text: str) -> bool:
        here = self._next[0] in ("word", "sign") and self._next[1].lower() == text
        self.place += here
        return here

    def _expect(self, sign: str) -> None:
        if not self._take(sign):
            raise self._fault(f"{sign!r} is missing")

    def _fault(self, message: str) -> PlanError:
        line = self._next[2] or (self.tokens[-1][2] if self.tokens else 1)
        return fault(f"line {line}: {message}", _MEND)


def _lines(written: str) -> list[str]:
    """The lines of a label: ``\\n``, ``\\l`` and ``\\r`` end one, and any other backslash stands for what follows it.

    Of an HTML label, in ``<…>``, the tags are left out.
    """
    if written.startswith(_HTML_LABEL):
        broken = re.sub(r"<(?:br|hr|/tr|/td)\b[^>]*>", "\n", written.removeprefix(_HTML_LABEL), flags=re.IGNORECASE)
        lines = [
            " ".join(unescape(line).split())
            for line in re.sub(r"<(?!/?s>)[^>]*>", "", broken, flags=re.IGNORECASE).split("\n")
        ]
        return [line for line in lines if line] or [""]
    text = _ESCAPED.sub(lambda match: "\n" if match[1] in "nlr" else match[1], written)
    return [labels.decoded(line, "&") for line in text.split("\n")]
