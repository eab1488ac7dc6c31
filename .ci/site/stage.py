"""Lay out the folder that Sphinx reads: notebooks and texts of the checkout, a front page, and a page for each module.

Nothing is executed. The links of a text lead to another page, to a notebook in the tab (`tab:`), or to a file of the
repository (`repo:`); `conf.py` resolves the last two.
"""

from __future__ import annotations

import importlib
import inspect
import json
import posixpath
import re
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import jinja2

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))

import minutes  # noqa: E402
from lessons import ROOT, Lesson, below  # noqa: E402

from planexec_lab.views.widgets.widget_output import AGAIN  # noqa: E402

TEXTS = ["*.md", "exercises/**/*.md", "mock_llm/*.md", "planexec_lab/*/README.md", "elsewhere/README.md"]
MODULES = """planexec_lite planexec_lite.run.events planexec_lite.roles.planners planexec_lite.roles.telling planexec_lab
    planexec_lab.views planexec_lab.formats planexec_lab.grade planexec_lab.mcp planexec_lab.prompts planexec_lab.recorded
    planexec_lab.spans planexec_lab.gantz mock_llm exercises""".split()
LINK = re.compile(r"(?<=\]\()[^)\s]+(?=\))")
TASK = re.compile(r"^## (\d\d\.\d) · .*\n\n\*.*?(\d+) minutes", re.M)


@dataclass(frozen=True)
class Puzzle:
    """The text of a puzzle and its picture, as HTML."""

    text: str
    picture: str


def texts() -> list[str]:
    """The Markdown files that are pages, by their paths in the checkout."""
    paths = [path.relative_to(ROOT) for pattern in TEXTS for path in sorted(ROOT.glob(pattern))]
    return [path.as_posix() for path in paths if path.as_posix() != "README.md" and "reveals" not in path.parts]


class Stage:
    """Writes the folder that Sphinx reads.

    Args:
        into: the folder.
        files: the files that a tab can open, by their paths in the checkout.
    """

    TEACHERS = "exercises/teachers/README.md"

    def __init__(self, into: Path, files: list[str]) -> None:
        self.into, self.files = into, files
        self.lessons, self.appendix = below("notebooks"), below("notebooks/appendix")
        self.practice = below("exercises")
        self.pages = {*texts(), *(lesson.path for lesson in [*self.lessons, *self.appendix])}

    def write(self) -> None:
        shutil.rmtree(self.into, ignore_errors=True)
        for page in sorted(self.pages):
            text = (ROOT / page).read_text(encoding="utf-8")
            self._put(page, self._notebook(json.loads(text), page) if page.endswith(".ipynb") else self.led(text, page))
        for module, text in reference().items():
            self._put(f"reference/{module}.rst", text)
        summaries = {
            module: (sys.modules[module].__doc__ or "").split("\n\n")[0].removeprefix(f"{module}: ")
            for module in MODULES
        }
        templates = jinja2.Environment(
            loader=jinja2.FileSystemLoader(HERE / "templates"), undefined=jinja2.StrictUndefined
        )
        for page in ("index.md", "finish.md", "reference/index.md"):
            self._put(page, templates.get_template(page).render(stage=self, summaries=summaries))

    def led(self, text: str, page: str) -> str:
        """The text with its links led to where the site has their targets."""

        def target(link: re.Match[str]) -> str:
            path, sign, part = link[0].partition("#")
            if ":" in path or not path:
                return link[0]
            path = posixpath.normpath(posixpath.join(posixpath.dirname(page), path))
            if path in self.pages:
                return link[0]
            if path in self.files:
                return f"tab:{path}"
            if not (ROOT / path).exists():
                raise SystemExit(f"{page} links to {link[0]}, and there is no such file.")
            return f"repo:{path}{sign}{part}"

        return LINK.sub(target, text)

    def exercise(self, lesson: Lesson) -> Lesson | None:
        """The exercises of a lesson."""
        return next((book for book in self.practice if Path(book.path).name == Path(lesson.path).name), None)

    def tasks(self, lesson: Lesson) -> dict[str, int]:
        """The exercises of a lesson, and the minutes of each."""
        book = self.exercise(lesson)
        return {id: int(minutes) for id, minutes in TASK.findall(book.texts)} if book else {}

    @property
    def tasks_minutes(self) -> int:
        return sum(sum(self.tasks(lesson).values()) for lesson in self.lessons)

    @property
    def paths(self) -> list[dict[str, Any]]:
        """The paths of the README, with their lessons, and with the links where the site has them."""
        rows = minutes.PATH.finditer((ROOT / "README.md").read_text(encoding="utf-8"))
        return [
            row.groupdict()
            | {"lessons": self.chosen(row["lessons"].split(", ")), "then": self.led(row["then"], "index.md")}
            for row in rows
        ]

    def texts_in(self, *folders: str, beside: tuple[str, ...] = ()) -> list[str]:
        """The pages below these folders, but for those below the folders `beside`."""
        return sorted(page for page in texts() if page.startswith(folders) and not page.startswith(beside or (" ",)))

    @property
    def puzzle(self) -> Puzzle:
        """The first puzzle."""
        cells = json.loads((ROOT / "exercises" / "puzzles.ipynb").read_text(encoding="utf-8"))["cells"]
        first = next(number for number, cell in enumerate(cells) if "".join(cell["source"]).startswith("## 1"))
        _, text = "".join(cells[first]["source"]).split("\n\n", 1)
        (picture,) = re.findall(r"<img[^>]*>", "".join(cells[first + 1]["outputs"][0]["data"]["text/html"]))
        bold = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", text)
        return Puzzle(f"<p>{bold}</p>", picture)

    def chosen(self, numbers: Sequence[str]) -> list[Lesson]:
        return [lesson for lesson in self.lessons if lesson.number in numbers]

    def _notebook(self, book: dict[str, Any], page: str) -> str:
        for cell in book["cells"]:
            if cell["cell_type"] == "markdown":
                cell["source"] = self.led("".join(cell["source"]), page)
            elif cell["metadata"].get("jupyter", {}).get("outputs_hidden"):
                cell["metadata"]["tags"] = ["hide-output"]
            for output in cell.get("outputs", []):
                if html := output.get("data", {}).get("text/html"):  # a figure can scroll, so a keyboard must reach it
                    shown = "".join(html).replace("<figure style=", '<figure tabindex="0" style=')
                    output["data"]["text/html"] = shown.replace(AGAIN, "Open the lesson in a tab to use it.")
        return json.dumps(book, ensure_ascii=False)

    def _put(self, path: str, text: str) -> None:
        target = self.into / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")


def reference() -> dict[str, str]:
    """A page for each module; each public name is on one of them."""
    pages, seen = {}, set()
    for path in MODULES:
        module = importlib.import_module(path)
        lines = [f"``{path}``", "=" * (len(path) + 4), "", f".. automodule:: {path}", ""]
        for name in module.__all__:
            value = getattr(module, name)
            if isinstance(value, ModuleType) or (name, repr(value)) in seen:
                continue
            seen.add((name, repr(value)))
            kind = "class" if inspect.isclass(value) else "function" if callable(value) else "data"
            lines += [f".. auto{kind}:: {path}.{name}", *(["   :members:"] if kind == "class" else [])]
            lines += ["" if kind != "data" else "   :no-value:", ""]
        pages[path] = "\n".join(lines)
    return pages
