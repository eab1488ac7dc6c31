"""Measure published sets of plans: ``python -m planexec_lab.formats.gain FOLDER``.

Each JSON file of the folder is a set: a list of plans, or a plan a line, in any format that `formats.read` can tell. A
file without a valid plan, such as a list of tools, is named and left out.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from planexec_lab.formats import Measured, measure, read, table
from planexec_lite.plan import Plan, PlanError


def measured(folder: Path) -> tuple[dict[str, Measured], list[str]]:
    """Return the measurements of each file in `folder` by its path, and the files without a valid plan.

    Raises `NotADirectoryError` if the folder does not exist.
    """
    if not folder.is_dir():
        raise NotADirectoryError(f"{folder} is no folder; name one that holds sets of plans as .json or .jsonl files")
    by_file, without = {}, []
    for path in sorted(path for path in folder.rglob("*") if path.suffix in (".json", ".jsonl")):
        name = path.relative_to(folder).as_posix()
        try:
            by_file[name] = measure(map(_plan, _rows(path.read_text("utf-8"))))
        except ValueError:
            without.append(name)
    return by_file, without


def main(arguments: Sequence[str]) -> int:
    """Print the table for the folder that is the only argument; return 0, or 2 for a wrong call."""
    if len(arguments) != 1:
        print("usage: python -m planexec_lab.formats.gain FOLDER", file=sys.stderr)
        return 2
    try:
        by_file, without = measured(Path(arguments[0]))
    except NotADirectoryError as error:
        print(error, file=sys.stderr)
        return 2
    print(table(by_file.items()))
    for name in without:
        print(f"{name}: no valid plan")
    return 0


def _rows(text: str) -> list[Any]:
    if text.lstrip().startswith("["):
        rows: list[Any] = json.loads(text)
        return rows
    return [json.loads(line) for line in text.splitlines() if line.strip()]


def _plan(row: Any) -> Plan | None:
    try:
        return read(row)
    except PlanError:
        return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
