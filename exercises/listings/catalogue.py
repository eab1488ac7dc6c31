"""The listings, their defects, and the programs that show them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).parent
NAMES = ("tickets", "release", "report")
KINDS = {
    "blind planner": "the planner is not told what there is to plan with",
    "failure not told": "a run that failed looks like one that worked",
    "ignored dependency": "a step runs before what it depends on has worked",
    "lost result": "what was done is not handed out",
    "no bound": "a loop may go on for ever",
    "old plan": "the loop goes on over a plan that was replaced",
    "repeated work": "what is done is done again",
    "rollback of nothing": "what was never done is taken back",
    "skipped step": "a step that is not ready yet is left out for good",
    "template": "the result of a step is searched for references",
    "text for a value": "a text is handed on where a value is meant",
    "unapproved": "something else is carried out than was approved",
    "unknown tool": "a tool that does not exist counts as success",
    "verdict in words": "whether something worked depends on the words of a text",
    "wrong answer": "the answer is that of another step",
    "wrong form": "one form of an answer is asked for, and another is read",
}
"""What may be wrong in a listing, and what that means. Not every kind is in one."""


@dataclass(frozen=True)
class Defect:
    """One defect of a listing.

    Args:
        kind: one of `KINDS`.
        lines: the numbers of the lines at which it may be named, the best one first.
        program: fails because of it, with an `AssertionError` that says what was seen.
        mend: texts of the listing, and what stands there when this defect alone is mended.
    """

    kind: str
    lines: tuple[int, ...]
    program: str
    mend: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Listing:
    """A listing and its defects; `also` are lines and kinds that name a defect less well, and may be there."""

    name: str
    source: str
    defects: tuple[Defect, ...]
    also: frozenset[tuple[int, str]]

    @property
    def accepted(self) -> frozenset[tuple[int, str]]:
        """Every line with a kind that names a defect."""
        return self.also | {(line, defect.kind) for defect in self.defects for line in defect.lines}

    def mended(self, *defects: Defect) -> str:
        """The listing without these defects."""
        source = self.source
        for old, new in (pair for defect in defects for pair in defect.mend):
            if source.count(old) != 1:
                raise ValueError(f"{self.name}: this text is there {source.count(old)} times: {old!r}")
            source = source.replace(old, new)
        return source


@cache
def listing(name: str) -> Listing:
    """The listing of that name, one of `NAMES`."""
    stored = yaml.safe_load((HERE / f"{name}.yaml").read_text(encoding="utf-8"))
    setup = stored.get("setup", "")
    defects = tuple(
        Defect(one["kind"], tuple(one["lines"]), setup + one["program"], tuple((old, new) for old, new in one["mend"]))
        for one in stored["defects"]
    )
    also = frozenset((line, kind) for line, kind in stored["also"])
    return Listing(name, (HERE / f"{name}.py").read_text(encoding="utf-8"), defects, also)


def evidence(source: str, defect: Defect) -> str:
    """What the program of a defect sees go wrong in a listing; empty when nothing does."""
    namespace: dict[str, Any] = {"__name__": "listing"}
    exec(compile(source, "listing", "exec", dont_inherit=True), namespace)
    try:
        exec(compile(defect.program, f"shows {defect.kind}", "exec", dont_inherit=True), namespace)
    except AssertionError as problem:
        return str(problem)
    return ""
