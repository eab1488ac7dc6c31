"""What was measured over published sets of plans, with their sources; the plans themselves are not part of the kit.

`python -m planexec_lite.formats.gain FOLDER` measures a folder of such files again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from planexec_lite.formats.parallelism import Measured


@dataclass(frozen=True, slots=True)
class Published:
    """A set of plans and what was measured over it.

    Args:
        name: what it is called.
        source: where it is described.
        format: which of `formats.names` reads it.
        of: how many plans the whole set has, rounded where its source rounds; more than `measured.plans`: a sample.
        note: what the plans are.
        measured: the counts.
    """

    name: str
    source: str
    format: str
    of: int
    note: str
    measured: Measured

    @property
    def whole(self) -> bool:
        """Whether the whole set was measured, and not a sample."""
        return self.measured.plans == self.of


_NESTFUL = "Basu et al. (2024), https://arxiv.org/abs/2409.03797v1"

PUBLISHED = (
    Published(
        "NESTFUL, web services", _NESTFUL, "nestful", 85, "calls of web services that can be carried out",
        Measured(85, 85, 85, 2.0, 2.74, 7, 34, 1.48, 3.5),
    ),
    Published(
        "NESTFUL, Glaive", _NESTFUL, "nestful", 169, "written by a model, picked by people",
        Measured(169, 169, 166, 2.0, 2.76, 4, 91, 1.36, 2.0),
    ),
    Published(
        "NESTFUL, SGD", _NESTFUL, "nestful", 46, "written by a model, picked by people",
        Measured(46, 46, 44, 2.0, 2.11, 3, 41, 1.03, 1.5),
    ),
    Published(
        "WorFBench", "Qiao et al. (2024), https://arxiv.org/abs/2410.07869", "worfbench", 20_800,
        "a sample of 12 workflows in words, all from its part Seal-Tools",
        Measured(12, 12, 12, 3.5, 3.67, 6, 3, 2.79, 6.0),
    ),
    Published(
        "TaskBench, small models", "Wu et al. (2024), https://arxiv.org/abs/2405.19119", "taskbench", 1971,
        "a sample of 15 plans that models of 7 and 13 billion parameters wrote",
        Measured(15, 15, 7, 3.0, 2.71, 5, 7, 1.0, 1.0),
    ),
)  # fmt: skip
"""The sets that were measured, in November 2026.

A dependency is what a plan's references and edges name. A set whose plans copy values out of earlier results, instead of
referring to them, can't be measured so: a missing dependency looks like a gain.
"""


def table(rows: Iterable[tuple[str, Measured]]) -> str:
    """Return what was measured as lines of aligned text, a set a line.

    >>> print(table([("mine", Measured(4, 4, 2, 3.0, 3.0, 4, 1, 1.5, 2.0))]))
    set   plans  fit   steps  chains  gain  at most
    mine      4  50 %    3.0    50 %  1.50     2.00
    """
    head = ["set", "plans", "fit", "steps", "chains", "gain", "at most"]
    cells = [head] + [
        [name, f"{of.plans:,}", f"{of.fit / of.plans:.0%}".replace("%", " %"), f"{of.mean_steps:.1f}",
         f"{of.chains / of.fit:.0%}".replace("%", " %"), f"{of.mean_gain:.2f}", f"{of.most_gain:.2f}"]
        for name, of in rows
    ]  # fmt: skip
    wide = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [
        [row[0].ljust(wide[0]), *(cell.rjust(room) for cell, room in zip(row[1:], wide[1:], strict=True))]
        for row in cells
    ]
    return "\n".join("  ".join(line) for line in lines)
