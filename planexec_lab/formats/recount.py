"""Count the published sets of plans again: ``python -m planexec_lab.formats.recount FOLDER``.

FOLDER holds copies of the publications; README.md in this folder lists them and the rules of each count. The totals are printed
and compared with `PUBLISHED`. The plans are not part of the kit.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from planexec_lab.formats import PUBLISHED, measure, nestful_tools, read, table, taskbench_tools
from planexec_lab.formats.parallelism import Measured
from planexec_lite.plan import Plan, PlanError


class _Part(NamedTuple):
    set: str  # its name in `PUBLISHED`
    format: str
    plans: str  # the file, below the folder
    tools: str = ""


_PARTS = (
    *(
        _Part(f"NESTFUL, {name}", "nestful", f"NESTFUL/data/{file}-data.json", f"NESTFUL/data/{file}-spec.json")
        for name, file in {
            "web services": "executable/executable",
            "Glaive": "non-executable/non-executable-glaive",
            "SGD": "non-executable/non-executable-sgd",
        }.items()
    ),
    *(
        _Part("WorFBench", "worfbench", f"WorFBench/gold_traj/{name}/graph_eval.json")
        for name in "alfworld intercodesql lumos os seal_tools toolalpaca toolbench webshop wikihow".split()
    ),
    *(
        _Part(
            "TaskBench, small models",
            "taskbench",
            f"GNN4TaskPlan/prediction/{domain}/{model}/direct.json",
            f"GNN4TaskPlan/data/{domain}/tool_desc.json",
        )
        for domain in ("huggingface", "multimedia")
        for model in ("CodeLlama-13b", "mistral-7b")
    ),
)


def counts(folder: Path) -> tuple[dict[str, tuple[Measured, int]], list[str]]:
    """Return for each set below `folder` what was measured, and how many of its plans are valid with the published tools too.

    Also return the files that are not there.
    """
    plans, fit, absent = dict[str, list[Plan | None]](), Counter[str](), list[str]()
    for part in _PARTS:
        files = [file for file in (part.plans, part.tools) if file]
        if missing := [file for file in files if not (folder / file).is_file()]:
            absent += missing
            continue
        text, *tools = ((folder / file).read_text("utf-8") for file in files)
        toolbox = (nestful_tools if part.format == "nestful" else taskbench_tools)(tools[0]) if tools else None
        for item in json.loads(text) if text.lstrip().startswith("[") else map(json.loads, text.splitlines()):
            try:
                plan = read(item["conversations"][-1]["content"] if "conversations" in item else item, part.format)
            except PlanError:
                plan = None
            plans.setdefault(part.set, []).append(plan)
            fit[part.set] += plan is not None and not plan.problems(toolbox)
    return {name: (measure(of), fit[name]) for name, of in plans.items()}, absent


def main(arguments: Sequence[str]) -> int:
    """Print the totals; return 0, 1 where they differ from `PUBLISHED`, or 2 for a wrong call."""
    if len(arguments) != 1 or not Path(arguments[0]).is_dir():
        print("usage: python -m planexec_lab.formats.recount FOLDER", file=sys.stderr)
        return 2
    sets, absent = counts(Path(arguments[0]))
    print(table((name, measured) for name, (measured, _) in sets.items()))
    for file in absent:
        print(f"{file}: not there, and not counted")
    published = {row.name: (row.measured, row.valid_with_tools) for row in PUBLISHED}
    differing = [name for name in sets if sets[name] != published[name]]
    for name in differing:
        print(f"{name}: counted {sets[name]}; PUBLISHED has {published[name]}")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
