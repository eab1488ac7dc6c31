"""Measurements over published sets of plans, with their sources; the plans are not part of the kit.

`python .ci/recount.py FOLDER` repeats the counts from copies of the publications; README.md in this folder
lists them and the rules.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from planexec_lab.formats.parallelism import Measured


@dataclass(frozen=True, slots=True)
class Published:
    """A set of plans with the counts over all of them.

    Args:
        name: its name.
        source: its publication.
        format: the format of `formats.names` that reads it.
        note: the kind of plans.
        measured: the counts; a plan is valid if `Plan.problems` is empty without a toolbox.
        valid_with_tools: the number of plans that are also valid with the published list of tools, if there is a list.
    """

    name: str
    source: str
    format: str
    note: str
    measured: Measured
    valid_with_tools: int


_NESTFUL = "Basu et al. (2024), https://arxiv.org/abs/2409.03797v1"

PUBLISHED = (
    Published(
        "NESTFUL, web services", _NESTFUL, "nestful", "calls of web services that can be carried out",
        Measured(85, 85, 85, 2.0, 2.74, 7, 46, 1.34, 3.5), 61,
    ),
    Published(
        "NESTFUL, Glaive", _NESTFUL, "nestful", "written by a model, picked by people",
        Measured(169, 169, 165, 2.0, 2.78, 4, 91, 1.35, 2.0), 126,
    ),
    Published(
        "NESTFUL, SGD", _NESTFUL, "nestful", "written by a model, picked by people",
        Measured(46, 46, 44, 2.0, 2.11, 3, 41, 1.03, 1.5), 32,
    ),
    Published(
        "WorFBench", "Qiao et al. (2024), https://arxiv.org/abs/2410.07869", "worfbench",
        "workflows in words: the nine parts that models are tested with",
        Measured(2146, 2086, 2086, 3.0, 3.72, 13, 1584, 1.35, 9.0), 2086,
    ),
    Published(
        "TaskBench, small models", "Wu et al. (2024), https://arxiv.org/abs/2405.19119", "taskbench",
        "written by models of 7 and 13 billion parameters",
        Measured(1971, 1902, 1528, 3.0, 3.61, 20, 1423, 1.03, 2.67), 1062,
    ),
)  # fmt: skip
"""The sets that were measured, in November 2026.

A dependency is what a plan's references and edges name. A set whose plans copy values out of earlier results, instead of
referring to them, can't be measured so: a missing dependency looks like a gain.
"""


def table(rows: Iterable[tuple[str, Measured]]) -> str:
    """Return what was measured as lines of aligned text, a set a line.

    >>> print(table([("mine", Measured(4, 4, 2, 3.0, 3.0, 4, 1, 1.5, 2.0))]))
    set   plans  valid  steps  chains  gain  at most
    mine      4   50 %    3.0    50 %  1.50     2.00
    """
    listed = list(rows)
    width = max(len(name) for name, _ in (*listed, ("set", None)))
    lines = [f"{'set':{width}}  plans  valid  steps  chains  gain  at most"]
    for name, of in listed:
        valid, chains = 100 * of.valid / of.plans, 100 * of.chains / of.valid
        counts = f"{of.plans:5,}  {valid:3.0f} %  {of.mean_steps:5.1f}  {chains:4.0f} %"
        lines.append(f"{name:{width}}  {counts}  {of.mean_gain:4.2f}  {of.most_gain:7.2f}")
    return "\n".join(lines)
