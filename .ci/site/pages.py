"""The readable pages of the site: a front page, the lessons with their figures, texts, and a reference of the names."""

from __future__ import annotations

import json
import posixpath
import re
import shutil
from collections.abc import Collection
from dataclasses import dataclass
from html import escape, unescape
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

import jinja2
import mistune
from markupsafe import Markup
from names import public_names
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

HERE = Path(__file__).resolve().parent
RUNS = "jupyter"  # the folder of the site in which JupyterLite lies
TEXTS = {  # texts of the checkout that are pages too
    "GLOSSARY.md": "glossary.html",
    "exercises/README.md": "exercises.html",
    "exercises/CHEATSHEET.md": "cheatsheet.html",
    "exercises/hunts/README.md": "hunts.html",
    "exercises/interview/drill/PROMPT.md": "drill.html",
    "planexec_lab/formats/README.md": "formats.html",
    "planexec_lab/recorded/README.md": "recorded.html",
    "mock_llm/README.md": "mock_llm.html",
    "mock_llm/TESTING.md": "testing.html",
}
PICTURES = {
    "00": 1,
    "01": 1,
    "02": 0,
    "03": 1,
    "04": 1,
    "05": 1,
    "06": 2,
    "07": 0,
    "08": 3,
    "09": 1,
    "10": 1,
    "11": 2,
    "12": 1,
    "13": 2,
    "15": 0,
}  # which figure represents a lesson
NOTES = {  # differences in a browser tab from what a lesson says
    "04": "In a browser tab, environment variables can't be set before Jupyter starts, so lessons use only the scripted model.",
}
NAME = re.compile(r'(?<!\.</span>)<span class="n[de]?">@?(\w+)</span>')
NAME_OF_MODULE = re.compile(r'<span class="n">(\w+)</span><span class="o">\.</span><span class="n">(\w+)</span>')


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

    @property
    def exercises(self) -> str:
        return self.path.replace("notebooks/", "exercises/")

    @property
    def title(self) -> str:
        return plain(found(r"^# \d\d · (.+)$", self.texts))

    @property
    def question(self) -> str:
        return plain(found(r"\*\*The question: (.+?)\*\*", self.texts))

    @property
    def parts(self) -> list[str]:
        return [plain(heading) for heading in re.findall(r"^## (.+)$", self.texts, re.M)]

    @property
    def texts(self) -> str:
        return "\n".join(source(cell) for cell in self.cells if cell["cell_type"] == "markdown")

    @property
    def code(self) -> str:
        return "\n".join(source(cell) for cell in self.cells if cell["cell_type"] == "code")

    @property
    def picture(self) -> Markup:
        """The figure that stands for the lesson."""
        outputs = [form for cell in self.cells for form in shown(cell) if "<figure" in form and "<img" in form]
        return Markup(found(r"(<img.*?>)", outputs[min(PICTURES.get(self.number, 0), len(outputs) - 1)]))


class Pages:
    """Writes the pages of a checkout.

    Args:
        root: the checkout.
        into: where the pages go.
        runs: the folder in it that holds JupyterLite.
        files: what can be opened there, by the paths in the checkout.
    """

    def __init__(self, root: Path, into: Path, runs: str, files: Collection[str]) -> None:
        self.root, self.into, self.runs, self.files = root, into, runs, files
        paths = sorted((root / "notebooks").glob("*.ipynb"))
        books = {f"notebooks/{path.name}": json.loads(path.read_text(encoding="utf-8")) for path in paths}
        self.lessons = [Lesson(path, book["cells"]) for path, book in books.items()]
        self.names = public_names()
        self.links = {name.called: f"reference.html#{name.anchor}" for name in self.names}
        self.pages = TEXTS | {one.path: one.page for one in self.lessons} | {"README.md": "index.html"}
        self.templates = jinja2.Environment(
            loader=jinja2.FileSystemLoader(HERE / "templates"), autoescape=True, undefined=jinja2.StrictUndefined
        )
        self.templates.globals |= {"run": self.run, "files": files, "anchor": anchor}

    def write(self) -> None:
        for name in ("style.css", "work.js"):
            shutil.copy(HERE / name, self.into)
        self._page("index.html", "front.html", "planexec-lite", lessons=self.lessons)
        neighbours = [None, *self.lessons, None]
        for before, lesson, after in zip(neighbours, self.lessons, neighbours[2:], strict=False):
            self._page(
                lesson.page,
                "lesson.html",
                f"{lesson.number} · {lesson.title}",
                lesson=lesson,
                before=before,
                after=after,
                note=NOTES.get(lesson.number),
                cells=Markup("\n".join(self._cell(cell, lesson.path) for cell in lesson.cells)),
            )
        for path, page in TEXTS.items():
            text = (self.root / path).read_text(encoding="utf-8")
            self._page(page, "page.html", plain(found("^# (.+)$", text)), text=self.text(text, path))
        modules = [
            {"grouper": module, "list": list(some)} for module, some in groupby(self.names, attrgetter("module"))
        ]
        helpers = {"lessons_with": self._lessons_with, "text": self.text}
        self._page("reference.html", "reference.html", "Reference", modules=modules, **helpers)

    def run(self, path: str) -> str:
        """The address at which a file of the checkout is opened in JupyterLite."""
        return f"{self.runs}/lab/index.html?path={path}"

    def text(self, markdown: str, path: str = "") -> Markup:
        """Markdown as HTML, with the links of the checkout led to the site."""
        html = str(mistune.html(markdown))
        html = re.sub(r"<h([1-4])>(.*?)</h\1>", lambda h: f'<h{h[1]} id="{anchor(plain(h[2]))}">{h[2]}</h{h[1]}>', html)
        block = r'<pre><code class="language-python">(.*?)</code></pre>'
        html = re.sub(block, lambda code: self._code(unescape(code[1])), html, flags=re.S)
        html = re.sub(r"<code>([\w.]+)</code>", self._named, html)
        html = html.replace("<table>", '<div class="wide"><table>').replace("</table>", "</table></div>")
        return Markup(re.sub(r'<a href="([^"]+)">(.*?)</a>', lambda link: self._link(link, path), html, flags=re.S))

    def _page(self, page: str, template: str, title: str, **values: Any) -> None:
        html = self.templates.get_template(template).render(title=title, **values)
        (self.into / page).write_text(html + "\n", encoding="utf-8")

    def _cell(self, cell: dict[str, Any], path: str) -> str:
        if cell["cell_type"] == "markdown":
            return self.text(source(cell), path)
        outputs = [f'<div class="output">{form}</div>' for form in shown(cell)]
        return "\n".join([f'<div class="code">{self._code(source(cell))}</div>', *outputs])

    def _code(self, text: str) -> str:
        """Code in colours, with the public names linked to the reference."""

        def linked(name: re.Match[str], called: str) -> str:
            whole: str = name[0]
            last = called.rpartition(".")[2]
            target = self.links.get(called)
            return whole if target is None else whole.replace(f"{last}</span>", f'<a href="{target}">{last}</a></span>')

        coloured = highlight(text, PythonLexer(), HtmlFormatter(nowrap=True))
        coloured = NAME_OF_MODULE.sub(lambda name: linked(name, f"{name[1]}.{name[2]}"), coloured)
        return f"<pre>{NAME.sub(lambda name: linked(name, name[1]), coloured)}</pre>"

    def _named(self, code: re.Match[str]) -> str:
        """A name in a text, linked; `planexec_lite.assembly.Policy.replan` leads to `Policy`."""
        parts = code[1].split(".")
        for called in (code[1], *(parts[1:] if parts[0] in ("planexec_lite", "planexec_lab", "mock_llm") else ())):
            if called in self.links:
                return f'<a href="{self.links[called]}">{code[0]}</a>'
        return code[0]

    def _link(self, link: re.Match[str], path: str) -> str:
        target, sign, part = link[1].partition("#")
        if ":" in target or not target or target == "reference.html":
            return link[0]
        place = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
        if place in self.pages:
            return f'<a href="{self.pages[place]}{sign}{part}">{link[2]}</a>'
        return f'<a href="{self.run(place)}">{link[2]}</a>' if place in self.files else f"<span>{link[2]}</span>"

    def _lessons_with(self, called: str) -> list[Lesson]:
        return [one for one in self.lessons if re.search(rf"\b{re.escape(called)}\b", one.code)]


def source(cell: dict[str, Any]) -> str:
    return "".join(cell["source"])


def shown(cell: dict[str, Any]) -> list[str]:
    """The outputs of a cell as HTML."""
    return [_html(output) for output in cell.get("outputs", [])]


def _html(output: dict[str, Any]) -> str:
    if output["output_type"] == "stream":
        return f"<pre>{escape(''.join(output['text']))}</pre>"
    if output["output_type"] == "error":
        return f'<pre class="error">{escape(output["ename"])}: {escape(output["evalue"])}</pre>'
    data = output["data"]
    if "text/html" not in data:
        return f"<pre>{escape(''.join(data['text/plain']))}</pre>"
    # a figure can scroll, so a keyboard must reach it
    return "".join(data["text/html"]).replace("<figure style=", '<figure tabindex="0" style=')


def found(pattern: str, text: str) -> str:
    """The first group of the first place that fits."""
    match = re.search(pattern, text, re.M | re.S if "<" in pattern else re.M)
    assert match, f"nothing fits {pattern}"
    return match[1]


def anchor(words: str) -> str:
    return re.sub(r"\W+", "-", words.lower()).strip("-")


def plain(text: str) -> str:
    """Text without the signs of Markdown or HTML."""
    return unescape(re.sub(r"<[^>]+>|[`*]", "", text))
