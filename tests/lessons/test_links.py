"""`make links`: copies of the lessons for Colab whose first cell fetches the kit, and a table that opens them."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.guards import books
from tests.guards.books import LESSONS, ROOT

links = books.ci_program("links")
HERE = links.repository("Some-One/my.kit", "main")
COLAB = "https://colab.research.google.com/github/Some-One/my.kit/blob/main/colab/"
FILE = "https://github.com/Some-One/my.kit/blob/main/"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    written = tmp_path_factory.mktemp("links") / "colab"
    links.write(HERE, written, HERE.address)
    return written


def targets(book: Any) -> list[str]:
    texts = "\n".join(cell.source for cell in book.cells if cell.cell_type == "markdown")
    return re.findall(r"\]\(([^)\s]+)\)", texts)


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_a_copy_has_one_cell_more_the_stored_outputs_and_links_that_lead(path: Path, folder: Path) -> None:
    lesson, copy = (nbformat.read(at, as_version=4) for at in (path, folder / path.name))
    nbformat.validate(copy)
    first, *rest = copy.cells
    assert (first.cell_type, first.outputs) == ("code", [])
    assert first.id not in {cell.id for cell in rest}
    assert books.notebook_tool().normal_ids(path.stem, [first.id]) == [first.id]
    assert [cell.id for cell in rest] == [cell.id for cell in lesson.cells]
    code, stored = ([cell for cell in cells if cell.cell_type == "code"] for cells in (rest, lesson.cells))
    assert code == stored
    leads = list(zip(targets(lesson), targets(copy), strict=True))
    assert leads
    for was, now in leads:
        if now.startswith(COLAB):
            assert (folder / now.removeprefix(COLAB)).is_file()
        elif now.startswith(FILE):
            assert (ROOT / now.removeprefix(FILE).partition("#")[0]).is_file()
        else:
            assert now == was
            assert now.startswith("https://")


@pytest.mark.parametrize(
    ("link", "leads"),
    [
        ("02_react.ipynb", f"{COLAB}02_react.ipynb"),
        ("../exercises/interview.ipynb#end", f"{FILE}exercises/interview.ipynb#end"),
        ("../exercises", "https://github.com/Some-One/my.kit/tree/main/exercises"),
        ("https://arxiv.org/abs/2312.04511", "https://arxiv.org/abs/2312.04511"),
        ("#top", "#top"),
    ],
)
def test_a_link_between_files_becomes_an_address(link: str, leads: str) -> None:
    assert links.led(f"See [this]({link}), then [that](#x).", HERE) == f"See [this]({leads}), then [that](#x)."


def test_the_table_opens_every_lesson_in_three_places(folder: Path) -> None:
    rows = [line for line in (folder / "README.md").read_text(encoding="utf-8").splitlines() if line.startswith("| [")]
    assert len(rows) == len(LESSONS)
    for row, path in zip(rows, LESSONS, strict=True):
        assert set(re.findall(r"\]\(([^)]+)\)", row)) == {
            path.name,
            "https://colab.research.google.com/assets/colab-badge.svg",
            f"{COLAB}{path.name}",
            "https://mybinder.org/badge_logo.svg",
            f"https://mybinder.org/v2/gh/Some-One/my.kit/main?urlpath=lab%2Ftree%2Fnotebooks%2F{path.name}",
            f"https://some-one.github.io/my.kit/jupyter/lab/index.html?path=notebooks/{path.name}",
        }
    own = links.repository("Some-One/some-one.github.io", "main")
    assert own.tab("x.ipynb") == "https://some-one.github.io/jupyter/lab/index.html?path=x.ipynb"
    where = links.repository("a/b", "course/2026")
    assert where.colab("x.ipynb").endswith("/a/b/blob/course/2026/colab/x.ipynb")
    assert where.binder("x.ipynb").startswith("https://mybinder.org/v2/gh/a/b/course%2F2026?")
    assert 'address, branch, here = "https://github.com/a/b", "course/2026", ' in source_of(where, where.address)


def test_writing_it_again_gives_the_same_bytes_and_drops_what_is_gone(folder: Path) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    (folder / "98_gone.ipynb").write_text("{}", encoding="utf-8")
    (folder / "notes.txt").write_text("the owner's", encoding="utf-8")
    links.write(HERE, folder, HERE.address)
    after = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert after == before | {"notes.txt": b"the owner's"}
    assert {name for name in before if name.endswith(".ipynb")} == {path.name for path in LESSONS}
    for text in (content.decode() for content in after.values()):
        assert str(ROOT) not in text
        assert f"{Path.home()}/" not in text


def test_the_badges_of_the_readme_have_the_owner_s_name_and_replace_older_ones(tmp_path: Path) -> None:
    readme = tmp_path / "README.md"
    plain = (ROOT / "README.md").read_text(encoding="utf-8")
    readme.write_text(plain, encoding="utf-8")
    links.write_badges(HERE, readme)
    once = readme.read_text(encoding="utf-8")
    assert "[**Start in this browser**](https://some-one.github.io/my.kit/)" in once
    assert set(plain.splitlines()) <= set(once.splitlines())
    links.write_badges(links.repository("a/b", "main"), readme)
    links.write_badges(HERE, readme)
    assert readme.read_text(encoding="utf-8") == once


@pytest.mark.parametrize(
    ("repo", "mend"),
    [
        ("", "REPO is missing: name your repository on GitHub by its owner and its name: make links REPO=owner/name"),
        ("kit", "REPO is 'kit': .* make links REPO=owner/name"),
        ("a/b/c", "make links REPO=owner/name"),
        ("-a/b", "make links REPO=owner/name"),
        ("a/..", "make links REPO=owner/name"),
        ('a/b"; x', "make links REPO=owner/name"),
        ("https://github.com/a/b.c.git", "REPO is 'https.*: make links REPO=a/b.c$"),
        ("git@github.com:a/b.git", "make links REPO=a/b$"),
    ],
)
def test_a_bad_repo_is_refused_with_the_mend(repo: str, mend: str) -> None:
    with pytest.raises(SystemExit, match=mend):
        links.repository(repo, "main")


@pytest.mark.parametrize("branch", ["", "-x", "a b", "a..b", "/a", "a/", 'a"', "a//b"])
def test_a_bad_branch_is_refused_with_the_mend(branch: str) -> None:
    with pytest.raises(SystemExit, match=r"^BRANCH is .*: name a branch of a/b: make links REPO=a/b BRANCH=main$"):
        links.repository("a/b", branch)


@pytest.mark.skipif(os.name == "nt", reason="Windows goes by conda")
def test_make_links_says_what_is_wrong_and_writes_nothing(tmp_path: Path) -> None:
    done = books.run(".ci/links.py", "kit", "--into", tmp_path / "colab", scratch=tmp_path)
    assert done.returncode == 1
    assert done.stdout.startswith("REPO is 'kit': ")
    assert not (tmp_path / "colab").exists()
    asked = ["make", "--dry-run", "--assume-old=.venv/.installed", "links", "REPO=a/b", "BRANCH=c"]
    said = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert '.ci/links.py --branch="c" -- "a/b"' in said


def source_of(where: Any, address: str) -> str:
    return "".join(links.first_cell(where, address, "00_tour.ipynb")["source"])


def small_kit(folder: Path) -> Path:
    for path in ("planexec_lite/__init__.py", "notebooks/00_tour.ipynb", "colab/README.md"):
        (folder / path).parent.mkdir(parents=True)
        (folder / path).touch()
    return folder


def ran(source: str, folder: Path, *, times: int = 1) -> dict[str, Any]:
    """Where a Python stands after running the cell there, what its path begins with, and what it imports from where."""
    asks = """
import json, planexec_lite
print(json.dumps({"cwd": os.getcwd(), "path": sys.path.count(str(kit)), "kit": planexec_lite.__file__}))
"""
    folder.mkdir(exist_ok=True)
    python = [sys.executable, "-I", "-S", "-c", f"{source}\n" * times + asks]
    done = subprocess.run(python, cwd=folder, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    told: dict[str, Any] = json.loads(done.stdout)
    return told


@pytest.mark.parametrize("times", [1, 2])
def test_the_first_cell_fetches_the_kit_once_and_says_nothing(tmp_path: Path, times: int) -> None:
    content = (tmp_path / "content").resolve()
    source = source_of(HERE, published(small_kit(tmp_path / "published")))
    compile(source, "first cell", "exec")
    assert re.findall(r"\bpip\b|\bapt\b|^\s*[%!]", source, re.M) == [], "it installs nothing"
    for _ in range(2):  # a kernel that starts again finds what is there
        told = ran(source, content, times=times)
        assert told == {
            "cwd": str(content / "my.kit" / "notebooks"),
            "path": 1,
            "kit": str(content / "my.kit" / "planexec_lite" / "__init__.py"),
        }
    assert [path.name for path in content.iterdir()] == ["my.kit"]
    checkout = small_kit((tmp_path / "checkout").resolve())  # it takes the checkout that it stands in
    assert ran(source_of(HERE, "nowhere"), checkout / "colab")["cwd"] == str(checkout / "notebooks")


@pytest.mark.parametrize("left_behind", [False, True])
def test_a_fetch_that_fails_names_the_address_and_the_mend(tmp_path: Path, left_behind: bool) -> None:
    gone = (tmp_path / "gone").as_uri()
    if left_behind:
        (tmp_path / "my.kit").mkdir()
        (tmp_path / "my.kit" / "half").touch()
    command = [sys.executable, "-I", "-S", "-c", source_of(HERE, gone)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    for words in (f"RuntimeError: {gone}, branch main, could not be fetched. git says:\n", "Run this cell again",
                  "make links REPO=owner/name"):  # fmt: skip
        assert words in done.stderr
    if left_behind:
        assert f"if there is a folder {tmp_path.resolve() / 'my.kit'}, remove it first" in done.stderr


def published(folder: Path) -> str:
    """Make the files of a folder a repository, on the branch main, and return its address."""
    nothing = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}  # of this user's settings
    who = ["-c", "user.name=kit", "-c", "user.email=kit@localhost"]
    for command in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "the kit"]):
        subprocess.run(
            ["git", *who, *command], cwd=folder, env=os.environ | nothing, check=True, stdout=subprocess.DEVNULL
        )
    return folder.as_uri()
