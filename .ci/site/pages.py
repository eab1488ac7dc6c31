"""The readable pages of the site: a front page, the lessons with their figures, texts, and a reference of the names."""

from __future__ import annotations

import json
import posixpath
import re
from dataclasses import dataclass
from functools import cached_property
from html import escape, unescape
from pathlib import Path
from typing import Any

import mistune
from names import Name, public_names
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

HERE = Path(__file__).resolve().parent
TEXTS = {  # texts of the checkout that are pages too
    "GLOSSARY.md": "glossary.html",
    "exercises/README.md": "exercises.html",
    "exercises/CHEATSHEET.md": "cheatsheet.html",
    "exercises/NIGHT_BEFORE.md": "night_before.html",
    "exercises/hunts/README.md": "hunts.html",
    "exercises/drill/PROMPT.md": "drill.html",
    "planexec_lite/formats/README.md": "formats.html",
    "mock_llm/README.md": "mock_llm.html",
    "mock_llm/TESTING.md": "testing.html",
}
PICTURES = {"00": 1, "01": 1, "02": 0, "03": 1, "04": 1, "05": 1, "06": 2, "07": 0, "08": 3}  # which of a lesson's stands for it
FACE = (("Lessons", "index.html"), ("Exercises", "exercises.html"), ("Reference", "reference.html"), ("Glossary", "glossary.html"))
WITHOUT = {  # what a lesson speaks of and a tab has not
    "04": "In a browser tab nothing can be set before Jupyter starts: lessons that run here ask the scripted model alone.",
}


@dataclass(frozen=True)
class Lesson:
    """A lesson's notebook, by its path in the checkout."""

    path: str
    cells: list[dict[str, Any]]

    @property
    def number(self) -> str:
        return posixpath.basename(self.path)[:2]

    @property
    def page(self) -> str:
        return posixpath.basename(self.path).replace(".ipynb", ".html")

    @cached_property
    def title(self) -> str:
        return _plain(re.search(r"^# \d\d · (.+)$", self.head, re.M)[1])

    @cached_property
    def question(self) -> str:
        return _plain(re.search(r"\*\*The question: (.+?)\*\*", self.head)[1])

    @property
    def head(self) -> str:
        return source(self.cells[0])

    @property
    def code(self) -> str:
        return "\n".join(source(cell) for cell in self.cells if cell["cell_type"] == "code")

    @property
    def picture(self) -> str:
        """The figure that stands for the lesson."""
        figures = [form for cell in self.cells for form in forms(cell) if "<figure" in form and "<img" in form]
        return re.search(r"<img.*?>", figures[PICTURES[self.number]], re.S)[0]


class Pages:
    """Writes the pages of a checkout into a folder; `runs` is where JupyterLite is in it, with these files."""

    def __init__(self, root: Path, into: Path, runs: str, files: list[str]) -> None:
        self.root, self.into, self.runs, self.files = root, into, runs, files
        paths = sorted((root / "notebooks").glob("*.ipynb"))
        self.lessons = [Lesson(f"notebooks/{path.name}", json.loads(path.read_text(encoding="utf-8"))["cells"]) for path in paths]
        self.names = public_names()
        self.links = {name.called: f"reference.html#{name.anchor}" for name in self.names}

    def write(self) -> None:
        (self.into / "style.css").write_text(_colours() + (HERE / "style.css").read_text(encoding="utf-8"), encoding="utf-8")
        (self.into / "work.js").write_text((HERE / "work.js").read_text(encoding="utf-8"), encoding="utf-8")
        self._page("index.html", "planexec-lite", self._front())
        for number, lesson in enumerate(self.lessons):
            self._page(lesson.page, f"{lesson.number} · {lesson.title}", self._lesson(number, lesson))
        for path, page in TEXTS.items():
            text = (self.root / path).read_text(encoding="utf-8")
            self._page(page, _plain(text.splitlines()[0].removeprefix("# ")), f"<article>{self._text(text, path)}</article>")
        self._page("reference.html", "Reference", self._reference())

    def run(self, path: str) -> str:
        """The address at which a file of the checkout is opened in JupyterLite."""
        return f"{self.runs}/lab/index.html?path={path}"

    def _page(self, name: str, title: str, body: str) -> None:
        links = "".join(f'<a href="{target}">{words}</a>' for words, target in FACE)
        whole = (HERE / "page.html").read_text(encoding="utf-8")
        for field, value in {"title": escape(title), "links": links, "body": body}.items():
            whole = whole.replace(f"{{{{{field}}}}}", value)
        (self.into / name).write_text(whole, encoding="utf-8")

    def _front(self) -> str:
        rows = "".join(
            f'<li><a class="picture" href="{one.page}">{one.picture}</a><div><h3><a href="{one.page}">{one.number} · {escape(one.title)}'
            f'</a></h3><p>{escape(one.question[:1].upper() + one.question[1:])}</p><p class="ways"><a href="{one.page}">Read</a>'
            f'<a href="{self.run(one.path)}">Run in this browser</a>{self._exercises_of(one)}</p></div></li>'
            for one in self.lessons
        )
        front = (HERE / "front.html").read_text(encoding="utf-8")
        return front.replace("{{lessons}}", rows).replace("{{runs}}", self.run(""))

    def _exercises_of(self, lesson: Lesson) -> str:
        path = lesson.path.replace("notebooks/", "exercises/student/")
        return f'<a href="{self.run(path)}">Exercises</a>' if path in self.files else ""

    def _lesson(self, number: int, lesson: Lesson) -> str:
        steps = [("← {}", self.lessons[number - 1])] if number else []
        steps += [("{} →", self.lessons[number + 1])] if number + 1 < len(self.lessons) else []
        way = "".join(
            f'<a href="{one.page}">{arrow.format(f"{one.number} · {escape(one.title)}")}</a>' for arrow, one in steps
        )
        ways = f'<a class="run" href="{self.run(lesson.path)}">Run this lesson in your browser</a>{self._exercises_of(lesson)}'
        headings = re.findall(r"^## (.+)$", "\n".join(source(c) for c in lesson.cells if c["cell_type"] == "markdown"), re.M)
        parts = "".join(f'<li><a href="#{_anchor(_plain(one))}">{escape(_plain(one))}</a></li>' for one in headings)
        note = f'<p class="tab">{WITHOUT[lesson.number]}</p>' if lesson.number in WITHOUT else ""
        cells = "\n".join(self._cell(cell, lesson) for cell in lesson.cells)
        return (
            f'<nav class="way">{way}</nav><p class="ways">{ways}</p>{note}<details class="parts"><summary>Parts</summary>'
            f'<ol>{parts}</ol></details><article class="lesson">{cells}</article><nav class="way">{way}</nav>'
        )

    def _cell(self, cell: dict[str, Any], lesson: Lesson) -> str:
        if cell["cell_type"] == "markdown":
            return self._text(source(cell), lesson.path)
        shown = "".join(f'<div class="output">{form}</div>' for form in forms(cell))
        return f'<div class="code">{self._code(source(cell))}</div>{shown}'

    def _code(self, text: str) -> str:
        """Code in colours, with the public names linked to the reference."""
        coloured = highlight(text, PythonLexer(), HtmlFormatter(nowrap=True))
        dotted = r'<span class="n">(\w+)</span><span class="o">\.</span><span class="n">(\w+)</span>'

        def of_module(found: re.Match[str]) -> str:
            target = self.links.get(f"{found[1]}.{found[2]}")
            whole: str = found[0]
            return whole if target is None else whole.replace(f">{found[2]}<", f'><a href="{target}">{found[2]}</a><')

        def alone(found: re.Match[str]) -> str:
            target = self.links.get(found[2])
            return found[0] if target is None else f'<span class="{found[1]}"><a href="{target}">{found[2]}</a></span>'

        return "<pre>" + re.sub(r'(?<!\.</span>)<span class="(n|nd|ne)">@?(\w+)</span>', alone, re.sub(dotted, of_module, coloured)) + "</pre>"

    def _text(self, text: str, path: str) -> str:
        """Markdown as HTML, with the links of the checkout led to the site."""
        shown = str(mistune.html(text))
        shown = re.sub(r"<h([1-4])>(.*?)</h\1>", lambda h: f'<h{h[1]} id="{_anchor(_plain(h[2]))}">{h[2]}</h{h[1]}>', shown)
        shown = re.sub(r'<pre><code class="language-python">(.*?)</code></pre>', lambda c: self._code(unescape(c[1])), shown, flags=re.S)
        shown = re.sub(r"<code>([\w.]+)</code>", self._named, shown)
        shown = shown.replace("<table>", '<div class="wide"><table>').replace("</table>", "</table></div>")
        return re.sub(r'<a href="([^"]+)">(.*?)</a>', lambda link: self._link(link, path), shown, flags=re.S)

    def _named(self, found: re.Match[str]) -> str:
        target = self.links.get(found[1]) or self.links.get(found[1].rpartition(".")[2] if "planexec_lite." in found[1] else "")
        return found[0] if target is None else f'<a href="{target}">{found[0]}</a>'

    def _link(self, link: re.Match[str], path: str) -> str:
        target, _, part = link[1].partition("#")
        if re.match(r"\w+:", target) or not target or target.startswith("reference.html"):
            return link[0]
        place = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
        pages = TEXTS | {one.path: one.page for one in self.lessons} | {"README.md": "index.html"}
        if place in pages:
            return f'<a href="{pages[place]}{"#" + part if part else ""}">{link[2]}</a>'
        return f'<a href="{self.run(place)}">{link[2]}</a>' if place in self.files else f"<span>{link[2]}</span>"

    def _reference(self) -> str:
        modules = dict.fromkeys(name.module for name in self.names)
        contents = "".join(
            f'<p><b>{module}</b> {" ".join(f"<a href=#{n.anchor}>{n.name}</a>" for n in self.names if n.module == module)}</p>'
            for module in modules
        )
        entries = "".join(
            f"<h2>{module}</h2>" + "".join(self._entry(name) for name in self.names if name.module == module) for module in modules
        )
        return f'<article class="reference"><h1>Reference</h1><div class="contents">{contents}</div>{entries}</article>'

    def _entry(self, name: Name) -> str:
        used = [one for one in self.lessons if re.search(rf"\b{re.escape(name.called)}\b", one.code)]
        where = " ".join(f'<a href="{one.page}">{one.number}</a>' for one in used)
        told = f'<p class="used">In lessons {where}</p>' if used else ""
        parts = "".join(
            f'<dt><code>{escape(part.shown)}</code></dt><dd>{self._text(part.text, "reference")}</dd>' for part in name.parts
        )
        return (
            f'<section id="{name.anchor}"><h3><code>{escape(name.shown)}</code></h3>{self._text(name.text, "reference")}'
            f"{told}{f'<dl>{parts}</dl>' if parts else ''}</section>"
        )


def source(cell: dict[str, Any]) -> str:
    return "".join(cell["source"])


def forms(cell: dict[str, Any]) -> list[str]:
    """The outputs of a cell as HTML."""
    return [_form(output) for output in cell.get("outputs", [])]


def _form(output: dict[str, Any]) -> str:
    if output["output_type"] == "stream":
        return f"<pre>{escape(''.join(output['text']))}</pre>"
    if output["output_type"] == "error":
        return f'<pre class="error">{escape(output["ename"])}: {escape(output["evalue"])}</pre>'
    data = output["data"]
    return "".join(data["text/html"]) if "text/html" in data else f"<pre>{escape(''.join(data.get('text/plain', '')))}</pre>"


def _anchor(words: str) -> str:
    return re.sub(r"[^\w]+", "-", words.lower()).strip("-")


def _plain(text: str) -> str:
    """Text without the signs of Markdown or HTML."""
    return unescape(re.sub(r"<[^>]+>|[`*]", "", text))


def _colours() -> str:
    return str(HtmlFormatter(style="default").get_style_defs("pre"))
