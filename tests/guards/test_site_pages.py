"""What Sphinx reads to write the site: no notebook or text is forgotten, and each of their links leads somewhere."""

import re
from pathlib import Path

from tests.browser import tab
from tests.guards.books import APPENDIX, LESSONS, ROOT, name_of


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
