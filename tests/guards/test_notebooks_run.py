"""Every notebook gives its stored outputs again: on other hash seeds, in other time zones, without a network."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import nbformat
import pytest

from tests.guards import books
from tests.guards.books import NETWORK_CUT, NOTEBOOKS, PLACES, code, name_of

pytestmark = pytest.mark.notebooks

STORED, AGAIN = "test_outputs_are_the_stored_ones", "test_a_new_run_writes_the_same_bytes"


@dataclass(frozen=True)
class Cells:
    """nbval's verdicts on the cells of a notebook: the number of unchanged cells, and the faults of the others."""

    same: int
    faults: list[str]


@dataclass(frozen=True)
class Ran:
    """A run of nbval over all chosen notebooks: its verdicts, its output, and attempts to reach the network."""

    cells: dict[str, Cells]
    printed: str
    attempts: str


def report(path: Path) -> dict[str, Cells]:
    cells: dict[str, Cells] = {}
    for case in ElementTree.parse(path).iter("testcase"):
        told = cells.setdefault(case.get("classname", ""), Cells(0, []))
        faults = [f"{case.get('name')}: {child.text or child.get('message')}" for child in case]
        same = told.same + (not faults)
        cells[case.get("classname", "")] = Cells(same, told.faults + faults)
    return cells


def chosen(request: pytest.FixtureRequest, test: str) -> list[Path]:
    """The notebooks that this session asks of a test, at the place of the request where it has one."""
    asked = [
        item.callspec.params
        for item in request.session.items
        if isinstance(item, pytest.Function) and item.originalname == test and hasattr(item, "callspec")
    ]
    place = getattr(request, "param", None)
    wanted = {params["path"] for params in asked if params.get("ran") == place}
    return [path for path in NOTEBOOKS if path in wanted]


def in_a_group(place: dict[str, str]) -> Any:
    """One place as a parameter; its tests share a worker of pytest-xdist, so that nbval runs once for all of them."""
    name = f"seed-{place['PYTHONHASHSEED']}"
    marks = [pytest.mark.xdist_group(name)]
    if (
        not books.TEXT_ONLY
    ):  # the bytes, which `make test` compares in the second place, show all that nbval shows, and more
        marks.append(pytest.mark.wide if place == PLACES[0] else pytest.mark.weekly)
    return pytest.param(place, id=name, marks=marks)


@pytest.fixture(scope="module", params=[in_a_group(place) for place in PLACES])
def ran(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """Strict nbval over the chosen notebooks at one place, without a network."""
    scratch = tmp_path_factory.mktemp("nbval")
    done = books.nbval(*chosen(request, STORED), scratch=scratch, **request.param)
    return Ran(report(scratch / "nbval.xml"), done.stdout, books.attempts(scratch))


# `make test` compares the bytes of every notebook, `make wide` runs nbval of the lessons, and `make weekly` of all notebooks.
each_lesson_first = pytest.mark.parametrize(
    "path",
    [
        pytest.param(
            path, marks=[] if path in [*books.LESSONS, *books.APPENDIX] or books.TEXT_ONLY else pytest.mark.weekly
        )
        for path in NOTEBOOKS
    ],
    ids=map(name_of, NOTEBOOKS),
)


@each_lesson_first
def test_outputs_are_the_stored_ones(path: Path, ran: Ran) -> None:
    cells = ran.cells.get(name_of(path).replace("/", "."))
    assert cells is not None, ran.printed
    assert not cells.faults, "\n".join(cells.faults)
    assert cells.same == sum(cell.cell_type == "code" for cell in nbformat.read(path, as_version=4).cells)


def test_no_notebook_tries_to_reach_the_network(ran: Ran) -> None:
    assert ran.attempts == ""


@pytest.fixture(scope="module")
def run_again(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """The notebook tool's output for a comparison with the stored files, and attempts to reach the network."""
    scratch = tmp_path_factory.mktemp("again")
    asked = chosen(request, AGAIN) or NOTEBOOKS[:1]
    done = books.run(".ci/notebooks.py", "--check", "--forked", *asked, scratch=scratch, **PLACES[1])
    return done.stdout, books.attempts(scratch)


@pytest.mark.parametrize("path", [path for path in NOTEBOOKS if path.parent.name != "source"], ids=name_of)
@pytest.mark.xdist_group("bytes")
@pytest.mark.skipif(books.TEXT_ONLY, reason="newer versions may draw the same figure with other bytes")
def test_a_new_run_writes_the_same_bytes(path: Path, run_again: tuple[str, str]) -> None:
    said, _ = run_again
    assert f"{name_of(path)}: unchanged" in said.splitlines(), said


@pytest.mark.xdist_group("bytes")
@pytest.mark.skipif(books.TEXT_ONLY, reason="there is no such run")
def test_no_new_run_tries_to_reach_the_network(run_again: tuple[str, str]) -> None:
    _, attempts = run_again
    assert attempts == ""


REACH = "import socket\ntry:\n    socket.create_connection(('192.0.2.1', 80))\nexcept OSError as e:\n    print(e)"
SOURCES = ["from IPython.display import HTML", REACH, "6*7", "HTML('<b>done</b>')"]


@pytest.fixture(scope="module")
def executed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("small")
    path = books.write(folder / "01_small.ipynb", *map(code, SOURCES))
    done = books.run(".ci/notebooks.py", path, scratch=folder, PYTHONHASHSEED="7", TZ="UTC")
    assert done.returncode == 0, done.stdout
    return path


@pytest.fixture
def small(executed: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(executed, tmp_path))


def changed(output: Any) -> bool:
    """Change one output a little; False when there is nothing in it to change."""
    if output.output_type == "stream":
        output.text = "x" + output.text
    elif output.output_type in ("display_data", "execute_result"):
        kind = "text/html" if "text/html" in output.data else "text/plain"
        output.data[kind] = "x" + output.data[kind]
    else:
        return False
    return True


def mutate(path: Path) -> int:
    """Change one output in each code cell that has one; returns how many cells were changed."""
    book = nbformat.read(path, as_version=4)
    cells = [cell for cell in book.cells if cell.cell_type == "code"]
    count = sum(any(changed(output) for output in cell.outputs[:1]) for cell in cells)
    nbformat.write(book, path)
    return count


@pytest.mark.weekly
def test_a_changed_output_turns_nbval_red(small: Path, tmp_path: Path) -> None:
    changed_copy = tmp_path / "02_changed.ipynb"
    shutil.copy(small, changed_copy)
    assert mutate(changed_copy) == 3
    books.nbval(small, changed_copy, scratch=tmp_path, text_only=False)
    assert books.attempts(tmp_path).count("192.0.2.1") >= 2, "one attempt in each kernel"
    as_stored, not_as_stored = report(tmp_path / "nbval.xml").values()
    assert as_stored == Cells(4, [])
    assert not_as_stored.same == 1
    assert [fault.split(":")[0] for fault in not_as_stored.faults] == ["Cell 1", "Cell 2", "Cell 3"]


@pytest.mark.weekly
def test_text_comparison_sees_a_changed_text_but_not_a_changed_picture(small: Path, tmp_path: Path) -> None:
    book = nbformat.read(small, as_version=4)
    for cell in book.cells:
        for output in cell.outputs:
            if "text/html" in output.get("data", {}):
                output.data["text/html"] = "<i>drawn by a newer version</i>"
    nbformat.write(book, small)
    assert "1 failed, 3 passed" in books.nbval(small, scratch=tmp_path, text_only=False).stdout
    assert "4 passed" in books.nbval(small, scratch=tmp_path, text_only=True).stdout
    mutate(small)
    assert "2 failed, 2 passed" in books.nbval(small, scratch=tmp_path, text_only=True).stdout


def test_the_tool_formats_cells_and_cuts_the_network_of_their_kernels(executed: Path) -> None:
    _, reached, product, _ = nbformat.read(executed, as_version=4).cells
    assert (product.source, product.execution_count) == ("6 * 7", 3)
    assert reached.outputs[0].text.startswith("the network is cut: ")
    assert books.attempts(executed.parent).count("192.0.2.1") == 1


REACHES = """
import socket; socket.create_connection(("192.0.2.1", 80), timeout=2)
import _socket; _socket.socket().connect(("192.0.2.1", 80))
import socket; socket.getaddrinfo("example.org", 443)
import urllib.request as r; r.urlopen("http://192.0.2.1/", timeout=2)
import socket; socket.socket(type=socket.SOCK_DGRAM).sendto(b"x", ("192.0.2.1", 53))
import httpx2; httpx2.get("http://192.0.2.1/", timeout=2)
import subprocess, sys; raise OSError(subprocess.run([sys.executable, "-c", REACH], capture_output=True, text=True).stderr)
""".strip().splitlines()


def test_the_network_is_cut_for_every_way_but_not_this_machine(tmp_path: Path) -> None:
    source = "import traceback\nREACH = 'import urllib.request as r; r.urlopen(\"http://192.0.2.1/\", timeout=2)'\n"
    cut = "print('the network is cut' in traceback.format_exc())"
    source += "".join(f"try:\n    {way}\nexcept Exception:\n    {cut}\n" for way in REACHES)
    assert books.run("-c", source, scratch=tmp_path).stdout.split() == ["True"] * len(REACHES)
    assert len(books.attempts(tmp_path).splitlines()) >= len(REACHES)
    source = (
        "import socket; s = socket.create_server(('127.0.0.1', 0)); s.listen();"
        "socket.create_connection(('localhost', s.getsockname()[1])).close(); print('reached')"
    )
    assert books.run("-c", source, scratch=tmp_path).stdout == "reached\n"


def test_the_tests_themselves_have_no_network() -> None:
    import socket

    with pytest.raises(OSError, match="the network is cut"):
        socket.getaddrinfo("example.org", 443)
    assert str(NETWORK_CUT) not in os.environ.get("PYTHONPATH", "")


def test_notebook_tool_names_notebook_and_cell_that_raise(tmp_path: Path) -> None:
    path = books.write(tmp_path / "02_bad.ipynb", code("x = 1"), code('raise ValueError("no plan")'))
    before = path.read_bytes()
    done = books.run(".ci/notebooks.py", path, scratch=tmp_path)
    assert done.returncode == 1
    assert "02_bad.ipynb: cell 2 (bad-02) raised ValueError: no plan" in done.stdout
    assert path.read_bytes() == before, "a failed run must not overwrite the stored outputs"


def test_notebook_tool_check_shows_what_a_new_run_changes(small: Path, tmp_path: Path) -> None:
    mutate(small)
    before = small.read_bytes()
    done = books.run(".ci/notebooks.py", "--check", small, scratch=tmp_path)
    assert done.returncode == 1
    assert "01_small.ipynb: a new run changes it" in done.stdout
    assert "the network is cut" in done.stdout
    assert small.read_bytes() == before


def test_notebook_tool_refuses_unknown_names() -> None:
    with pytest.raises(SystemExit, match="No notebook is called 'no-such-lesson'"):
        books.notebook_tool().notebooks_of(["no-such-lesson"])
