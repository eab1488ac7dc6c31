"""What the README shows is so: its snippets run and print what it says, its commands and links exist."""

import re
from pathlib import Path

import pytest
import yaml

from tests.guards import books
from tests.guards.books import APPENDIX, LESSONS, ROOT
from tests.guards.readme_rules import BLOCK, Snippet, links, make_targets, sections, snippets

README = (ROOT / "README.md").read_text(encoding="utf-8")
SNIPPETS = snippets(README)


def test_readme_has_a_tested_example() -> None:
    assert any(snippet.promised for snippet in SNIPPETS)


@pytest.mark.parametrize("snippet", SNIPPETS, ids=lambda snippet: snippet.source.splitlines()[0][:40])
def test_snippet_prints_what_the_readme_shows(snippet: Snippet, tmp_path: Path) -> None:
    done = books.run("-c", snippet.source, scratch=tmp_path, PYTHONIOENCODING="utf-8")
    assert done.returncode == 0, done.stdout
    assert books.attempts(tmp_path) == ""
    if snippet.promised is not None:
        assert done.stdout == snippet.promised


def test_commands_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = make_targets(README)
    assert named >= {"lab", "test"}
    assert named - set(re.findall(r"^([a-z-]+):", makefile, re.M)) == set()


def test_links_lead_somewhere() -> None:
    assert [link for link in links(README) if not (ROOT / link).exists()] == []


def test_every_lesson_and_appendix_is_listed() -> None:
    pages = [path.relative_to(ROOT).as_posix() for path in [*LESSONS, *APPENDIX]]
    assert [page for page in pages if page not in links(README)] == []


@pytest.mark.slow
def test_the_workflow_to_copy_is_a_workflow(tmp_path: Path) -> None:
    (source,) = [block[2] for block in BLOCK.finditer(README) if block[1] == "yaml"]
    path = tmp_path / "lessons.yml"
    path.write_text(source, encoding="utf-8")
    done = books.run("-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows", path, scratch=tmp_path)
    assert done.returncode == 0, done.stdout
    assert "--nbval" in str(yaml.safe_load(source)["jobs"])


@pytest.mark.slow
@pytest.mark.skipif(books.TEXT_ONLY, reason="a newer matplotlib may draw otherwise")
def test_the_picture_is_the_one_of_the_run(tmp_path: Path) -> None:
    done = books.run(".ci/picture.py", tmp_path / "run.svg", scratch=tmp_path)
    assert done.returncode == 0, done.stdout
    assert (tmp_path / "run.svg").read_bytes() == (ROOT / ".github" / "run.svg").read_bytes()


SAMPLE = """# Kit

Run `make lab` and see [the plan](docs/plan.md#top) and [elsewhere](https://example.org).

```python
print(6 * 7)
```

```text
42
```

```python
print("no promise")
```

Words.

```text
# not a heading
```
"""


def test_reading_a_readme() -> None:
    assert snippets(SAMPLE) == [Snippet("print(6 * 7)\n", "42\n"), Snippet('print("no promise")\n', None)]
    assert make_targets(SAMPLE) == {"lab"}
    assert links(SAMPLE) == {"docs/plan.md"}
    assert sections(SAMPLE) == ["Kit"]


def test_readme_is_plain() -> None:
    words = BLOCK.sub("", README)
    assert re.findall(r"\b(?:simply|obviously|just|easily)\b|(?<!<)!(?![\[=])", words) == []
    assert sections(README)[0] == "planexec-lite"
