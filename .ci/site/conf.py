"""The settings of Sphinx. `build.py` names the folders, and the repository in SITE_REPO (owner/name) if it is known."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import anthropic  # noqa: F401  # autodoc changes how typing behaves, and then this import fails
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.nodes import make_refnode

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
OWNER, _, NAME = os.environ.get("SITE_REPO", "").partition("/")
REPO = f"https://github.com/{OWNER}/{NAME}"
HOST = f"{OWNER.lower()}.github.io"
FOLDER = "/" if not NAME or NAME.lower() == HOST else f"/{NAME}/"
HEADING = 'role="heading"'
TAB = "jupyter/lab/index.html?path="

project = html_title = "planexec-lite"
html_show_copyright = False
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_codeautolink", "sphinx_copybutton"]
extensions += ["notfound.extension", "sphinxext.opengraph"]

nb_execution_mode = "off"
nb_ipywidgets_js: dict[str, str] = {}  # no script of another host
nb_code_prompt_show = "Show the answer"
nb_code_prompt_hide = "Hide the answer"
myst_heading_anchors = 4
myst_url_schemes = ["http", "https", "mailto", "tab", "repo"]
suppress_warnings = ["codeautolink", "misc.highlighting_failure"]  # code that is shortened by an ellipsis
default_role = "py:obj"  # a name between backticks in a docstring
autodoc_typehints_format = "short"
codeautolink_warn_on_missing_inventory = codeautolink_warn_on_failed_resolve = False

html_theme = "furo"
FIGURES = "planexec_lab/views/labextension/static/remoteEntry.js"  # figures become SVG in the page, as in JupyterLab
html_static_path = ["static", *(str(ROOT / name) for name in (".github/run.svg", ".github/desk.png", FIGURES))]
html_css_files, html_js_files = (
    ["site.css"],
    ["store.js", ("site.js", {"type": "module"}), ("remoteEntry.js", {"defer": ""})],
)
html_favicon = "static/favicon.svg"
html_copy_source = html_show_sourcelink = False
templates_path = ["templates"]
html_theme_options: dict[str, Any] = {"navigation_with_keys": False, "top_of_page_buttons": ["edit"]}
SYSTEM = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", Arial, sans-serif'
MONO = 'ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", "DejaVu Sans Mono", monospace'
COLOURS = {"light": ("#005a42", "#00483a"), "dark": ("#5fd3ac", "#9be8cd")}
for theme, (brand, visited) in COLOURS.items():
    html_theme_options[f"{theme}_css_variables"] = {
        "font-stack": SYSTEM,
        "font-stack--monospace": MONO,
        "color-brand-primary": brand,
        "color-brand-content": brand,
        "color-brand-visited": visited,
    }
if NAME:
    html_theme_options |= {"source_repository": REPO, "source_branch": "main", "source_directory": ""}
    html_baseurl = ogp_site_url = f"https://{HOST}{FOLDER}"
    ogp_image = "_static/social.png"
    extensions += ["sphinx_sitemap"]
    sitemap_url_scheme = "{link}"
ogp_social_cards = {"enable": False}
notfound_urls_prefix = FOLDER
notfound_context = {
    "title": "Page not found",
    "body": f"""<h1>Page not found</h1>
<p>There is no page at this address. Search for it, or begin at <a href="{FOLDER}index.html">the map of all lessons</a>.</p>
<form action="{FOLDER}search.html"><input class="sidebar-search" name="q" type="search" aria-label="Search"
placeholder="Search"> <button class="button">Search</button></form>""",
}
html_search_scorer = str(HERE / "static" / "scorer.js")


def lead(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Lead `tab:` and `repo:` to their addresses, and a public name in a text to the reference."""
    for link in list(doctree.findall(nodes.reference)):
        scheme, _, path = link.get("refuri", "").partition(":")
        if scheme == "tab":
            link["refuri"] = f"{'../' * page.count('/')}{TAB}{path}"
        elif scheme == "repo" and NAME:
            link["refuri"] = f"{REPO}/{'blob' if (ROOT / path.partition('#')[0]).is_file() else 'tree'}/main/{path}"
        elif scheme == "repo":
            link.replace_self(link.children)
    for cell in doctree.findall(nodes.entry):
        if len(cell.astext()) > 40:  # on a phone a column of text gets room; a column of numbers needs none
            cell["classes"].append("text")
    names = app.env.domains.python_domain.objects
    short = {re.sub(r"^(planexec_l(ite|ab)|mock_llm)\.", "", name): name for name in names}
    for word in list(doctree.findall(nodes.literal)):
        called = re.sub(r"\(.*\)$", "()", word.astext())
        plain = called.removesuffix("()")
        name = plain if plain in names else short.get(plain, "")
        if name and re.search(r"[A-Z.(]", called) and not isinstance(word.parent, nodes.reference | nodes.title):
            there = names[name]
            word.replace_self(make_refnode(app.builder, page, there.docname, there.node_id, word.deepcopy(), name))


def used_in(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Below a class or a function, list the lessons whose code uses it; a value has no docstring of its own."""
    if what == "data":
        lines.clear()
    elif what == "class":
        lines += ["", f".. autolink-examples:: {obj.__module__}.{obj.__qualname__}", "   :collapse:", ""]
    elif what == "function":
        lines += ["", f".. autolink-examples:: {name}", "   :collapse:", "   :type: func", ""]


def about_page(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Tell the templates what a tab can open for a page, and which pages have no file to edit."""
    notebook = f"{page}.ipynb"
    exercises = f"exercises/{Path(notebook).name}"
    files = os.environ["SITE_FILES"].split("\n")
    context["opens"] = [
        (label, path)
        for label, path in (("Run this lesson in your browser", notebook), ("Exercises", exercises))
        if path in files
    ]
    context["tab"] = TAB
    context["furo_navigation_tree"] = context.get("furo_navigation_tree", "").replace(
        HEADING, f'{HEADING} aria-level="2"'
    )
    if "body" in context:
        context["body"] = re.sub(r"Expand for references to <a.*?</a>", "In the lessons", context["body"])
    if page.startswith(("index", "finish", "reference/")):
        context["page_source_suffix"] = ""


def setup(app: Sphinx) -> None:
    app.connect("doctree-resolved", lead)
    app.connect("autodoc-process-docstring", used_in)
    app.connect("html-page-context", about_page, priority=900)  # after furo has made its navigation
