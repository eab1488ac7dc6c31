"""Whole listings to review: planner-executors as articles print them, each with several defects.

Each listing is a file, such as `tickets.py`. Its defects are in `defects.yaml`: for each defect a kind,
the lines that contain it, a program that fails because of it, and a fix. Only defects that make a program fail count.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

__all__ = ["KINDS", "NAMES", "Defect", "Listing", "evidence", "kinds", "listing", "show"]

HERE = Path(__file__).parent
NAMES = ("tickets", "release", "report")
KINDS = {
    "blind planner": "the planner does not see the available tools",
    "failure not told": "a failed run looks like a successful run",
    "ignored dependency": "a step runs before its dependencies have succeeded",
    "lost result": "the result of a done step is not returned",
    "no bound": "a loop might never end",
    "old plan": "the loop continues with a plan that was replaced",
    "repeated work": "a done step runs again",
    "rollback of nothing": "an undo runs for a step that was never done",
    "skipped step": "a step that is not ready yet never runs",
    "template": "references are filled in inside a step's result",
    "text for a value": "the next step gets text instead of a value",
    "unapproved": "the executed steps differ from the approved plan",
    "unknown tool": "a tool that does not exist counts as success",
    "verdict in words": "success depends on the wording of a text",
    "wrong answer": "the answer is the result of another step",
    "wrong form": "the prompt and the code use different formats",
}
"""The kinds of defects and their meanings. Not every kind occurs in a listing."""


@dataclass(frozen=True)
class Defect:
    """One defect of a listing.

    Args:
        kind: one of `KINDS`.
        lines: the line numbers that a learner can give for the defect, the best line first.
        program: source that fails because of the defect, with an `AssertionError` that describes the effect.
        fix: pairs of a text of the listing and its replacement; together they fix this defect alone.
    """

    kind: str
    lines: tuple[int, ...]
    program: str
    fix: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Listing:
    """A listing and its defects. `also` contains further lines and kinds that a check accepts but does not require."""

    name: str
    source: str
    defects: tuple[Defect, ...]
    also: frozenset[tuple[int, str]]

    @property
    def accepted(self) -> frozenset[tuple[int, str]]:
        """All accepted pairs of a line number and a kind."""
        return self.also | {(line, defect.kind) for defect in self.defects for line in defect.lines}

    def fixed(self, *defects: Defect) -> str:
        """Return the source without these defects. Raises `ValueError` if a text to replace is not there exactly once."""
        source = self.source
        for old, new in (pair for defect in defects for pair in defect.fix):
            if source.count(old) != 1:
                raise ValueError(f"{self.name}: the text {old!r} occurs {source.count(old)} times; it must occur once")
            source = source.replace(old, new)
        return source


@cache
def listing(name: str) -> Listing:
    """Return the listing with this name, one of `NAMES`."""
    stored = yaml.safe_load((HERE / "defects.yaml").read_text(encoding="utf-8"))[name]
    setup = stored.get("setup", "")
    defects = tuple(
        Defect(
            raw["kind"],
            tuple(raw["lines"]),
            setup + raw["program"],
            tuple((old, new) for old, new in raw["fix"]),
        )
        for raw in stored["defects"]
    )
    also = frozenset((line, kind) for line, kind in stored["also"])
    return Listing(name, (HERE / f"{name}.py").read_text(encoding="utf-8"), defects, also)


def evidence(source: str, defect: Defect) -> str:
    """Run the program of a defect on a source. Returns the message of its `AssertionError`, or "" if it passes."""
    namespace: dict[str, Any] = {"__name__": "listing"}
    exec(compile(source, "listing", "exec", dont_inherit=True), namespace)
    try:
        exec(
            compile(defect.program, f"shows {defect.kind}", "exec", dont_inherit=True),
            namespace,
        )
    except AssertionError as problem:
        return str(problem)
    return ""


def show(name: str) -> None:
    """Print a listing, one of `NAMES`, with line numbers."""
    if name not in NAMES:
        print(f"There is no listing {name!r}; there are {', '.join(NAMES)}.")
        return
    for number, line in enumerate(listing(name).source.splitlines(), 1):
        print(f"{number:>2}  {line}".rstrip())


def kinds() -> None:
    """Print each kind of defect and its meaning."""
    for kind, meaning in KINDS.items():
        print(f"{kind:<21}{meaning}")
