"""Slides of the lessons: `python -m exercises.teachers.slides [PART-OF-A-NAME ...]` writes build/slides/NN_name.html.

Each page is one file that needs no network. A text cell starts a slide; the code and outputs below it belong to it. Outputs that
answer a question stay folded until you click. The arrow keys turn the slides; printed, the page is a handout.
"""

from __future__ import annotations

import argparse
import re
from html import escape
from pathlib import Path
from typing import Any

import nbformat
from mock_llm import command
from nbconvert import HTMLExporter
from nbformat.v4 import new_notebook
from pygments.formatters import HtmlFormatter

ROOT = Path(__file__).resolve().parents[2]
PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
body {{ margin: 0; background: #f4f4f2; color: #1f1f1f; font: 20px/1.5 system-ui, sans-serif; }}
section {{ box-sizing: border-box; max-width: 1080px; min-height: 100vh; margin: auto; padding: 4vh 40px 60px; background: #fff; }}
section h1, section h2 {{ line-height: 1.2; }}
pre, code {{ font: 16px/1.45 ui-monospace, monospace; }}
pre {{ margin: 0; padding: 8px 12px; overflow-x: auto; background: #f7f7f7; }}
table {{ border-collapse: collapse; font-size: 16px; }}
th, td {{ padding: 3px 14px 3px 0; text-align: left; vertical-align: top; }}
img, svg {{ max-width: 100%; }}
details {{ margin: 8px 0; }}
summary {{ color: #505050; cursor: pointer; }}
nav {{ position: fixed; right: 12px; bottom: 8px; color: #505050; font-size: 14px; }}
.anchor-link, .jp-InputPrompt, .jp-OutputPrompt, .prompt {{ display: none; }}
@media screen {{ .paged section {{ display: none; }} .paged section.now {{ display: block; }} }}
@media print {{ body {{ font-size: 11pt; background: #fff; }} nav {{ display: none; }} pre, code, table {{ font-size: 9pt; }}
 section {{ min-height: 0; padding: 0 0 14pt; max-width: none; }} figure, pre, tr {{ break-inside: avoid; }} }}
{highlight}
</style>
<body class="paged">
{slides}
<nav></nav>
<script>
const slides = [...document.querySelectorAll("section")];
function show(number) {{
  const now = Math.min(Math.max(number, 1), slides.length);
  slides.forEach((slide, place) => slide.classList.toggle("now", place + 1 === now));
  document.querySelector("nav").textContent = now + " / " + slides.length + "  ← →";
  if (location.hash !== "#" + now) history.replaceState(null, "", "#" + now);
  scrollTo(0, 0);
  return now;
}}
let now = show(Number(location.hash.slice(1)) || 1);
addEventListener("hashchange", () => {{ now = show(Number(location.hash.slice(1)) || now); }});
addEventListener("keydown", (key) => {{
  if (key.target.closest("summary, a") && key.key === " ") return;
  const step = {{ArrowRight: 1, PageDown: 1, " ": 1, ArrowLeft: -1, PageUp: -1}}[key.key];
  if (step) {{ key.preventDefault(); now = show(now + step); }}
  if (key.key === "Home") now = show(1);
  if (key.key === "End") now = show(slides.length);
}});
</script>
</html>
"""


def slides_of(cells: list[Any]) -> list[list[Any]]:
    """The cells of each slide."""
    slides: list[list[Any]] = []
    for cell in cells:
        if cell.cell_type == "markdown" or not slides:
            slides.append([])
        slides[-1].append(cell)
    return slides


def html_of(cell: Any, exporter: HTMLExporter) -> str:
    """A cell as HTML; a folded output is in a `details`."""
    folds = cell.metadata.get("jupyter", {})
    if cell.cell_type == "code" and folds.get("outputs_hidden"):
        shown, hidden = cell.copy(), cell.copy()
        shown.outputs, hidden.source = [], ""
        answer = exporter.from_notebook_node(new_notebook(cells=[hidden]))[0]
        return f"{html_of_plain(shown, exporter)}<details><summary>the outcome</summary>{answer}</details>"
    return html_of_plain(cell, exporter)


def html_of_plain(cell: Any, exporter: HTMLExporter) -> str:
    return str(exporter.from_notebook_node(new_notebook(cells=[cell]))[0])


def page_of(path: Path) -> str:
    """The slides of a notebook, in a single HTML page."""
    book = nbformat.read(path, as_version=4)
    exporter = HTMLExporter(template_name="basic")
    exporter.exclude_input_prompt = exporter.exclude_output_prompt = True
    parts = ["".join(html_of(cell, exporter) for cell in slide) for slide in slides_of(book.cells)]
    slides = "\n".join(f"<section>{part}</section>" for part in parts)
    slides = re.sub(r'href="(\d\d_\w+)\.ipynb', r'href="\1.html', slides)
    slides = slides.replace('href="../', 'href="../../').replace('href="appendix/', 'href="../../notebooks/appendix/')
    title = re.search(r"^# (.+)$", book.cells[0].source, re.M)
    return PAGE.format(
        title=escape(title[1] if title else path.stem),
        highlight=HtmlFormatter().get_style_defs(".highlight"),
        slides=slides,
    )


def main(arguments: list[str] | None = None) -> None:
    """Write the slides of the chosen lessons."""
    parser = argparse.ArgumentParser(prog="python -m exercises.teachers.slides", description="Slides of the lessons.")
    parser.add_argument("names", nargs="*", help="parts of names of lessons; without one, all lessons")
    names = parser.parse_args(arguments).names
    lessons = sorted((ROOT / "notebooks").glob("*.ipynb"))
    chosen = [path for path in lessons if not names or any(name in path.name for name in names)]
    if not chosen:
        parser.error(f"no lesson has a name with {' or '.join(names)} in it")
    folder = ROOT / "build" / "slides"
    folder.mkdir(parents=True, exist_ok=True)
    for path in chosen:
        (folder / f"{path.stem}.html").write_text(page_of(path), encoding="utf-8")
        print(f"build/slides/{path.stem}.html")


if __name__ == "__main__":
    command.run(main)
