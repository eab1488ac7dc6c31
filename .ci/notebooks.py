"""Run notebooks in place and write them in one normal form.

usage: python .ci/notebooks.py [--check] [--forked] [PATH | PART-OF-A-NAME ...]

Without names, all notebooks of notebooks/ and exercises/ are run. Each is formatted by ruff, run from top to bottom in a
fresh kernel, and written back without anything that changes from run to run, so a second run gives the same bytes. With
--check, no file is written; instead each notebook that would change is listed with its first different lines. With --forked,
the kernels are forked from one process that has imported other people's packages, which is faster (`forked_kernels.py`).
"""

from __future__ import annotations

import argparse
import asyncio
import difflib
import os
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from traitlets.config import Config

sys.path.insert(0, str(Path(__file__).parent))
import forked_kernels

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("notebooks", "exercises")
AT_ONCE = 2
CELL_SECONDS = 300
CELL_METADATA = ("tags", "jupyter", "editable", "deletable")
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


class NotebookFailed(Exception):
    """A cell raised, took too long, or lost its kernel; the message names notebook and cell."""


def transport(folder: str) -> Config:
    """Return the kernel's transport: sockets in `folder`, with absolute paths, because a kernel starts in its notebook's folder.

    A TCP port that was free when it was chosen can be in use when the kernel binds it, and plain TCP prints a warning.
    """
    files = {"transport": "ipc", "ip": str(Path(folder) / "kernel")}
    return Config({"KernelManager": files if os.name == "posix" else {"transport_encryption": "auto"}})


def notebooks_of(names: list[str]) -> list[Path]:
    """The notebooks that the names mean: a file, a folder, or a part of a file's name; all of them without names."""
    everything = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.ipynb"))]
    chosen: list[Path] = []
    for name in names or [str(ROOT / folder) for folder in FOLDERS if (ROOT / folder).is_dir()]:
        path = Path(name)
        if path.is_file():
            matches = [path]
        elif path.is_dir():
            matches = sorted(path.rglob("*.ipynb"))
        else:
            matches = [book for book in everything if name in book.name]
        if not matches and names:
            raise SystemExit(f"No notebook is called {name!r}.")
        chosen += [path for path in matches if ".ipynb_checkpoints" not in path.parts and path not in chosen]
    return chosen


def shown(path: Path) -> str:
    """The path as a person types it."""
    path = path.resolve()
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.name


def normal_ids(stem: str, ids: list[str]) -> list[str]:
    """Readable cell ids: an id that starts with the notebook's name stays, another becomes <name>-<position>."""
    prefix = (re.sub(r"^\d+[_-]?", "", stem) or stem).replace("_", "-")
    kept = {old for old in ids if old.startswith(f"{prefix}-")}
    used: set[str] = set()
    new = []
    for position, old in enumerate(ids, 1):
        name = old
        if old not in kept or old in used:
            name = f"{prefix}-{position:02d}"
            letters = iter("bcdefghijklmnopqrstuvwxyz")
            while name in kept or name in used:
                name = f"{prefix}-{position:02d}{next(letters)}"
        used.add(name)
        new.append(name)
    return new


def normal_output(output: dict[str, Any]) -> dict[str, Any] | None:
    """One output without what changes from run to run; None when nothing that can be kept is left."""
    if output["output_type"] == "error":
        output["traceback"] = [f"{output['ename']}: {output['evalue']}"]
    if "data" in output:
        output["data"].pop(WIDGET_VIEW, None)
        if not output["data"]:
            return None
    return output


def normal_form(text: str, stem: str) -> str:
    """The notebook in normal form: fixed metadata, readable ids, no time stamps, no widget state, one final newline."""
    book = nbformat.reads(text, as_version=4)
    book.metadata = nbformat.from_dict(METADATA)
    book.nbformat, book.nbformat_minor = 4, 5
    ids = normal_ids(stem, [cell.get("id", "") for cell in book.cells])
    for cell, name in zip(book.cells, ids, strict=True):
        cell.id = name
        cell.metadata = {key: cell.metadata[key] for key in CELL_METADATA if key in cell.metadata}
        if cell.cell_type == "code":
            kept = [normal_output(output) for output in cell.outputs]
            cell.outputs = [output for output in kept if output is not None]
    nbformat.validate(book)
    return nbformat.writes(book).rstrip("\n") + "\n"


def told(path: Path, book: nbformat.NotebookNode, problem: Exception) -> str:
    """Which notebook, which cell, what happened."""
    for number, cell in enumerate(book.cells, 1):
        for output in cell.get("outputs", []):
            if output.output_type == "error" and "raises-exception" not in cell.metadata.get("tags", []):
                source = "\n".join(f"    {line}" for line in cell.source.splitlines())
                return f"{shown(path)}: cell {number} ({cell.id}) raised {output.ename}: {output.evalue}\n{source}"
    executed = [number for number, cell in enumerate(book.cells, 1) if cell.get("execution_count")]
    after = f"after cell {executed[-1]}" if executed else "before its first cell was done"
    return f"{shown(path)}: stopped {after}: {type(problem).__name__}: {problem}"


async def executed(path: Path) -> str:
    """The notebook's text after a run in a fresh kernel, in normal form.

    Raises:
        NotebookFailed: when a cell raises without the tag raises-exception, takes too long, or the kernel dies.
    """
    book = nbformat.reads(normal_form(path.read_text(encoding="utf-8"), path.stem), as_version=4)
    for cell in book.cells:
        if cell.cell_type == "code":
            cell.execution_count, cell.outputs = None, []
    with TemporaryDirectory() as folder:
        client = NotebookClient(
            book,
            kernel_name="python3",
            timeout=CELL_SECONDS,
            record_timing=False,
            coalesce_streams=True,
            store_widget_state=False,
            resources={"metadata": {"path": str(path.resolve().parent)}},
            config=transport(folder),
        )
        try:
            await client.async_execute()
        except (CellExecutionError, CellTimeoutError, DeadKernelError) as problem:
            raise NotebookFailed(told(path, book, problem)) from problem
    return normal_form(nbformat.writes(book), path.stem)


def difference(path: Path, old: str, new: str) -> str:
    """The first lines in which the stored notebook and the run differ."""
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), "stored", "run now", lineterm="", n=1)
    return "\n".join([f"{shown(path)}: a new run changes it", *(f"    {line[:200]}" for line in list(lines)[:24])])


async def treat(path: Path, check: bool, slots: asyncio.Semaphore) -> str | None:
    """Run one notebook; write it or compare it. Returns what is wrong, or None."""
    async with slots:
        old = path.read_text(encoding="utf-8")
        try:
            new = await executed(path)
        except NotebookFailed as problem:
            return str(problem)
        if check and new != old:
            return difference(path, old, new)
        if new != old:
            path.write_text(new, encoding="utf-8", newline="\n")
        print(f"{shown(path)}: {'written' if new != old else 'unchanged'}", flush=True)
        return None


async def treat_all(paths: list[Path], check: bool) -> list[str]:
    slots = asyncio.Semaphore(AT_ONCE)
    failures = await asyncio.gather(*(treat(path, check, slots) for path in paths))
    return [line for line in failures if line]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write no file; list the notebooks that would change")
    parser.add_argument("--forked", action="store_true", help="fork the kernels from one process (not on Windows)")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    for variable in [name for name in os.environ if name.startswith(("PLANEXEC_", "OPENAI_"))]:
        del os.environ[variable]  # the stored outputs are those of the scripted model
    os.environ["PLANEXEC_PROGRESS"] = ""  # read and write no learner's progress
    parent = forked_kernels.start() if arguments.forked and os.name == "posix" else os.getpid()
    os.environ["PLANEXEC_NOBODY"] = str(parent)  # marks the kernels of this process as unattended
    paths = notebooks_of(arguments.names)
    if not paths:
        print("There is no notebook yet.")
        return 0
    if not arguments.check:
        for command in (["check", "--select", "I", "--fix"], ["format"]):
            ruff = [sys.executable, "-m", "ruff", *command, "--quiet", *map(str, paths)]
            if code := subprocess.run(ruff, check=False).returncode:
                return code
    problems = asyncio.run(treat_all(paths, arguments.check))
    print(*problems, sep="\n", file=sys.stderr) if problems else None
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
