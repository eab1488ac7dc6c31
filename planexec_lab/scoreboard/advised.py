"""The advice: every row of the sources' tables on when to plan (`advice.yaml`), with the case that tests it."""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import yaml

from planexec_lab.scoreboard import advice_cases
from planexec_lab.scoreboard.comparing import Case


class Advice(NamedTuple):
    """A row of a source's table: whether it recommends planning, and the name of the case in `advice_cases` that tests it."""

    source: str
    plan: bool
    words: str
    case: str


class Verdict(NamedTuple):
    """An advice with what came of it."""

    advice: Advice
    case: Case

    @property
    def holds(self) -> bool:
        """Whether the case confirms the advice; where it says not to plan, a tie is enough."""
        return self.advice.plan == (self.case.verdict == "planning")


ADVICE = tuple(Advice(**row) for row in yaml.safe_load(Path(__file__).with_name("advice.yaml").read_text("utf-8")))
"""All rows of these tables."""


def tried(advice: Iterable[Advice] = ADVICE) -> tuple[Verdict, ...]:
    """Carry out every case, once each, on the scripted model and a virtual clock, and return a verdict on each advice."""
    advice = tuple(advice)
    carried_out = {case: getattr(advice_cases, case)() for case in dict.fromkeys(one.case for one in advice)}
    return tuple(Verdict(one, carried_out[one.case]) for one in advice)
