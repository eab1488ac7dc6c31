"""The readable pages of the site: every link leads somewhere, every public name is explained, no page is forgotten."""

import re
from pathlib import Path

import pytest

import mock_llm
import planexec_lab
import planexec_lite
from planexec_lab import views
from tests.browser import tab
from tests.guards.books import LESSONS, ROOT, name_of

HOST = re.compile(r"https?://([\w.-]+)")


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The pages by name."""
    folder = tmp_path_factory.mktemp("pages")
    files = [name_of(path) for path in tab.tool("build").contents()]
    tab.tool("pages").Pages(ROOT, folder, "jupyter", files).write()
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.html"))}


@pytest.mark.slow
def test_every_link_of_the_site_leads_somewhere(pages: dict[str, str]) -> None:
    anchors = {page: set(re.findall(r'id="([^"]+)"', text)) for page, text in pages.items()}
    links = [(page, link) for page, text in pages.items() for link in re.findall(r'href="([^"]+)"', text)]
    inside = [(page, link) for page, link in links if not HOST.match(link) and link != "style.css"]
    broken = []
    for page, link in inside:
        target, _, part = link.partition("#")
        file, _, query = target.partition("?path=")
        there = (ROOT / query).is_file() if query else (file or page) in pages
        if not there or (part and part not in anchors[file or page]):
            broken.append((page, link))
    assert broken == []
    assert len(inside) > 1000


def test_every_public_name_is_explained_and_leads_to_its_lessons(pages: dict[str, str]) -> None:
    text = pages["reference.html"]
    for module in (planexec_lite, planexec_lab, views, mock_llm):
        names = [name for name in module.__all__ if f'id="{module.__name__}.{name}"' not in text]
        assert [name for name in names if f'id="planexec_lite.{name}"' not in text] == []
    assert '<a href="03_plan_as_data.html">03</a>' in text
    assert '<a href="reference.html#planexec_lite.Plan">Plan</a>' in pages["03_plan_as_data.html"]
    assert '<a href="reference.html#planexec_lab.views.timeline">timeline</a>' in pages["00_tour.html"]
    assert '<a href="reference.html#planexec_lite.Policy">' in pages["glossary.html"]


def test_every_lesson_is_a_page_with_its_figures_and_a_way_to_run_it(pages: dict[str, str]) -> None:
    for path in LESSONS:
        text = pages[path.with_suffix(".html").name]
        assert f"jupyter/lab/index.html?path={name_of(path)}" in text
        assert text.count("<figure") == path.read_text(encoding="utf-8").count('"<figure')
        assert f'href="{path.stem}.html"' in pages["index.html"]
    assert pages["index.html"].count("<img") == len(LESSONS)


def test_a_page_loads_nothing_from_another_host(pages: dict[str, str]) -> None:
    loads = r'(?:src="|url\(|<link[^>]*href=")https?://'
    assert [page for page, text in pages.items() if re.search(loads, re.sub(r"data:[^\"]+", "", text))] == []
    own = [path for path in Path(ROOT / ".ci" / "site").rglob("*.*") if path.suffix != ".pyc"]
    assert [
        path.name for path in own if HOST.search(path.read_text(encoding="utf-8").replace("http://127.0.0.1", ""))
    ] == []
