"""Every stored notebook keeps the rules, and every rule notices the notebook that breaks it."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.guards import books
from tests.guards.books import code, displayed, each_notebook, printed, raised, text


def test_there_is_a_lesson() -> None:
    assert books.LESSONS, "notebooks/ holds no lesson: the guards below would check nothing"


@each_notebook
def test_notebook_keeps_the_rules_and_is_stored_in_normal_form(path: Path) -> None:
    assert faults(path) == []
    stored = path.read_text(encoding="utf-8")
    assert stored == books.notebook_tool().normal_form(stored, path.stem), "run `make notebooks`"


BAD = {
    "never executed": [code("1 + 1")],
    "out of order": [code("1", count=2), code("2", count=1)],
    "counts with a hole": [code("1", count=1), code("2", count=3)],
    "empty": [code(" ", count=1)],
    "no code cell": [text("Only words.")],
    "stderr": [code("x = 1", printed("DeprecationWarning", "stderr"), count=1)],
    "image/png": [code("1", displayed(image__png="aGk=", text__plain="fig"), count=1)],
    "image/svg+xml": [code("1", displayed(image__svg_plus_xml="<svg/>", text__plain="fig"), count=1)],
    "a picture without a text": [code("1", displayed(text__html='<img src="a.svg">', text__plain="f"), count=1)],
    "without a text alternative": [code("1", count=1), text("![](plan.svg)")],
    "inline <svg>": [code("1", displayed(text__html="<svg></svg>", text__plain="fig"), count=1)],
    "HTML without a text form": [code("1", displayed(text__html="<b>hi</b>"), count=1)],
    "a path of the machine": [code("1", printed("/home/ada/plan.json\n"), count=1)],
    "path of the machine": [code("1", printed("C:\\Users\\ada\\plan.json\n"), count=1)],
    "the address of an object": [code("1", printed("<object object at 0x7f3a2b1c>"), count=1)],
    "installs packages": [code("%pip install openai", count=1)],
    "asks not to be compared": [code("# NBVAL_IGNORE_OUTPUT\n1", count=1)],
    "not to be compared": [code("1", count=1, tags=["nbval-skip"])],
    "raises ValueError": [code("1", raised("ValueError", "no"), count=1)],
}


@pytest.mark.parametrize(("wanted", "cells"), BAD.items(), ids=list(BAD))
def test_bad_notebook_is_named(wanted: str, cells: list[object], tmp_path: Path) -> None:
    report = faults(books.write(tmp_path / "99_bad.ipynb", *cells))
    known = {"counts with a hole": "out of order"}
    assert report, "nothing was noticed"
    assert all(line.startswith("99_bad.ipynb: ") for line in report)
    assert any(known.get(wanted, wanted) in line for line in report), report


MACHINE_PATH = re.compile(
    r"(?<![\w.:/])/(?:home|Users|root|tmp|work|private/tmp|var/folders)/[^\s\"'<]+|\b[A-Za-z]:\\+Users\\"
)
ADDRESS = re.compile(r"\bat 0x[0-9a-fA-F]{6,}")
INSTALL = re.compile(r"\bpip3? install|\b(?:conda|mamba) install|\buv (?:pip|add)\b|\"pip\", \"install\"|%pip|%conda")
UNCOMPARED = re.compile(r"NBVAL_IGNORE_OUTPUT|NBVAL_SKIP|PYTEST_VALIDATE_IGNORE_OUTPUT|nbval-ignore-output|nbval-skip")
PICTURE = re.compile(r"<img\b[^>]*>", re.I)
WITH_ALT = re.compile(r"""\balt\s*=\s*(?:"\s*[^"\s]|'\s*[^'\s])""", re.I)
EMPTY_ALT = re.compile(r"!\[\s*\]\(")
FORBIDDEN_KINDS = {
    "image/png": "nbval does not compare it; show an HTML figure",
    "image/jpeg": "nbval does not compare it; show an HTML figure",
    "image/gif": "nbval does not compare it; show an HTML figure",
    "image/svg+xml": "an untrusted notebook does not show it; put it into an HTML figure",
    "application/javascript": "an untrusted notebook does not run it",
}


def bare_pictures(source: str) -> Iterator[str]:
    """Pictures that say nothing to someone who can't see them, or that JupyterLab strips."""
    if any(not WITH_ALT.search(tag) for tag in PICTURE.findall(source)) or EMPTY_ALT.search(source):
        yield "a picture without a text alternative"
    if re.search(r"<svg\b", source, re.I):
        yield "inline <svg>, which an untrusted notebook does not show; put it into an <img>"


def output_faults(output: Any, tags: list[str]) -> Iterator[str]:
    if output.output_type == "error" and "raises-exception" not in tags:
        yield f"raises {output.ename}: {output.evalue}"
    if output.get("name") == "stderr":
        yield "writes to stderr"
    data = output.get("data", {})
    for kind, reason in FORBIDDEN_KINDS.items():
        if kind in data:
            yield f"shows {kind}: {reason}"
    yield from bare_pictures(str(data.get("text/html", "")))
    if "text/html" in data and not data.get("text/plain"):
        yield "shows HTML without a text form"
    written = [output.get("text", ""), output.get("evalue", ""), *output.get("traceback", []), *data.values()]
    for words in map(str, written):
        if path := MACHINE_PATH.search(words):
            yield f"prints a path of the machine it ran on: {path.group(0)}"
        if ADDRESS.search(words):
            yield "prints the address of an object, which differs from run to run"


def code_faults(cell: Any, count: int) -> Iterator[str]:
    """The faults of a code cell; `count` is the execution count that it must have."""
    tags = cell.metadata.get("tags", [])
    if not cell.source.strip():
        yield "is empty"
    if cell.execution_count is None:
        yield "was never executed, so nbval would not compare it; run `make notebooks`"
    elif cell.execution_count != count:
        yield f"was executed out of order ({cell.execution_count}, not {count}); run `make notebooks`"
    if UNCOMPARED.search(cell.source) or any(UNCOMPARED.search(tag) for tag in tags):
        yield "asks not to be compared; make its output the same on every run"
    if INSTALL.search(cell.source):
        yield "installs packages; the environment has them"
    for output in cell.outputs:
        yield from output_faults(output, tags)


def faults(path: Path) -> list[str]:
    book = nbformat.read(path, as_version=4)
    report = []
    executed = 0
    for number, cell in enumerate(book.cells, 1):
        of_cell: list[str] = []
        if cell.cell_type == "code":
            executed += 1
            of_cell += code_faults(cell, executed)
        else:
            of_cell += bare_pictures(re.sub(r"```.*?```|`[^`]*`", "", cell.source, flags=re.S))
        if path_in_source := MACHINE_PATH.search(cell.source):
            of_cell.append(f"names a path of one machine: {path_in_source.group(0)}")
        report += [f"{path.name}: cell {number} ({cell.get('id', '')}) {fault}" for fault in of_cell]
    if executed == 0:
        report.append(f"{path.name}: has no code cell")
    return report
