"""Count the published sets of plans again: ``python -m planexec_lab.formats.recount FOLDER [ROWS.csv]``.

FOLDER holds copies of the publications; README.md in this folder lists them and the rules of each count. The totals are printed
and compared with `PUBLISHED`; with a second argument the figures of each plan are written there, one plan on each line.
`figures.csv` in this folder is such a file; the plans are not part of the kit.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from planexec_lab.formats import PUBLISHED, Published, nestful_tools, parallelism, read, table, taskbench_tools
from planexec_lab.formats.parallelism import Measured, Parallelism, counted
from planexec_lite.plan import PlanError
from planexec_lite.tools import Toolbox


class Row(NamedTuple):
    """The figures of one plan.

    Args:
        part: which part of which set, such as "worfbench/lumos".
        id: what the part calls the plan, or its place, counted from 1.
        steps: how many; None for a plan that can't be read.
        edges: how many dependencies.
        depth: how many waves; None where it has a cycle, or steps share an id.
        width: how many steps the largest wave has.
        problems: the codes of what `Plan.problems` finds without tools, or "unread".
        with_tools: the codes of what it finds with the published tools besides.
    """

    part: str
    id: str
    steps: int | None
    edges: int | None
    depth: int | None
    width: int | None
    problems: str
    with_tools: str


class _Part(NamedTuple):
    set: str  # its name in `PUBLISHED`
    name: str
    format: str
    plans: str  # the file, below the folder
    take: Callable[[Any], Any]  # from an item of the file to what the reader reads
    tools: str | None = None
    toolbox: Callable[[str], Toolbox] = nestful_tools


def _nestful(set: str, name: str, file: str) -> _Part:
    plans, tools = f"NESTFUL/data/{file}-data.json", f"NESTFUL/data/{file}-spec.json"
    return _Part(f"NESTFUL, {set}", f"nestful/{name}", "nestful", plans, _same, tools)


def _worfbench(name: str) -> _Part:
    plans = f"WorFBench/gold_traj/{name}/graph_eval.json"
    return _Part("WorFBench", f"worfbench/{name}", "worfbench", plans, _last_said)


def _taskbench(name: str) -> _Part:
    plans = f"GNN4TaskPlan/prediction/{name}/direct.json"
    tools = f"GNN4TaskPlan/data/{name.split('/')[0]}/tool_desc.json"
    set = "TaskBench, small models"
    return _Part(set, f"taskbench/{name}", "taskbench", plans, _same, tools, taskbench_tools)


def _same(item: Any) -> Any:
    return item


def _last_said(item: Any) -> Any:
    return item["conversations"][-1]["content"]


_PARTS = (
    _nestful("web services", "executable", "executable/executable"),
    _nestful("Glaive", "glaive", "non-executable/non-executable-glaive"),
    _nestful("SGD", "sgd", "non-executable/non-executable-sgd"),
    *map(_worfbench, "alfworld intercodesql lumos os seal_tools toolalpaca toolbench webshop wikihow".split()),
    *map(_taskbench, ("huggingface/CodeLlama-13b", "huggingface/mistral-7b")),
    *map(_taskbench, ("multimedia/CodeLlama-13b", "multimedia/mistral-7b")),
)
_SETS = {part.name: part.set for part in _PARTS}


def rows(folder: Path) -> tuple[list[Row], list[str]]:
    """Return the figures of every plan that is found below `folder`, and the files that are not there."""
    figures: list[Row] = []
    absent = []
    for part in _PARTS:
        files = [folder / file for file in (part.plans, part.tools) if file is not None]
        if missing := [file.relative_to(folder).as_posix() for file in files if not file.is_file()]:
            absent += missing
        else:
            figures += _rows(part, *(file.read_text("utf-8") for file in files))
    return figures, absent


def _rows(part: _Part, plans: str, tools: str | None = None) -> Iterator[Row]:
    toolbox = part.toolbox(tools) if tools is not None else None
    for place, item in enumerate(_items(plans), 1):
        id = str(item.get("id") or place).rsplit("_", 1)[-1]  # "lumos_20047" is in the part lumos
        try:
            plan = read(part.take(item), part.format)
        except PlanError:
            yield Row(part.name, id, None, None, None, None, "unread", "")
            continue
        without = {problem.code for problem in plan.problems()}
        besides = {problem.code for problem in plan.problems(toolbox)} - without
        edges = sum(len(step.depends_on) for step in plan.steps)
        shape = _shape(plan)
        depth, width = (shape.depth, shape.width) if shape else (None, None)
        yield Row(part.name, id, len(plan.steps), edges, depth, width, _codes(without), _codes(besides))


def _items(text: str) -> list[Any]:
    """The items of a JSON list or of a JSON lines file."""
    listed: list[Any] = json.loads(text) if text.lstrip().startswith("[") else list(map(json.loads, text.splitlines()))
    return listed


def _shape(plan: Any) -> Parallelism | None:
    try:
        return parallelism(plan)
    except ValueError:
        return None


def _codes(codes: Iterable[str]) -> str:
    return " ".join(sorted(codes))


def totals(figures: Iterable[Row]) -> dict[str, tuple[Measured, int]]:
    """Return for each set what was measured over it, and how many of its plans are valid with the published tools too."""
    sets: dict[str, list[Row]] = {}
    for row in figures:
        sets.setdefault(_SETS[row.part], []).append(row)
    return {name: (_measured(of), sum(not (row.problems or row.with_tools) for row in of)) for name, of in sets.items()}


def _measured(of: Sequence[Row]) -> Measured:
    there = sum(row.steps is not None for row in of)
    valid = [Parallelism(row.steps or 0, row.depth or 0, row.width or 0) for row in of if not row.problems]
    return counted(len(of), there, valid)


def write(figures: Iterable[Row], path: Path) -> None:
    """Write the figures as CSV, a plan a line."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Row._fields)
        writer.writerows(figures)


def recorded(path: Path | None = None) -> list[Row]:
    """Read such a file; by default the one that is part of the kit."""
    with (path or Path(__file__).with_name("figures.csv")).open(encoding="utf-8", newline="") as file:
        lines = csv.reader(file)
        next(lines)
        return [_row(*line) for line in lines]


def _row(part: str, id: str, steps: str, edges: str, depth: str, width: str, problems: str, with_tools: str) -> Row:
    return Row(part, id, _number(steps), _number(edges), _number(depth), _number(width), problems, with_tools)


def _number(cell: str) -> int | None:
    return int(cell) if cell else None


def differences(counts: dict[str, tuple[Measured, int]], published: Iterable[Published] = PUBLISHED) -> list[str]:
    """Say in which sets the totals are others than those that were published with the kit."""
    return [
        f"{row.name}: counted {counts[row.name][0]}, fit with tools {counts[row.name][1]}; PUBLISHED has others"
        for row in published
        if row.name in counts and counts[row.name] != (row.measured, row.valid_with_tools)
    ]


def main(arguments: Sequence[str]) -> int:
    """Print the totals; return 0, 1 where they differ from `PUBLISHED`, or 2 for a wrong call."""
    if len(arguments) not in (1, 2) or not Path(arguments[0]).is_dir():
        print("usage: python -m planexec_lab.formats.recount FOLDER [ROWS.csv]", file=sys.stderr)
        return 2
    figures, absent = rows(Path(arguments[0]))
    counts = totals(figures)
    if counts:
        print(table((name, measured) for name, (measured, _) in counts.items()))
    for name, (measured, valid) in counts.items():
        print(f"{name}: {valid} of {measured.plans} fit with the published tools too")
    for file in absent:
        print(f"{file}: not there, and not counted")
    for difference in (differing := differences(counts)):
        print(difference)
    if len(arguments) == 2:
        write(figures, Path(arguments[1]))
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
