"""Count the published sets of plans again: ``python .ci/recount.py FOLDER``.

FOLDER holds copies of the publications; planexec_lab/formats/README.md lists them and the rules of each count. The totals are
printed and compared with `PUBLISHED`. The plans are not part of the kit.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from planexec_lab.formats import PUBLISHED, measure, nestful_tools, read, table, taskbench_tools
from planexec_lab.formats.parallelism import Measured
from planexec_lite.plan import Plan, PlanError
from planexec_lite.tools import Toolbox

_SETS = {  # the format of each set of `PUBLISHED`, and its files below the folder
    "NESTFUL, web services": ("nestful", "NESTFUL/data/executable/executable-data.json"),
    "NESTFUL, Glaive": ("nestful", "NESTFUL/data/non-executable/*-glaive-data.json"),
    "NESTFUL, SGD": ("nestful", "NESTFUL/data/non-executable/*-sgd-data.json"),
    "WorFBench": ("worfbench", "WorFBench/gold_traj/*/graph_eval.json"),
    "TaskBench, small models": ("taskbench", "GNN4TaskPlan/prediction/*/*/direct.json"),
}


def counts(folder: Path) -> dict[str, tuple[Measured, int]]:
    """Return for each set below `folder` what was measured, and how many of its plans are valid with the published tools too."""
    counted = {}
    for name, (format, pattern) in _SETS.items():
        plans, valid = list[Plan | None](), 0
        for path in sorted(folder.glob(pattern)):
            toolbox = _tools(folder, path, format)
            text = path.read_text("utf-8")
            for item in json.loads(text) if text.lstrip().startswith("[") else map(json.loads, text.splitlines()):
                try:
                    plan = read(item["conversations"][-1]["content"] if "conversations" in item else item, format)
                except PlanError:
                    plan = None
                plans.append(plan)
                valid += plan is not None and not plan.problems(toolbox)
        if plans:
            counted[name] = measure(plans), valid
    return counted


def _tools(folder: Path, plans: Path, format: str) -> Toolbox | None:
    """The published tools of a file of plans, if there is a list of them."""
    if format == "nestful":
        return nestful_tools(plans.with_name(plans.name.replace("-data", "-spec")).read_text("utf-8"))
    listed = folder / "GNN4TaskPlan" / "data" / plans.parts[-3] / "tool_desc.json"
    return taskbench_tools(listed.read_text("utf-8")) if format == "taskbench" else None


def main(arguments: Sequence[str]) -> int:
    """Print the totals; return 0, 1 where they differ from `PUBLISHED`, or 2 for a wrong call."""
    if len(arguments) != 1 or not Path(arguments[0]).is_dir():
        print("usage: python .ci/recount.py FOLDER", file=sys.stderr)
        return 2
    sets = counts(Path(arguments[0]))
    print(table((name, measured) for name, (measured, _) in sets.items()))
    for name in _SETS.keys() - sets.keys():
        print(f"{name}: not there, and not counted")
    published = {row.name: (row.measured, row.valid_with_tools) for row in PUBLISHED}
    differing = [name for name in sets if sets[name] != published[name]]
    for name in differing:
        print(f"{name}: counted {sets[name]}; PUBLISHED has {published[name]}")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
