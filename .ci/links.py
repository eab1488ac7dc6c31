"""Write colab/, the lessons for Google Colab, which its README opens there, on Binder and on the site; and the README's badges.

usage: python .ci/links.py OWNER/NAME [--branch BRANCH] [--into FOLDER] [--address ADDRESS]      (make links REPO=OWNER/NAME)

Colab opens a single notebook of a public GitHub repository, without the other files. So each copy begins with an extra cell
that fetches the repository; the other cells and their outputs are the lesson's. Colab does not resolve links between files, so
a link leads to the copy of another lesson, or to the file on GitHub.
"""

from __future__ import annotations

import argparse
import json
import posixpath
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any
from urllib.parse import quote

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.append(str(HERE))

from lessons import read  # noqa: E402

FOLDER = "colab"
REPO = re.compile(
    r"(?P<owner>[A-Za-z0-9](?:-?[A-Za-z0-9]){0,38})/(?P<name>(?!\.{1,2}$)[\w.-]{1,100}(?<!\.git))", re.ASCII
)
BRANCH = re.compile(r"(?![-./])(?!.*(?:\.\.|//))[\w./-]+(?<![./])", re.ASCII)
LINK = re.compile(r"(?<=\]\()[^)\s]+(?=\))")
TITLE = re.compile(r"\A(?P<title># .*\n\n)(?:(?:\[.*\n)+\n)?")
FIRST = Template("""\
# Run this cell first: it fetches the kit and replaces no existing files.
import os
import subprocess
import sys
from pathlib import Path

address, branch, here = "$address", "$branch", Path.cwd()
inside = [at for at in (here, *here.parents) if (at / "planexec_lite").is_dir()]
kit = inside[0] if inside else here / "$name"
if not (kit / "planexec_lite").is_dir():
    clone = [*f"git clone --quiet --depth=1 --branch={branch}".split(), address, kit]
    never_ask = os.environ | {"GIT_TERMINAL_PROMPT": "0"}
    done = subprocess.run(clone, env=never_ask, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise RuntimeError(
            f"{address}, branch {branch}, could not be fetched. git says:\\n{done.stderr.strip()}\\n"
            f"Run this cell again; if there is a folder {kit}, remove it first. If a browser "
            "does not show the address without a login, its owner has to make it public "
            "or to write this notebook again (make links REPO=owner/name)."
        )
os.chdir(kit / "notebooks")
if str(kit) not in sys.path:
    sys.path.insert(0, str(kit))
""")
README = """\
# The lessons, each one click away

Each badge opens a lesson without any installation. In Colab, run the first cell first: it fetches the kit. On Binder, the
first visitor after a commit waits for some minutes. The site runs the lesson inside your browser.

| lesson | the question | in Colab | on Binder | on the site |
|---|---|---|---|---|
{rows}

`make links REPO={repo}{branch}` has written this folder from `notebooks`. Run it again after you change a lesson. The site's
links work once the site is published (`.github/workflows/pages.yml`). Guesses are saved on the machine that runs the lesson;
Colab's and Binder's machines lose them.
"""


@dataclass(frozen=True)
class Repository:
    """A public repository on GitHub that holds the kit, and the addresses of its files."""

    owner: str
    name: str
    branch: str

    @property
    def address(self) -> str:
        return f"https://github.com/{self.owner}/{self.name}"

    @property
    def site(self) -> str:
        """The address of the published site."""
        host = f"{self.owner.lower()}.github.io"
        return f"https://{host}" if self.name.lower() == host else f"https://{host}/{self.name}"

    def file(self, path: str, kind: str = "blob") -> str:
        """Return the GitHub address of a file, or of a folder with the kind "tree"."""
        return f"{self.address}/{kind}/{self.branch}/{path}"

    def colab(self, lesson: str) -> str:
        """Return the address that opens the copy of a lesson, given by its file name, in Colab."""
        opens = "https://colab.research.google.com/github"
        return f"{opens}/{self.owner}/{self.name}/blob/{self.branch}/{FOLDER}/{lesson}"

    def binder(self, path: str) -> str:
        """Return the address that opens a file in JupyterLab on Binder."""
        at = quote(self.branch, safe="")
        return f"https://mybinder.org/v2/gh/{self.owner}/{self.name}/{at}?urlpath={quote(f'lab/tree/{path}', safe='')}"

    def tab(self, path: str) -> str:
        """Return the address that opens a file on the published site, in the browser's Python."""
        return f"{self.site}/jupyter/lab/index.html?path={path}"


def repository(repo: str, branch: str) -> Repository:
    """Read what `make links` was given.

    Raises:
        SystemExit: REPO is not owner/name, or BRANCH is not a branch name; the message gives a fix.
    """
    fits = REPO.fullmatch(repo)
    if fits is None:
        near = REPO.fullmatch(re.sub(r"^.*github\.com[/:]|(\.git)?/?$", "", repo))
        given = f"REPO is {repo!r}" if repo else "REPO is missing"
        wanted = f"{near['owner']}/{near['name']}" if near else "owner/name"
        raise SystemExit(f"{given}: name your repository on GitHub by its owner and its name: make links REPO={wanted}")
    if not BRANCH.fullmatch(branch):
        raise SystemExit(f"BRANCH is {branch!r}: name a branch of {repo}: make links REPO={repo} BRANCH=main")
    return Repository(fits["owner"], fits["name"], branch)


def first_cell(where: Repository, address: str, lesson: str) -> dict[str, Any]:
    """The cell that fetches the kit, with an id like those of the lesson."""
    source = FIRST.substitute(address=address, branch=where.branch, name=where.name).rstrip("\n")
    return {
        "cell_type": "code",
        "execution_count": None,
        "id": f"{Path(lesson).stem[3:].replace('_', '-')}-kit",
        "metadata": {},
        "outputs": [],
        "source": source.splitlines(keepends=True),
    }


def led(text: str, where: Repository) -> str:
    """The text of a lesson with its links between files led to where they are found from Colab."""

    def target(link: re.Match[str]) -> str:
        path, sign, part = link[0].partition("#")
        if ":" in path or not path:
            return link[0]
        path = posixpath.normpath(posixpath.join("notebooks", path))
        if posixpath.dirname(path) == "notebooks" and path.endswith(".ipynb"):
            return where.colab(posixpath.basename(path)) + sign + part
        return where.file(path, "tree" if (ROOT / path).is_dir() else "blob") + sign + part

    return LINK.sub(target, text)


def copy(path: Path, where: Repository, address: str) -> str:
    """The text of a lesson's copy."""
    book = json.loads(path.read_text(encoding="utf-8"))
    for cell in book["cells"]:
        if cell["cell_type"] == "markdown":
            cell["source"] = led("".join(cell["source"]), where).splitlines(keepends=True)
    book["cells"].insert(0, first_cell(where, address, path.name))
    return json.dumps(book, indent=1, ensure_ascii=False) + "\n"


def row(path: Path, where: Repository) -> str:
    """A lesson's line in the table."""
    lesson = read(path)
    named = f"{lesson.number} · {lesson.title}"
    badges = {
        f"![Open {named} in Colab](https://colab.research.google.com/assets/colab-badge.svg)": where.colab(path.name),
        f"![Open {named} on Binder](https://mybinder.org/badge_logo.svg)": where.binder(lesson.path),
        f"open {lesson.number} in a tab": where.tab(lesson.path),
    }
    links = [f"[{shown}]({leads})" for shown, leads in badges.items()]
    return " | ".join([f"| [{named}]({path.name})", lesson.question, *links]) + " |"


def badges(where: Repository) -> str:
    """The line at the top of README.md, which opens the site, the tour on Colab and on Binder, and the last test run."""
    tour = "00_tour.ipynb"
    images = {
        f"[![tests]({where.address}/actions/workflows/ci.yml/badge.svg)]": f"{where.address}/actions/workflows/ci.yml",
        "[![The tour in Colab](https://colab.research.google.com/assets/colab-badge.svg)]": where.colab(tour),
        "[![The tour on Binder](https://mybinder.org/badge_logo.svg)]": where.binder(f"notebooks/{tour}"),
        "[**Start in this browser**]": f"{where.site}/",
    }
    return "\n".join(f"{image}({leads})" for image, leads in images.items())


def write_badges(where: Repository, readme: Path) -> None:
    """Write the badges below the README's title, in place of older ones."""
    text = readme.read_text(encoding="utf-8")
    new = TITLE.sub(lambda top: f"{top['title']}{badges(where)}\n\n", text)
    readme.write_text(new, encoding="utf-8", newline="\n")


def write(where: Repository, folder: Path, address: str) -> None:
    """Write the copies and their README; what the folder held of older lessons goes."""
    lessons = sorted((ROOT / "notebooks").glob("*.ipynb"))
    folder.mkdir(parents=True, exist_ok=True)
    for old in {path.name for path in folder.glob("*.ipynb")} - {path.name for path in lessons}:
        (folder / old).unlink()
    for path in lessons:
        (folder / path.name).write_text(copy(path, where, address), encoding="utf-8", newline="\n")
    rows = "\n".join(row(path, where) for path in lessons)
    branch = "" if where.branch == "main" else f" BRANCH={where.branch}"
    text = README.format(rows=rows, repo=f"{where.owner}/{where.name}", branch=branch)
    (folder / "README.md").write_text(text, encoding="utf-8", newline="\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repo", metavar="OWNER/NAME", nargs="?", default="")
    parser.add_argument("--branch", default="main")
    parser.add_argument("--into", type=Path, default=ROOT / FOLDER, metavar="FOLDER")
    parser.add_argument(
        "--address", default="", help="what the first cell clones (by default the repository on GitHub)"
    )
    given = parser.parse_args()
    where = repository(given.repo, given.branch)
    write(where, given.into, given.address or where.address)
    if (readme := given.into.parent / "README.md").is_file():
        write_badges(where, readme)
    print(f"{given.into.name}/ and the badges of the README beside it are written.")
    print(f"Commit them and push them to {where.address}, branch {where.branch}.")


if __name__ == "__main__":
    main()
