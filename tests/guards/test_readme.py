"""The README and the teachers' pages are correct: snippets, commands, links, minutes; and the pages of the site."""

import json
import re
import shlex
from pathlib import Path

import pytest

from tests.browser import tab
from tests.guards import books
from tests.guards.books import APPENDIX, LESSONS, ROOT, name_of
from tests.guards.readme_rules import BLOCK, Snippet, links, make_targets, sections, snippets
from tests.hub.hub import block

README = (ROOT / "README.md").read_text(encoding="utf-8")
SNIPPETS = snippets(README)


@pytest.mark.parametrize("snippet", SNIPPETS, ids=lambda snippet: snippet.source.splitlines()[0][:40])
def test_snippet_prints_what_the_readme_shows(snippet: Snippet, tmp_path: Path) -> None:
    done = books.run("-c", snippet.source, scratch=tmp_path, PYTHONIOENCODING="utf-8")
    assert done.returncode == 0, done.stdout
    assert books.attempts(tmp_path) == ""
    if snippet.promised is not None:
        assert done.stdout == snippet.promised


PAGES = [ROOT / "README.md", *sorted((ROOT / "exercises" / "teachers").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_and_commands_exist(page: Path) -> None:
    text, makefile = page.read_text(encoding="utf-8"), (ROOT / "Makefile").read_text(encoding="utf-8")
    assert [link for link in links(text) if not (page.parent / link).exists()] == []
    assert make_targets(text) - set(re.findall(r"^([a-z-]+):", makefile, re.M)) == set()


def test_the_readme_links_every_lesson() -> None:
    pages = [name_of(path) for path in [*LESSONS, *APPENDIX]]
    assert [page for page in pages if page not in links(README)] == []


@pytest.mark.slow
@pytest.mark.skipif(books.TEXT_ONLY, reason="a newer matplotlib may draw otherwise")
def test_the_picture_is_the_one_of_the_run(tmp_path: Path) -> None:
    done = books.run(".ci/picture.py", tmp_path / "run.svg", scratch=tmp_path)
    assert done.returncode == 0, done.stdout
    assert (tmp_path / "run.svg").read_bytes() == (ROOT / ".github" / "run.svg").read_bytes()


def test_readme_is_plain() -> None:
    words = BLOCK.sub("", README)
    assert re.findall(r"\b(?:simply|obviously|just|easily)\b|(?<!<)!(?![\[=])", words) == []
    assert sections(README)[0] == "planexec-lite"


def test_what_the_hub_is_set_up_with_can_be_read() -> None:
    compile(block("python", "c.Spawner"), "jupyterhub_config.py", "exec")
    compile(block("python", "c.Exchange"), "nbgrader_config.py", "exec")
    assert all(
        shlex.split(line) for having in ("git clone", "/srv/server") for line in block("sh", having).splitlines()
    )


@pytest.mark.parametrize("command", ["test", "check", "test-latest"])
def test_the_hub_is_tried_by_its_own_command_alone(command: str) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    (recipe,) = re.findall(rf"^{command}:.*\n((?:\t.*\n)+)", makefile, re.M)
    assert re.search(r'-m "[^"]*\bnot hub"', recipe)


def test_every_lesson_and_text_is_a_page_whose_links_lead_somewhere(tmp_path: Path) -> None:
    """`Stage.write` refuses a link to a file that is not there."""
    files = [name_of(path) for path in tab.tool("build").contents()]
    tab.tool("stage").Stage(tmp_path, files).write()
    front = (tmp_path / "index.md").read_text(encoding="utf-8")
    for path in (*LESSONS, *APPENDIX):
        assert (tmp_path / name_of(path)).is_file()
    for path in LESSONS:
        assert f'href="{name_of(path).replace(".ipynb", ".html")}"' in front
    for path in [*LESSONS, *sorted((ROOT / "exercises").glob("*.ipynb"))]:
        assert f'href="jupyter/lab/index.html?path={name_of(path)}"' in front
    assert re.search(r"\d+ exercises</a>", front)


minutes = books.ci_program("minutes")
TOUR = ROOT / "notebooks" / "00_tour.ipynb"
TEXTS = {
    "README.md": (ROOT / "README.md").read_text(encoding="utf-8"),
    "the tour's map": "\n".join(
        "".join(cell["source"]) for cell in json.loads(TOUR.read_text(encoding="utf-8"))["cells"]
    ),
}
each_text = pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)


@each_text
def test_each_lesson_has_the_minutes_that_it_states_and_their_sum(text: str) -> None:
    listed, stated = minutes.listed(text), minutes.stated()
    assert {path.name for path in LESSONS} - set(listed) <= {TOUR.name}
    assert {name: listed[name] for name in listed if name in stated} == {
        name: stated[name] for name in listed if name in stated
    }, "run `python .ci/minutes.py`, then `make notebooks ONLY=00`"
    total = sum(minutes.listed(TEXTS["README.md"]).values())
    assert re.findall(r"(\d+) minutes in total", text) == [str(total)]


def test_the_paths_of_the_readme_have_the_hours_of_their_lessons_and_exercises() -> None:
    assert len(minutes.PATH.findall(README)) == 3
    assert minutes.PATH.sub(minutes.with_hours, README) == README, "run `python .ci/minutes.py`"


def test_the_minutes_of_a_row_are_replaced() -> None:
    rows = "| 01 | [toy](notebooks/01_toy.ipynb) | why? | 7 |\n[02 · b](02_b.ipynb) | why? | 9\nNot 8."
    new = minutes.with_minutes(rows, {"01_toy.ipynb": 25})
    assert new == rows.replace("| 7 |", "| 25 |")
    assert minutes.listed(new) == {"01_toy.ipynb": 25, "02_b.ipynb": 9}
