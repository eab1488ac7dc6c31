"""Count the published sets of plans again: ``python -m planexec_lab.formats.recount FOLDER [ROWS.csv]``.

FOLDER holds copies of the publications; README.md in this folder lists them and the rules of each count. The totals are printed
and compared with `PUBLISHED`; with a second argument the figures of each plan are written there, one plan on each line.
`figures.csv` in this folder is such a file; the plans are not part of the kit.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from planexec_lab.formats import PUBLISHED, nestful_tools, parallelism, read, table, taskbench_tools
from planexec_lab.formats.parallelism import Measured, Parallelism, counted
from planexec_lite.plan import PlanError


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
    name: str  # begins with its format
    plans: str  # the file, below the folder
    tools: str = ""


_PARTS = (
    *(
        _Part(f"NESTFUL, {set}", f"nestful/{name}", f"NESTFUL/data/{file}-data.json", f"NESTFUL/data/{file}-spec.json")
        for set, name, file in (
            ("web services", "executable", "executable/executable"),
            ("Glaive", "glaive", "non-executable/non-executable-glaive"),
            ("SGD", "sgd", "non-executable/non-executable-sgd"),
        )
    ),
    *(
        _Part("WorFBench", f"worfbench/{name}", f"WorFBench/gold_traj/{name}/graph_eval.json")
        for name in "alfworld intercodesql lumos os seal_tools toolalpaca toolbench webshop wikihow".split()
    ),
    *(
        _Part(
            "TaskBench, small models",
            f"taskbench/{domain}/{model}",
            f"GNN4TaskPlan/prediction/{domain}/{model}/direct.json",
            f"GNN4TaskPlan/data/{domain}/tool_desc.json",
        )
        for domain in ("huggingface", "multimedia")
        for model in ("CodeLlama-13b", "mistral-7b")
    ),
)
_TOOLS = {"nestful": nestful_tools, "taskbench": taskbench_tools}


def rows(folder: Path) -> tuple[list[Row], list[str]]:
    """Return the figures of every plan that is found below `folder`, and the files that are not there."""
    figures: list[Row] = []
    absent = []
    for part in _PARTS:
        files = [file for file in (part.plans, part.tools) if file]
        if missing := [file for file in files if not (folder / file).is_file()]:
            absent += missing
        else:
            figures += _rows(part.name, *((folder / file).read_text("utf-8") for file in files))
    return figures, absent


def _rows(part: str, plans: str, tools: str = "") -> Iterator[Row]:
    format = part.partition("/")[0]
    toolbox = _TOOLS[format](tools) if tools else None
    items = json.loads(plans) if plans.lstrip().startswith("[") else map(json.loads, plans.splitlines())
    for place, item in enumerate(items, 1):
        id = str(item.get("id") or place).rsplit("_", 1)[-1]  # "lumos_20047" is in the part lumos
        try:
            plan = read(item["conversations"][-1]["content"] if "conversations" in item else item, format)
        except PlanError:
            yield Row(part, id, None, None, None, None, "unread", "")
            continue
        without = {problem.code for problem in plan.problems()}
        besides = {problem.code for problem in plan.problems(toolbox)} - without
        depth: int | None = None
        width: int | None = None
        with suppress(ValueError):
            _, depth, width = parallelism(plan)
        edges = sum(len(step.depends_on) for step in plan.steps)
        yield Row(part, id, len(plan.steps), edges, depth, width, _codes(without), _codes(besides))


def _codes(codes: Iterable[str]) -> str:
    return " ".join(sorted(codes))


def totals(figures: Iterable[Row]) -> dict[str, tuple[Measured, int]]:
    """Return for each set what was measured over it, and how many of its plans are valid with the published tools too."""
    names = {part.name: part.set for part in _PARTS}
    sets: dict[str, list[Row]] = {}
    for row in figures:
        sets.setdefault(names[row.part], []).append(row)
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
        rows = [*csv.reader(file)][1:]
    return [Row(part, id, *map(_number, counts), problems, fit) for part, id, *counts, problems, fit in rows]  # type: ignore[call-arg, arg-type]


def _number(cell: str) -> int | None:
    return int(cell) if cell else None


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
    if len(arguments) == 2:
        write(figures, Path(arguments[1]))
    published = {row.name: (row.measured, row.valid_with_tools) for row in PUBLISHED}
    differing = [name for name in counts if counts[name] != published[name]]
    for name in differing:
        print(f"{name}: counted {counts[name]}; PUBLISHED has {published[name]}")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
