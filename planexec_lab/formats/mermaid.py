"""Mermaid flowcharts, as people and models draw plans in Markdown: https://mermaid.js.org/syntax/flowchart.html.

``A["search(query='Oslo')"] --> B[Tell it]`` says that B waits for A; an arrow without such a head is a fault. `drawn` says what a
node is. Subgraphs are read for their nodes. Comments and styles are not read, but a style that hides a node, its words or an
arrow is a fault; links are left out and listed. ``A@{ shape: diam, label: "…" }`` and ids of arrows, ``A e1@--> B``, are read as
Mermaid 11 writes them. The title above the chart is the goal.
"""

from __future__ import annotations

import json
import re
from itertools import product

from planexec_lab.formats import calls, labels
from planexec_lab.formats.drawn import Chart, Shape, arrows
from planexec_lab.formats.shapes import fault, left_out
from planexec_lab.formats.steps import names_approval, unwritable
from planexec_lite.plan import Plan, PlanError

_HEADER = re.compile(r"\s*(?:flowchart(?:-elk)?|graph)\b[ \t]*(?:TB|TD|BT|RL|LR|[<>^v])?[ \t]*(?=[;\n]|\Z)")
_OTHER = re.compile(
    r"\s*(?:(?:sequence|state|class|er|requirement)Diagram|gantt|journey|mindmap|timeline|gitGraph|kanban|block|pie|C4\w+)"
    r"(?:-\w+)?\b[ \t:]*(?=\n|\Z)"
)
_MATTER = re.compile(r"\s*---[ \t]*\n(?P<lines>.*?)^---[ \t]*$", re.DOTALL | re.MULTILINE)
_TITLE = re.compile(r"^[ \t]*title:[ \t]*(.*?)[ \t]*$", re.MULTILINE)
_MATTER_KEY = re.compile(r"^(?!title:|config:|displayMode:)\w[\w-]*:.*", re.MULTILINE)
_INIT = re.compile(r"%%\{.*?\}%%", re.DOTALL)
_COMMENT = re.compile(r"^[ \t]*%%.*$", re.MULTILINE)
_SETTINGS = r'@\{(?:"[^"]*"|[^"{}])*\}'
_STATEMENT = re.compile(
    rf"""(?: "[^"]*" | {_SETTINGS} | [#&]\#?\w+;
      | [(\[{{][^()\[\]{{}}"\n]{{0,300}}\n[^()\[\]{{}}"]{{0,300}}[)\]}}]  # a label over several lines
      | [^";\n] )+""",
    re.VERBOSE,
)
_SETTING = re.compile(r"""([a-z]+)\s*:\s*(?:"([^"]*)"|'([^']*)'|([^,\n"']*))""", re.IGNORECASE)
_SETTINGS_KNOWN = set("shape label icon form pos img w h constraint animate animation curve".split())
_LOOKS = re.compile(r"(?P<kind>classDef|class|style|linkStyle)[ \t]+(?P<names>\w[\w.,\\-]*)[ \t]+(?P<what>.*)")
_DIRECTION = re.compile(r"direction[ \t]+(?:TB|TD|BT|RL|LR)")
_REMARK = re.compile(r"click[ \t]+\w|acc(?:Title|Descr)[ \t]*[:{]")
_NOTHING = r"(?:none|transparent|#[0-9a-f]{3}0\b|#[0-9a-f]{6}00\b|(?:rgb|hsl)a\([^)]*,\s*0*\.?0+%?\s*\))"
_ZERO = r"(?:0+(?:\.0\d*)?|\.0\d*)(?![.\d])"
_HIDES = re.compile(
    r"(?<![\w-])(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|transform\s*:\s*scale\(\s*0|filter\s*:\s*opacity\(\s*0"
    rf"|(?:opacity|font-size)\s*:\s*{_ZERO}|color\s*:\s*{_NOTHING})"
    r"|(?<![\w-])fill\s*:\s*(?P<fill>#?\w+)\b(?=.*(?<![\w-])color\s*:\s*(?P=fill)\b)"  # words in the colour of their box
    r"|(?<![\w-])color\s*:\s*(?P<color>#?\w+)\b(?=.*(?<![\w-])fill\s*:\s*(?P=color)\b)",
    re.IGNORECASE,
)
_HIDES_ARROWS = re.compile(
    rf"{_HIDES.pattern}|stroke\s*:\s*{_NOTHING}|stroke-(?:width|opacity)\s*:\s*{_ZERO}", re.IGNORECASE
)
_OVER = re.compile(
    r"(?:is-?)?(?:done|complete[ds]?|finish(?:ed)?|skip(?:ped)?|cancell?ed|disabled|optional)", re.IGNORECASE
)
_PEOPLE = re.compile(r"(?:human|manual|gate)(?:s|task|step|node|style)*", re.IGNORECASE)
_REFUSED = {
    "themeCSS": "themeCSS can hide a part of the chart",
    "classDef defaultEventStyle": "this chart of LlamaIndex draws events, and which of them come is not decided before the run",
}
_SUBGRAPH = re.compile(r"subgraph\b\s*(?P<text>(?P<id>[\w.-]*)\s*(?P<title>\[.*\])?.*)", re.DOTALL)
_ID = re.compile(r"[\w\\]+(?:[.-][\w\\]+)*")  # LangGraph writes other signs as \20
_CLASS = re.compile(r":::([\w-]+)")
_AND = re.compile(r"\s*&\s*")
_DOTTED = re.compile(r"\s*(?:[\w-]+@)?[<xo]?-\.")
_LINK = re.compile(
    r"""\s*(?:(?P<id>[\w-]+)@(?=[-=~<xo.]))?(?P<back><|[xo](?=[-=]))?
    (?: (?P<hidden>~{3,})
      | (?:--+|==+|-\.+-)(?:(?P<head>>)|[xo](?=[\s|]))
      | (?:---+|===+|-\.+-)(?![->=.])
      | (?:--|==|-\.)(?P<text>[^\n]*?)(?:--+|==+|\.+-)(?:(?P<end>>)|[xo](?=\s))
    )[ \t]*(?:\|(?P<label>[^|]*)\|)?\s*""",
    re.VERBOSE,
)
_OPENING = re.compile(r"\(\[|\({1,3}|\[[\[(/\\]?|\{\{?|>")
_CLOSING = str.maketrans("([{>", ")]}]")
_NAMED_SHAPES: dict[str, Shape] = {
    **dict.fromkeys("diam diamond decision question".split(), "decision"),
    **dict.fromkeys("circle circ stadium terminal pill dbl-circ double-circle".split(), "round"),
    **dict.fromkeys(
        "sm-circ small-circle start fr-circ framed-circle stop f-circ filled-circle junction fork join comment brace brace-l "
        "brace-r braces text".split(),
        "mark",
    ),
}
_TAG = re.compile(r"</?(?:p|b|i|u|em|strong|small|sub|sup|span|div|font|code|img|a)\b[^<>]*>", re.IGNORECASE)
_QUOTED = re.compile(r'\s*"([^"]*)"\s*')
_BREAK = re.compile(r"<[bh]r\s*/?>", re.IGNORECASE)
_KEYWORD = re.compile(
    r"(?:end|graph|flowchart|subgraph|style|class|classDef|click|linkStyle|direction|default|call|href)(?!\w)", re.ASCII
)
_MEND = 'write A["what to do"] --> B["what to do next"], a statement a line; a label with brackets in it needs quotes'


def recognises(data: str) -> bool:
    """Is this a text that begins with ``flowchart`` or ``graph``, below a title perhaps, or another chart of Mermaid?"""
    return any(header.match(*_body(data)) for header in (_HEADER, _OTHER))


def read(data: str) -> Plan:
    """Read a flowchart: an arrow leads from what must be done first."""
    text, start = _body(data)
    header = _HEADER.match(text, start)
    if header is None:
        line = 1 + text.count("\n", 0, len(text) - len(text[start:].lstrip()))
        other = _OTHER.match(text, start)
        what = f"{other[0].strip()} of Mermaid" if other else "other text"
        raise fault(f"line {line}: this is no flowchart, but {what}", "draw the steps below a line flowchart TD")
    for mark, why in _REFUSED.items():
        if mark in data:
            raise fault(f"line 1: {why}", "draw the steps alone")
    title = _TITLE.search(text, 0, start)
    chart, groups, opened = Chart(_title(title[1]) if title else ""), dict[str, int](), list[int]()
    for key in _MATTER_KEY.finditer(text, 0, start):
        chart.left_out.append(left_out(repr(key[0]), 1 + text.count("\n", 0, key.start())))
    looks, line, counted, end = _Looks(), 1, 0, header.end()
    for match in _STATEMENT.finditer(text, end):
        written = match[0].strip()
        begin = match.end() - len(match[0].lstrip())
        line, counted = line + text.count("\n", counted, begin), begin
        if text.startswith('"', match.end()) or '"' in text[end : match.start()]:
            raise fault(f"line {line}: a quote is not closed", _MEND)
        end = match.end()
        if written == "end" and opened:
            opened.pop()
        elif group := _SUBGRAPH.match(written):
            groups[group["id"]] = line
            opened.append(line)
            chart.group(group["id"], " ".join(_lines((group["title"] or group["text"]).strip('[]" '))), line)
        elif look := _LOOKS.fullmatch(written):
            looks.add(look, line)
        elif _REMARK.match(written):
            chart.left_out.append(left_out(repr(written[:60]), line))
        elif written and not _DIRECTION.fullmatch(written):
            _Statement(written, line, chart, looks).read()
    if '"' in text[end:]:
        raise fault(f"line {line + text.count(chr(10), counted, end)}: a quote is not closed", _MEND)
    if opened:
        raise fault(f"line {opened[-1]}: this subgraph has no end", "write end on a separate line after its nodes")
    for id, place in groups.items():
        if id in chart.before or id in chart.ways:
            message = f"line {place}: an arrow begins or ends at the subgraph {id!r}, which is not a step"
            raise fault(message, "draw the arrow between the nodes that it means")
    looks.check({*chart.nodes, *groups}, chart)
    return chart.plan()


def write(plan: Plan) -> str:
    """Write a flowchart, a node and an arrow a line; the steps come first, in the order of the plan."""
    for step in plan.steps:
        if not _ID.fullmatch(step.id) or _KEYWORD.match(step.id):
            message = f"a node of a flowchart can't be called {step.id!r}"
            raise unwritable(step.id, message, "call it 'step-1' or the like")
    title = (
        ["---", f"title: {json.dumps(plan.goal, ensure_ascii=not plan.goal.isprintable())}", "---"] if plan.goal else []
    )
    nodes = []
    for step in plan.steps:
        lines = [labels.encoded(line, lambda sign: f"#{ord(sign)};", '"#&<>`\\') for line in labels.written(step)]
        nodes.append(f'    {step.id}["{"<br/>".join(lines) or " "}"]')
    return "\n".join([*title, "flowchart TD", *nodes, *(f"    {start} --> {end}" for start, end in arrows(plan)), ""])


def _body(data: str) -> tuple[str, int]:
    """The text without comments, and the line after the chart's header."""
    text = _COMMENT.sub("", _INIT.sub(lambda match: "\n" * match[0].count("\n"), data))
    matter = _MATTER.match(text)
    return text, matter.end() if matter else 0


def _title(written: str) -> str:
    if len(written) > 1 and written[0] == written[-1] == "'":
        return written[1:-1].replace("''", "'")
    try:
        return str(json.loads(written)) if written.startswith('"') else written
    except ValueError:
        return written


class _Looks:
    """The styles of a chart, each with its line, by their classes or statements; and which parts of the chart have them."""

    def __init__(self) -> None:
        self.styles: dict[str, tuple[int, str]] = {}
        self.parts: dict[str, set[str]] = {}

    def add(self, look: re.Match[str], line: int) -> None:
        """Add a statement that is about looks."""
        kind, names, what = look.groups()
        for name in names.split(","):
            style = what.strip() if kind == "class" else name if kind == "classDef" else f"{kind} {name}"
            if kind != "class":
                self.styles[style] = line, what
            if kind != "classDef":
                self.parts.setdefault(style, set()).add(name)

    def check(self, ids: set[str], chart: Chart) -> None:
        """Raise `PlanError` for a style that hides a node, its words or an arrow, and for a class that is more than a look:
        of what is not to be done, or of what a person approves. A class of what a person does is left out.
        """
        for name, parts in self.parts.items():
            over, styled = _OVER.fullmatch(name), sorted(parts & ids)
            if styled and _PEOPLE.fullmatch(name):
                chart.left_out.append(left_out(f"the class {name!r} of {styled[0]}", 1))
            elif styled and (over or names_approval(name)):
                meaning = "it is done or left out" if over else "a person approves it"
                message = f"line 1: the class {name!r} of {styled[0]} can mean that {meaning}"
                raise fault(message, "say so in the words of the node, or call the class by its look")
        for name, (line, styles) in self.styles.items():
            parts = self.parts.get(name, set[str]())
            pattern = _HIDES_ARROWS if name.startswith("linkStyle ") or parts & chart.arrow_ids else _HIDES
            seen = pattern is _HIDES_ARROWS or name == "default" or parts & ids
            if seen and (hides := pattern.search(styles)):
                message = f"line {line}: {hides[0]!r} hides a part of the chart"
                raise fault(message, "show that part, or leave it out")


class _Statement:
    """One statement, read from its left to its right: nodes, a link, nodes, a link, nodes."""

    def __init__(self, text: str, line: int, chart: Chart, looks: _Looks) -> None:
        self.text, self.line, self.chart, self.looks, self.place = text, line, chart, looks, 0

    def read(self) -> None:
        starts = self._nodes()
        while self.place < len(self.text):
            link = _LINK.match(self.text, self.place)
            if link is None:
                raise self._fault(f"{self.text[self.place :].strip()[:60]!r} can't be read")
            self.place = link.end()
            if link["id"]:
                self.chart.arrow_ids.add(link["id"])
            ends = self._nodes()
            if link["hidden"]:
                self.chart.left_out.append(left_out(f"{link[0].strip()!r}, an invisible arrow", self.line))
            else:
                if link["back"] or not (link["head"] or link["end"]):
                    raise self._fault(f"{link[0].strip()[:60]!r} does not say which comes first")
                label = labels.decoded((link["label"] or link["text"] or "").strip().strip('"'), "#&").strip()
                for start, end in product(starts, ends):
                    self.chart.arrow(start, end, self.line, label, _DOTTED.match(link[0]) is not None)
            starts = ends

    def _nodes(self) -> list[str]:
        ids = [self._node()]
        while also := _AND.match(self.text, self.place):
            self.place = also.end()
            ids.append(self._node())
        return ids

    def _node(self) -> str:
        id = _ID.match(self.text, self.place)
        if id is None:
            at = self.text[self.place :].strip()[:60]
            raise self._fault(f"{at!r} is no node" if at else "a node is missing at the end")
        if id[0] in ("end", "subgraph", "graph", "flowchart"):
            raise self._fault(f"{id[0]!r} is no name for a node, and there is nothing here that it could end or begin")
        self.place = id.end()
        lines, shape = self._settings() if self.text.startswith("@{", self.place) else self._shape()
        if styled := _CLASS.match(self.text, self.place):
            self.place = styled.end()
            self.looks.parts.setdefault(styled[1], set()).add(id[0])
        self.chart.node(id[0], self.line, lines, shape)
        return id[0]

    def _settings(self) -> tuple[list[str] | None, Shape | None]:
        """Read ``@{ shape: diam, label: "…" }``."""
        match = re.compile(_SETTINGS).match(self.text, self.place)
        if match is None:
            raise self._fault("'@{' is not closed")
        self.place = match.end()
        settings = {
            name: quoted or single or bare.strip() for name, quoted, single, bare in _SETTING.findall(match[0][2:-1])
        }
        if unknown := settings.keys() - _SETTINGS_KNOWN:
            raise self._fault(f"{min(unknown)!r} is no setting of a node in a plan")
        shape = _NAMED_SHAPES.get(settings["shape"].lower(), "box") if "shape" in settings else None
        return _lines(settings["label"]) if "label" in settings else None, shape

    def _shape(self) -> tuple[list[str] | None, Shape | None]:
        opening = _OPENING.match(self.text, self.place)
        if opening is None:
            return None, None
        closing = opening[0].translate(_CLOSING)[::-1]
        closings = ("/]", "\\]") if closing[0] in "/\\" else (closing,)  # such as [/a\]
        shape: Shape = "decision" if closing == "}" else "round" if closing in ("])", "))", ")))") else "box"
        quoted = _QUOTED.match(self.text, opening.end())
        begin = quoted.end() if quoted else opening.end()
        ends = [end for closing in closings if (end := self.text.find(closing, begin)) >= 0]
        if not ends or (quoted and min(ends) != begin):
            return None, None
        self.place = min(ends) + len(closing)
        return _lines(quoted[1] if quoted else self.text[begin : min(ends)]), shape

    def _fault(self, message: str) -> PlanError:
        return fault(f"line {self.line}: {message}", _MEND)


def _lines(written: str) -> list[str]:
    """The lines of a label; ``\\n`` starts a new line in a description, and is kept in a call."""
    text = written.strip()
    if len(text) > 1 and text[0] == text[-1] == "`":
        text = text[1:-1]
    text = _TAG.sub("", text)
    as_it_is, broken = ([labels.decoded(line.strip(), "#&") for line in _BREAK.split(one)] for one in (
        text.replace("\n", "<br/>"), text.replace("\n", "<br/>").replace("\\n", "<br/>")))  # fmt: skip
    return as_it_is if calls.looks_like_one(as_it_is[-1]) else broken
