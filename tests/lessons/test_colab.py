"""The lessons on Colab's versions: the copies of `make links`, from the cell that fetches the kit to the last one.

Every output is compared as strict nbval compares, figures with their bytes. The kit is what the first cell fetched,
from a repository that holds this checkout.
"""

import json
import shutil
import subprocess
from pathlib import Path

import nbformat
import pytest

from tests.browser.lab import LEFT_OUT
from tests.colab import VERSIONS, versions
from tests.guards import books
from tests.guards.books import LESSONS, PLACES, ROOT
from tests.guards.test_notebooks_run import Ran, report
from tests.lessons.test_links import published

LOOPBACK = True  # kernels listen there
# What says something else there: lesson -> nbval's name of the cell ("Cell 3", counted from 0) -> why.
DIFFERS: dict[str, dict[str, str]] = {}
pytestmark = [pytest.mark.weekly, pytest.mark.notebooks, pytest.mark.xdist_group("colab")]


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
def ran(colab: Path, content: Path, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """Strict nbval over all copies, in kernels of that environment, without a network."""
    scratch = tmp_path_factory.mktemp("nbval")
    kernel = {"argv": [str(colab), "-m", "ipykernel_launcher", "-f", "{connection_file}"], "display_name": "Colab"}
    spec = scratch / "share" / "kernels" / "colab" / "kernel.json"
    spec.parent.mkdir(parents=True)
    spec.write_text(json.dumps(kernel | {"language": "python"}), encoding="utf-8")
    plugins = ["-p", "ipc_kernels", "-p", "no:cacheprovider", "-p", "no:xdist"]
    options = ["--nbval-kernel-name=colab", *plugins, "--color=no", f"--junitxml={scratch / 'nbval.xml'}"]
    nbval = ["-m", "pytest", "--nbval", *options, *sorted(content.glob("*.ipynb"))]
    done = books.run(*nbval, scratch=scratch, cwd=content, JUPYTER_PATH=str(scratch / "share"), **PLACES[0])
    return Ran(report(scratch / "nbval.xml"), done.stdout, books.attempts(scratch))


def test_the_environment_has_colab_s_versions_and_not_the_kit(colab: Path) -> None:
    assert versions(colab) == VERSIONS
    done = subprocess.run([colab, "-I", "-c", "import planexec_lite"], cwd=colab.parent, capture_output=True)
    assert b"No module named 'planexec_lite'" in done.stderr


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_a_lesson_says_on_colab_s_versions_what_is_stored(path: Path, content: Path, ran: Ran) -> None:
    cells = ran.cells.get(path.name)
    assert cells is not None, ran.printed
    listed = DIFFERS.get(path.stem, {})
    assert {fault.partition(":")[0] for fault in cells.faults} == set(listed), "\n".join(cells.faults)
    book = nbformat.read(content / path.name, as_version=4)
    assert cells.same + len(listed) == sum(cell.cell_type == "code" for cell in book.cells)


def test_the_first_cell_brought_the_kit_and_replaced_nothing(colab: Path, content: Path, ran: Ran) -> None:
    fetched = content / "my-kit" / "planexec_lite" / "assembly.py"
    assert fetched.read_bytes() == (ROOT / "planexec_lite" / "assembly.py").read_bytes()
    assert versions(colab) == VERSIONS
    assert ran.attempts == "", "no lesson tries to reach the network"
