"""The lessons on Colab's versions: the copies of `make links`, from the cell that fetches the kit to the last one.

Every output is compared as strict nbval compares, figures with their bytes. The kit is in none of the environments: it is
what the first cell fetched, from a repository that holds this checkout.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from tests.browser.lab import LEFT_OUT
from tests.guards import books
from tests.guards.books import LESSONS, PLACES, ROOT
from tests.guards.test_notebooks_run import Ran, report
from tests.lessons.repositories import published
from tests.mock_llm.test_other_clients import make_environment

LOOPBACK = True  # kernels listen there
PYTHON = "3.13"
COLAB = {
    "ipykernel": "6.17.1",
    "ipython": "7.34.0",
    "ipywidgets": "7.7.1",
    "openai": "2.54.0",
    "matplotlib": "3.10.0",
}
UNPINNED = ["pydantic>=2", "pyyaml", "psutil", "notebook<7"]  # what Colab has too, in versions that matter less
DIFFERS: dict[
    str, dict[str, str]
] = {}  # lesson -> its code cells that say something else there, counted from 0, and why
ASKS = (
    "import json, sys\nfrom importlib.metadata import version\nprint(json.dumps({n: version(n) for n in sys.argv[1:]}))"
)
FITS = f"import ensurepip, sys, venv; sys.exit(sys.version_info[:2] != {tuple(map(int, PYTHON.split('.')))})"
pytestmark = [pytest.mark.wide, pytest.mark.notebooks, pytest.mark.xdist_group("colab")]


def colab_s_python() -> str:
    """Colab's Python if this machine has one, on the PATH, from uv or from pyenv; else the one that runs this."""
    found = [shutil.which(f"python{PYTHON}"), *map(str, Path.home().glob(f".pyenv/versions/{PYTHON}.*/bin/python"))]
    if uv := shutil.which("uv"):
        found += subprocess.run(
            [uv, "python", "find", "--no-project", PYTHON], capture_output=True, text=True, check=False
        ).stdout.split("\n")
    for python in filter(None, found):
        if subprocess.run([python, "-c", FITS], capture_output=True, check=False).returncode == 0:
            return python
    return sys.executable


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment that has Colab's versions, and not the kit."""
    packages = [*(f"{name}=={version}" for name, version in COLAB.items()), *UNPINNED]
    made = make_environment(tmp_path_factory.mktemp("colab") / "env", *packages, of=colab_s_python())
    subprocess.run([made, "-c", "import matplotlib.font_manager"], capture_output=True, check=True)  # lists the fonts
    return made


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with nothing but the copies of the lessons, as Colab opens them."""
    scratch = tmp_path_factory.mktemp("links")
    address = published(Path(shutil.copytree(ROOT, scratch / "published", ignore=LEFT_OUT)))
    into = scratch / "content"
    done = books.run(".ci/links.py", "me/my-kit", "--into", into, "--address", address, scratch=scratch)
    assert done.returncode == 0, done.stdout
    return into


@pytest.fixture(scope="module")
def ran(python: Path, content: Path, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """Strict nbval over all copies, in kernels of that environment, without a network."""
    scratch = tmp_path_factory.mktemp("nbval")
    kernel = {"argv": [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"], "display_name": "Colab"}
    spec = scratch / "share" / "kernels" / "colab" / "kernel.json"
    spec.parent.mkdir(parents=True)
    spec.write_text(json.dumps(kernel | {"language": "python"}), encoding="utf-8")
    options = ["-p", "no:cacheprovider", "-p", "no:xdist", "--color=no", f"--junitxml={scratch / 'nbval.xml'}"]
    nbval = ["-m", "pytest", "--nbval", "--nbval-kernel-name=colab", *options, *sorted(content.glob("*.ipynb"))]
    done = books.run(*nbval, scratch=scratch, cwd=content, JUPYTER_PATH=str(scratch / "share"), **PLACES[0])
    return Ran(report(scratch / "nbval.xml"), done.stdout, books.attempts(scratch))


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_a_lesson_says_on_colab_s_versions_what_is_stored(path: Path, content: Path, ran: Ran) -> None:
    cells = ran.cells.get(path.name)
    assert cells is not None, ran.printed
    listed = DIFFERS.get(path.stem, {})
    assert {fault.partition(":")[0] for fault in cells.faults} == set(listed), "\n".join(cells.faults)
    book = nbformat.read(content / path.name, as_version=4)
    assert cells.same + len(listed) == sum(cell.cell_type == "code" for cell in book.cells)


def test_the_kit_came_from_the_first_cell(python: Path, content: Path, ran: Ran) -> None:
    assert (content / "my-kit" / "planexec_lite" / "decide.py").read_bytes() == (
        ROOT / "planexec_lite" / "decide.py"
    ).read_bytes()
    done = subprocess.run([python, "-c", "import planexec_lite"], cwd=content, capture_output=True, check=False)
    assert b"No module named 'planexec_lite'" in done.stderr


def test_the_first_cell_has_replaced_nothing_of_colab_s(python: Path, ran: Ran) -> None:
    told = subprocess.run([python, "-c", ASKS, *COLAB], capture_output=True, text=True, check=True).stdout
    assert json.loads(told) == COLAB


def test_no_lesson_tries_to_reach_the_network_there(ran: Ran) -> None:
    assert ran.attempts == ""
